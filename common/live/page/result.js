/* result.js: what a run has said: the verdict, the hazards with their lines, the report page. */

const spaced = number => number.toLocaleString("en").replaceAll(",", "\u202F");

/* 0 of a run that was not verified, and under the schedules that have none. */
const numberOfCycles = answer => Number(/yes \| +(\d+)/.exec(answer.out)?.[1] || 0);

/* " 7 775 simulated cycles." */
function cyclesOf(answer) {
  const cycles = numberOfCycles(answer);
  return cycles ? ` ${spaced(cycles)} simulated cycles.` : "";
}

function showResult(answer) {
  const {mood, title, text} = verdictOf(answer);
  const hazards = hazardsOf(answer.errors);
  byId("verdict").className = mood;
  byId("verdict").replaceChildren(element("b", {}, title), " ", text, cyclesOf(answer));
  byId("hazards").replaceChildren(...hazards.slice(0, 4).map(hazardCard));
  byId("text").querySelector("pre").textContent = `${answer.out}\n${answer.errors}`;
  places = hazards.slice(0, 1).flatMap(placesOf);
  markPlaces();
  const jump = byId("jump");
  jump.hidden = false;
  jump.className = mood;
  labelJump(title);
  showReport(answer.page);
}

/* The report page of --report, in a frame. It is loaded once where its script can show another run's
 * data; else anew for every run. */
const DATA = /<script type="application\/json" id="data">\s*([\s\S]*?)<\/script>/;

function showReport(page) {
  const frame = byId("report"), inside = frame.contentWindow, data = DATA.exec(page);
  frame.hidden = !page;
  if (!page) return;
  page = page.replace(/"command": *"[^"]*"/, () => `"command":${JSON.stringify(ofClone())}`);
  const root = frame.contentDocument?.getElementById("page");
  if (inside?.renderReport && root && data) {
    inside.renderReport(JSON.parse(data[1]), root);
  } else {
    // A frame has no address of its own to keep the view in.
    frame.srcdoc = page.replace("<head>",
      "<head><script>history.replaceState = () => {};<\/script>");
    frame.onload = fitFrame;
  }
  fitFrame();
}

function fitFrame() {
  const frame = byId("report"), content = frame.contentDocument?.documentElement;
  if (!content) return;
  const bottom = () => Math.ceil(
    frame.contentDocument.body.getBoundingClientRect().bottom + frame.contentWindow.scrollY);
  const fit = () => {
    frame.style.height = `${Math.max(400, bottom() + 24)}px`;
  };
  fit();
  if (frame.watched === content) return;
  frame.watched = content;
  new frame.contentWindow.ResizeObserver(fit).observe(frame.contentDocument.body);
}
