/* practice.js: cases that the page judges by running them. */

const SOLVED = "hopper-live-solved";
let hintsShown = 0, answered = false, lastAnswer = null;

const caseOf = id => book.cases.find(one => one.id === id);
/* The case that asks for a line: its switches are not to be seen. */
const askedCase = () => {
  const one = caseOf(state.case);
  return one?.kind === "find" && !answered ? one : null;
};
const hidesResult = () => {
  const one = caseOf(state.case);
  return one && one.kind !== "catch" && !answered && hintsShown < 2;
};
/* A case whose mistake is to be found: the page does not point at it. */
const hidesEdit = () => {
  const one = caseOf(state.case);
  return one && !answered && (one.kind === "find" || one.kind === "mend");
};
const pickOf = () => askedCase() ? judgeLine : null;

/* Of a run the data has what is not as usual in its chapter. */
function completeRuns() {
  for (const one of book.cases)
    for (const part of [one, ...(one.choices || [])])
      if (part.run) part.run = {...usual(part.chapter || one.chapter), ...part.run};
}

function solved() {
  try {
    return new Set(JSON.parse(localStorage.getItem(SOLVED) || "[]"));
  } catch (error) { // where a page may keep nothing
    return solved.kept ||= new Set();
  }
}
solved.kept = null;

function keepSolved(all) {
  try {
    localStorage.setItem(SOLVED, JSON.stringify([...all]));
  } catch (error) {
    solved.kept = all;
  }
  fillCases();
}

function fillCases() {
  const done = solved(), list = byId("case");
  list.replaceChildren(element("option", {value: ""}, "none: the kernel as it is"),
    ...book.cases.map(one => element("option", {value: one.id},
      `${done.has(one.id) ? "\u2713 " : ""}${one.id}: ${one.title}`)));
  list.value = state.case;
  const count = book.cases.filter(one => done.has(one.id)).length;
  byId("progress").textContent = `${count} of ${book.cases.length} solved`;
}

function openCase(id) {
  const one = caseOf(id);
  selectChapter(one.chapter);
  selectKernel(one.kernel);
  Object.assign(state, one.run, {case: id, off: new Set(one.off)});
  hintsShown = 0;
  answered = false;
  lastAnswer = null;
}

function closeCase() {
  state.case = "";
  showCase();
  fillCases();
}

function verdictLine(good, ...nodes) {
  return element("p", {class: good ? "good" : "bad", role: "status"}, ...nodes);
}

function showCase() {
  const one = caseOf(state.case), body = byId("case-body");
  body.hidden = !one;
  byId("case").value = state.case;
  if (!one) return;
  byId("practice").open = true;
  const hint = element("button", {type: "button"}, "Hint");
  const given = element("div", {});
  hint.addEventListener("click", () => {
    given.append(element("p", {class: "hint"}, one.hints[hintsShown++]));
    hint.disabled = hintsShown >= one.hints.length;
    if (hintsShown === 2 && lastAnswer) showResult(lastAnswer);
  });
  body.replaceChildren(element("p", {}, element("b", {}, one.title), ". ", one.text || one.task,
    one.kind === "find" ? " Press the ? beside the line." : ""),
    ...(one.text ? [element("p", {}, element("b", {}, "To begin with: "), one.task)] : []),
    ...(one.choices ? [choicesOf(one)] : []), element("div", {id: "case-answer"}), given, hint,
    ...(one.answered === undefined ? [] : [answerOf(one)]));
}

/* An exercise's edit, folded away. The page cannot take the reader's own; build/sim/practice can. */
function answerOf(one) {
  const kernel = book.kernels[one.answered];
  const open = element("button", {type: "button"}, "Open it");
  open.addEventListener("click", () => {
    closeCase();
    selectKernel(kernel.number);
    Object.assign(state, one.run);
    showAll();
    runNow();
  });
  return element("details", {class: "answer"}, element("summary", {}, "An answer"),
    element("pre", {}, diffOf(kernel)), open, " Your own is checked by ",
    element("code", {}, `build/sim/practice check ${one.id} kernel.cu`));
}

/* By the kind of the case. */
const judges = {mend: judgeRepair, choose: judgeChosen, predict: judgeChoice};

