/* hazards.js: what the simulator has reported of a broken kernel, and where it lies in the
 * timelines. */

const SHOWN_HAZARDS = 4;

/* The accesses whose time is known, in the order of time. */
const marksOf = hazard =>
  hazard.sides.filter(side => side.time >= 0).sort((a, b) => a.time - b.time);

/* Zooms to the accesses, with their surroundings. */
function showHazard(step, hazard) {
  const times = marksOf(hazard).map(side => side.time);
  if (!times.length) return;
  const first = times[0], last = times.at(-1);
  const margin = Math.max(0.6 * (last - first), 2 * (step.timeline.k_tile_period || 0), 200);
  step.box.checked = step.visible = true;
  relayOut();
  show(first - margin, last + margin);
}

/* A line for each access through the step's lanes, and between the two what nothing orders. */
function drawHazards(pen, heading) {
  const {step} = heading, right = view.width - RIGHT;
  let y = heading.y + HEADING;
  for (const hazard of step.hazards.slice(0, SHOWN_HAZARDS)) {
    const marks = marksOf(hazard), top = y;
    pen.fillStyle = view.colors.bad;
    if (marks.length === 2) {
      const left = Math.max(LABELS, placeOf(marks[0].time)),
            end = Math.min(right, placeOf(marks[1].time));
      pen.globalAlpha = 0.1;
      if (end > left) pen.fillRect(left, top, end - left, heading.bottom - top);
      pen.globalAlpha = 1;
    }
    for (const side of marks) {
      const x = placeOf(side.time), line = y + MARKS / 2;
      y += MARKS;
      if (x < LABELS || x > right) continue;
      pen.fillStyle = view.colors.bad;
      pen.fillRect(x - 0.75, line - 5, 1.5, heading.bottom - line + 5);
      pen.font = "600 11px system-ui, sans-serif";
      const text = `${side.what || hazard.kind}, line ${side.line}`,
            width = pen.measureText(text).width,
            place = x + 5 + width < right ? x + 5 : x - 5 - width;
      pen.fillStyle = view.colors.bg;
      pen.fillRect(place - 2, line - 6, width + 4, 12);
      pen.fillStyle = view.colors.bad;
      pen.fillText(text, place, line);
    }
  }
}

function sideOf(side) {
  const time = side.time >= 0 ? `${data.info.tick} ${whole(side.time)}` : "time not kept";
  return element("li", {}, element("b", {}, side.what || "here"),
    `, thread ${side.thread} of CTA ${side.cta}, ${time}`, element("br"),
    element("code", {}, side.place), element("code", {class: "source"}, side.source));
}

/* Where to read on: a link, if the book is known to lie beside the report. */
function readOn(kind) {
  const page = `debugging.md#${kind}`;
  return data.info.docs ? element("a", {href: `${data.info.docs}/${page}`}, `docs/${page}`) :
                          element("code", {}, `docs/${page}`);
}

function hazardCard(step, hazard) {
  const button = element("button", {}, "Show in the timelines");
  button.addEventListener("click", () => {
    showHazard(step, hazard);
    scrollToStep(step);
  });
  return element("article", {class: "hazard"},
    element("h3", {}, `${step.name}: ${hazard.kind}`),
    element("ol", {}, ...hazard.sides.map(sideOf)),
    element("p", {class: "report"}, hazard.text.replace(/\n */g, "\n")),
    element("p", {}, ...(marksOf(hazard).length ? [button, " "] : []), "What it means: ",
      readOn(hazard.kind)));
}

function startHazards() {
  const cards = view.steps.flatMap(
    step => step.hazards.map(hazard => hazardCard(step, hazard)));
  byId("hazards").hidden = cards.length === 0;
  byId("hazards").append(...cards);
}
