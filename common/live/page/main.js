/* main.js: the controls, and when something runs. */

const book = JSON.parse(byId("data").textContent);
const foreground = new Simulator();

function showControls() {
  byId("chapter").value = state.chapter;
  for (const name of [...FIELDS, ...CHOICES]) byId(name).value = state[name];
  byId("seed-label").hidden = state.schedule !== "random";
}

function readControls() {
  for (const name of FIELDS) state[name] = Number(byId(name).value);
  for (const name of CHOICES) state[name] = byId(name).value;
  byId("seed-label").hidden = state.schedule !== "random";
}

function showAll() {
  showControls();
  fillVersions();
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
  const answer = await foreground.run(optionsOf(state.chapter, state), state, true);
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

function chooseCase(id) {
  if (id) openCase(id);
  else selectChapter(state.chapter);
  shownSource = "";
  clearResult("");
  showAll();
  runNow();
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
    showAll();
    runNow();
  });
  byId("version").addEventListener("change", () => {
    if (state.case) closeCase();
    selectVersion(Number(byId("version").value));
    Object.assign(state, versionOf()?.run);
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
    selectChapter(state.chapter);
    showAll();
    runNow();
  });
  byId("case").addEventListener("change", () => chooseCase(byId("case").value));
  byId("next-case").addEventListener("click", () => chooseCase(nextCase().id));
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
  byId("link").addEventListener("click", async event => {
    event.preventDefault();
    keepAddress();
    try {
      await navigator.clipboard.writeText(location.href);
      byId("link").textContent = "Copied";
    } catch (error) { // it is in the address bar
      byId("link").textContent = "It is in the address bar";
    }
    setTimeout(() => { byId("link").textContent = "Link to this state"; }, 2000);
  });
  byId("begin-case").addEventListener("click", event => {
    event.preventDefault();
    chooseCase(nextCase().id);
    byId("practice").scrollIntoView();
  });
  addEventListener("hashchange", () => {
    if (location.hash === address()) return;
    readAddress(location.hash);
    shownSource = "";
    showAll();
    runNow();
  });
}

byId("chapter").append(...book.chapters.map(({name}) => element("option", {value: name}, name)));
readAddress(location.hash);
restorePredict();
listen();
fillCases();
showAll();
runNow();