function choicesOf(one) {
  return element("div", {class: `choices ${one.kind}`}, ...one.choices.map(choice => {
    const button = element("button", {type: "button"}, choice.text || choice);
    button.addEventListener("click", () => {
      if (!answered) judges[one.kind](one, choice);
    });
    return button;
  }));
}

function explain(one, good, ...nodes) {
  byId("case-answer").replaceChildren(verdictLine(good, ...nodes),
    ...(good ? [element("p", {}, one.explanation)] : []));
  byId("case-answer").scrollIntoView({block: "nearest"});
}

function solve(one, ...nodes) {
  answered = true;
  keepSolved(solved().add(one.id));
  explain(one, true, ...nodes);
  showSource(pickOf());
  shownSource = "";
  showSource(null);
  if (lastAnswer) showResult(lastAnswer);
}

/* What a run comes to, in a few words. */
function inShort(answer) {
  if (!answer.code) return "the run passes";
  const [hazard] = hazardsOf(answer.errors);
  if (!hazard) return "D is wrong";
  const places = placesOf(hazard).map(place => `${shortFile(place.file)}:${place.line}`);
  return `${hazard.kind} at ${places.join(", ")}`;
}

/* Is it this line? A wrong answer is tried out, and what it does instead is the reason. */
async function judgeLine(picked) {
  const one = askedCase();
  if (await judged(one, picked.number)) return solve(one, `Yes: ${picked.call}.`);
  explain(one, false, `Line ${picked.line}? Trying it\u2026`);
  const answer = await background.run(optionsOf(one.chapter, one.run),
    {off: [picked.number], kernel: one.kernel}, false);
  if (state.case !== one.id || answered) return;
  const places = hintsShown >= 2 && lastAnswer ? `. Here it is ${inShort(lastAnswer)}` : "";
  explain(one, false, `No. Without line ${picked.line}, ${picked.call}, it is another case: `,
    inShort(answer), places, ".");
}

async function judgeChoice(one, choice) {
  if (await judged(one, one.choices.indexOf(choice))) return solve(one, `Yes: ${choice}.`);
  explain(one, false, `No, it is not "${choice}". ${one.reasons[choice] || ""}`);
}

/* A repair is tried out. */
async function judgeRepair(one, choice) {
  explain(one, false, "Trying it\u2026");
  const answer = await background.run(optionsOf(one.chapter, choice.run), choice, false);
  if (state.case !== one.id || answered) return;
  if (await judged(one, one.choices.indexOf(choice), [answer]))
    return solve(one, "Yes: mended, the kernel passes.");
  const {m, n, k, sms, schedule} = choice.run;
  explain(one, false, `No: with it, ${inShort(answer)} (m ${m}, n ${n}, k ${k}, ${sms} SMs, `,
    `schedule ${schedule}).`);
}

/* In a case that asks for a run that fails. */
async function judgeRun(answer) {
  const one = caseOf(state.case);
  if (one?.kind !== "catch" || answered || !byId("case-answer")) return;
  const changed = Object.keys(one.run).some(name => state[name] !== one.run[name]);
  if (await judged(one, 0, [answer]))
    solve(one, "Yes: this run shows it.");
  else if (changed)
    explain(one, false, "This run passes. What could come in another order, or more often?");
}

function nextCase() {
  const done = solved(), at = book.cases.findIndex(one => one.id === state.case);
  const order = [...book.cases.slice(at + 1), ...book.cases.slice(0, at + 1)];
  return order.find(one => !done.has(one.id)) || order[0];
}

function chooseCase(id) {
  if (id) openCase(id);
  else selectChapter(state.chapter);
  shownSource = "";
  clearResult("");
  showAll();
  runNow();
}

function listenCases() {
  byId("case").addEventListener("change", () => chooseCase(byId("case").value));
  byId("reset-cases").addEventListener("click", () => keepSolved(new Set()));
  byId("next-case").addEventListener("click", () => chooseCase(nextCase().id));
  byId("begin-case").addEventListener("click", event => {
    event.preventDefault();
    chooseCase(nextCase().id);
    byId("practice").scrollIntoView();
  });
}
