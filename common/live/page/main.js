/* main.js: the controls, and when something runs. */

const book = JSON.parse(byId("data").textContent);
const foreground = new Simulator();

function showControls() {
  const needs = needsOf(state.chapter, state.kernel);
  byId("chapter").value = state.chapter;
  for (const [name, control] of controls()) {
    control.value = needs[name] ?? state[name];
    control.disabled = name in needs;
  }
  byId("seed-label").hidden = state.schedule !== "random";
}

const controls = () => Object.keys(usual(state.chapter)).map(name => [name, byId(name)])
  .filter(([, control]) => control);

function readControls() {
  for (const [name, {value, disabled}] of controls())
    if (!disabled) state[name] = value === String(Number(value)) ? Number(value) : value;
  byId("seed-label").hidden = state.schedule !== "random";
}

/* The controls that the chapter's kind of problem has. */
function fillOptions() {
  byId("options").replaceChildren(...(chapterOf(state.chapter).options || []).map(
    ({name, values, low, high}) => element("label", {}, `${name} `, values ?
      element("select", {id: name}, ...values.map(value => element("option", {}, value))) :
      element("input", {id: name, type: "number", min: low, max: high, required: ""}))));
}

function showAll() {
  showControls();
  fillKernels();
  showCase();
  showSource(pickOf());
  showFiles();
}

function clearResult(text) {
  byId("verdict").className = "";
  byId("verdict").textContent = text;
  byId("hazards").replaceChildren();
  byId("prediction").replaceChildren();
  byId("text").querySelector("pre").textContent = "";
  byId("report").hidden = true;
  byId("jump").hidden = true;
  places = [];
  markPlaces();
}

async function runNow() {
  if (foreground.busy) foreground.stop();
  stopChecks();
  keepAddress();
  byId("stop").hidden = false;
  byId("verdict").className = "running";
  byId("verdict").textContent = "Running\u2026";
  byId("prediction").replaceChildren();
  const answer = await foreground.run(optionsOf(state.chapter, state, state.kernel), state, true);
  byId("stop").hidden = true;
  lastAnswer = answer;
  if (hidesResult()) return clearResult("The run is over. What it shows is behind the hints.");
  if (predicting() && !state.case) return askFirst(answer, await cyclesBefore());
  showAnswer(answer);
}

function showAnswer(answer) {
  showResult(answer);
  judgeRun(answer);
  shownCycles = answer.code ? null : numberOfCycles(answer);
  if (answer.code === 0 && isBroken() && !state.case) startChecks();
}

function toggle(number) {
  const one = caseOf(state.case);
  if (one?.kind === "catch" && !answered) return; // the line is given
  if (one) closeCase();
  if (!state.off.delete(number)) state.off.add(number);
  showSource(pickOf());
  showFiles();
  runNow();
}

/* On a phone the bar below leads from the kernel to the result, and back. */
let resultInView = false, jumpText = "";

function labelJump(text = jumpText) {
  jumpText = text;
  byId("jump").textContent = resultInView ? "\u2191 The kernel" : `${text} \u2193`;
}

function listen() {
  byId("controls").addEventListener("submit", event => {
    event.preventDefault();
    if (!byId("controls").reportValidity()) return;
    readControls();
    runNow();
  });
  byId("schedule").addEventListener("change", readControls);
  byId("chapter").addEventListener("change", () => {
    selectChapter(byId("chapter").value);
    fillOptions();
    showAll();
    runNow();
  });
  byId("kernel").addEventListener("change", () => {
    if (state.case) closeCase();
    const before = kernelHere()?.run;
    selectKernel(Number(byId("kernel").value));
    Object.assign(state, before && usual(state.chapter), kernelHere()?.run);
    showAll();
    runNow();
  });
  byId("predict").addEventListener("change", () => {
    keepPredict();
    keepAddress();
  });
  byId("stop").addEventListener("click", () => {
    foreground.stop();
    byId("stop").hidden = true;
    clearResult("Stopped.");
  });
  byId("restore").addEventListener("click", () => {
    selectKernel(-1);
    state.case = "";
    showAll();
    runNow();
  });
  byId("jump").addEventListener("click", event => {
    event.preventDefault();
    byId(resultInView ? "source" : "result").scrollIntoView();
  });
  new IntersectionObserver(([{isIntersecting}]) => {
    resultInView = isIntersecting;
    labelJump();
  }, {rootMargin: "0px 0px -50% 0px"}).observe(byId("result"));
  byId("more").addEventListener("click", () => {
    const open = byId("extents").classList.toggle("open");
    byId("more").setAttribute("aria-expanded", String(open));
  });
  copyLink(keepAddress);
  listenCases();
  addEventListener("hashchange", () => {
    if (location.hash === address()) return;
    readAddress(location.hash);
    shownSource = "";
    showAll();
    runNow();
  });
}

for (const list of [book.switches, book.kernels])
  list.forEach((one, i) => { one.number = i; });
if (self !== top) byId("begin").hidden = true; // beside the text
completeRuns();
byId("chapter").append(...book.chapters.map(({name}) => element("option", {value: name}, name)));
readAddress(location.hash);
listen();
fillCases();
showAll();
runNow();
