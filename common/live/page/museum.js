/* museum.js: the page of the museum: one exhibit, in one of its two forms. What is shown is in the
 * address: #exhibit=05_ring_parity&form=fixed&schedule=random&seed=3 */

const book = JSON.parse(byId("data").textContent);
const simulator = new Simulator();
const USUAL = {form: "broken", schedule: "time", seed: 1, sms: 4};
const state = {exhibit: "", file: "", ...USUAL};

const exhibitOf = name => book.exhibits.find(one => one.name === name);
const filesHere = () => [`museum/${state.exhibit}.cu`];
const linesHere = () => ({lines: exhibitOf(state.exhibit).source.split("\n")});
const openFile = () => {}; // there is one

/* The lines of the form that is not compiled. */
function otherForm(lines) {
  const wanted = state.form === "fixed", off = new Set();
  let inside = false, here = true;
  lines.forEach((line, i) => {
    const condition = /^#if (!?)FIXED/.exec(line);
    if (condition) [inside, here] = [true, wanted === !condition[1]];
    else if (inside && line.startsWith("#else")) here = !here;
    else if (inside && line.startsWith("#endif")) [inside, here] = [false, true];
    else if (!here) off.add(i);
  });
  return off;
}

function showExhibit() {
  const one = exhibitOf(state.exhibit), {lines} = linesHere(), off = otherForm(lines);
  [state.file] = filesHere();
  byId("story").replaceChildren(element("b", {}, one.title), ". ", one.story);
  byId("code").replaceChildren(...coloured(lines.join("\n")).map((nodes, i) =>
    element("div", {class: off.has(i) ? "line off" : "line", "data-line": i + 1},
      element("span", {class: "number"}, String(i + 1)), element("code", {}, ...nodes))));
  const first = lines.findIndex(line => line.startsWith("#if"));
  byId("code").scrollTop = lineElement(first + 1).offsetTop - byId("code").clientHeight / 3;
  for (const name of ["exhibit", ...Object.keys(USUAL)]) byId(name).value = state[name];
  byId("seed-label").hidden = state.schedule !== "random";
}

function address() {
  const words = new URLSearchParams({exhibit: state.exhibit});
  for (const [name, value] of Object.entries(USUAL))
    if (state[name] !== value) words.set(name, state[name]);
  return `#${words}`;
}

/* What the address does not say, or says wrongly, is as usual. */
function readAddress() {
  const words = new URLSearchParams(location.hash.slice(1));
  Object.assign(state, USUAL);
  state.exhibit = (exhibitOf(words.get("exhibit")) || book.exhibits[0]).name;
  for (const name of ["form", "schedule"])
    if ([...byId(name).options].some(option => option.value === words.get(name)))
      state[name] = words.get(name);
  for (const name of ["seed", "sms"])
    if (/^\d+$/.test(words.get(name) || "")) state[name] = Number(words.get(name));
}

function readControls() {
  for (const name of ["exhibit", "form", "schedule"]) state[name] = byId(name).value;
  for (const name of ["seed", "sms"]) state[name] = Number(byId(name).value);
}

async function runNow() {
  if (simulator.busy) simulator.stop();
  history.replaceState(null, "", address());
  byId("link").href = address();
  byId("verdict").className = "running";
  byId("verdict").textContent = "Running\u2026";
  places = [];
  const answer = await simulator.run([state.exhibit, state.form, "--schedule", state.schedule,
    "--schedule-seed", String(state.seed), "--sms", String(state.sms)], {off: [], version: -1}, false);
  const hazards = hazardsOf(answer.errors), {mood, title, text} = verdictOf(answer);
  byId("verdict").className = mood;
  byId("verdict").replaceChildren(element("b", {}, title), " ", text);
  byId("hazards").replaceChildren(...hazards.slice(0, 4).map(hazardCard));
  byId("text").querySelector("pre").textContent = `${answer.out}\n${answer.errors}`;
  places = hazards.slice(0, 1).flatMap(placesOf);
  markPlaces();
}

function begin() {
  byId("exhibit").append(...book.exhibits.map(({name, title}) =>
    element("option", {value: name}, title)));
  const show = () => {
    showExhibit();
    runNow();
  };
  for (const name of ["exhibit", "form", "schedule"])
    byId(name).addEventListener("change", () => {
      readControls();
      show();
    });
  byId("controls").addEventListener("submit", event => {
    event.preventDefault();
    if (!byId("controls").reportValidity()) return;
    readControls();
    show();
  });
  addEventListener("hashchange", () => {
    if (location.hash === address()) return;
    readAddress();
    show();
  });
  readAddress();
  show();
}

begin();
