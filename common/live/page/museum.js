/* museum.js: the page of the museum: one exhibit, in one of its two forms. What is shown is in the
 * address: #exhibit=05_ring_parity&form=fixed&schedule=random&seed=3. With find=1 its line is asked for. */

const book = JSON.parse(byId("data").textContent);
const simulator = new Simulator();
const USUAL = {form: "broken", schedule: "time", seed: 1, sms: 4};
const state = {exhibit: "", file: "", find: false, ...USUAL};

const exhibitOf = name => book.exhibits.find(one => one.name === name);
const filesHere = () => [`museum/${state.exhibit}.cu`];
const linesHere = () => ({
  lines: finding() ? caseHere().lines : exhibitOf(state.exhibit).source.split("\n"),
});
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
  byId("story").replaceChildren(
    ...(finding() ? [] : [element("b", {}, one.title), ". "]), caseHere()?.task || one.story);
  byId("code").replaceChildren(...coloured(lines.join("\n")).map((nodes, i) =>
    element("div", {class: off.has(i) ? "line off" : "line", "data-line": i + 1},
      ...(finding() ? [element("span", {class: "gutter"},
        ...(caseHere().says[i] === null ? [] : [pickButton(i + 1)]))] : []),
      element("span", {class: "number"}, String(i + 1)), element("code", {}, ...nodes))));
  const first = lineElement(lines.findIndex(line => line.startsWith("#if")) + 1);
  byId("code").scrollTop = first ? first.offsetTop - byId("code").clientHeight / 3 : 0;
  for (const option of byId("exhibit").options) { // a title tells much
    const {name, title, project} = exhibitOf(option.value), asked = state.find && !found.has(name);
    option.textContent = asked && exhibitOf(name).case ? `${title.slice(0, 2)} ${project}` : title;
  }
  for (const name of ["exhibit", ...Object.keys(USUAL)]) byId(name).value = state[name];
  byId("find").checked = state.find;
  byId("form").disabled = finding();
  byId("seed-label").hidden = state.schedule !== "random";
  showQuestion();
}

function address() {
  const words = new URLSearchParams({exhibit: state.exhibit});
  for (const [name, value] of Object.entries(USUAL))
    if (state[name] !== value) words.set(name, state[name]);
  if (state.find) words.set("find", "1");
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
  state.find = words.has("find");
}

function readControls() {
  for (const name of ["exhibit", "form", "schedule"]) state[name] = byId(name).value;
  for (const name of ["seed", "sms"]) state[name] = Number(byId(name).value);
  state.find = byId("find").checked;
}

function clearResult(text, mood) {
  byId("verdict").className = mood;
  byId("verdict").textContent = text;
  byId("hazards").replaceChildren();
  byId("text").querySelector("pre").textContent = "";
  places = [];
  markPlaces();
}

function keepAddress() {
  history.replaceState(null, "", address());
  byId("link").href = address();
}

async function runNow() {
  if (simulator.busy) simulator.stop();
  keepAddress();
  lastAnswer = null;
  clearResult("Running\u2026", "running");
  const answer = await simulator.run([state.exhibit, state.form, "--schedule", state.schedule,
    "--schedule-seed", String(state.seed), "--sms", String(state.sms)], {off: [], kernel: -1}, false);
  lastAnswer = answer;
  if (hidesResult()) clearResult("The run is over. What it shows is behind the hints.", "");
  else showResult(answer);
}

function showResult(answer) {
  const errors = asShown(answer.errors), hazards = hazardsOf(errors), {mood, title, text} = verdictOf(answer);
  byId("verdict").className = mood;
  byId("verdict").replaceChildren(element("b", {}, title), " ", text);
  byId("hazards").replaceChildren(...hazards.slice(0, 4).map(hazardCard));
  byId("text").querySelector("pre").textContent = `${answer.out}\n${errors}`;
  places = hazards.slice(0, 1).flatMap(placesOf);
  markPlaces();
}

/* As the question is asked: the broken form, in the run that shows it. */
function askHere() {
  hintsShown = 0;
  if (finding()) Object.assign(state, USUAL, caseHere().run);
}

function chooseForm(form) {
  state.form = form;
  showExhibit();
  runNow();
}

function begin() {
  copyLink(keepAddress);
  byId("exhibit").append(...book.exhibits.map(({name, title}) =>
    element("option", {value: name}, title)));
  const show = () => {
    showExhibit();
    runNow();
  };
  for (const name of ["exhibit", "find"])
    byId(name).addEventListener("change", () => {
      readControls();
      if (name === "find") found.delete(state.exhibit);
      askHere();
      show();
    });
  for (const name of ["form", "schedule"])
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
    askHere();
    show();
  });
  readAddress();
  askHere();
  show();
}

begin();
