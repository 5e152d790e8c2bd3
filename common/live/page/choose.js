/* choose.js: cases in which the reader chooses, and every choice is run. */

const APART = 0.05; // simulate.py has the same

const outcomeOfChoice = answer => {
  const cycles = numberOfCycles(answer);
  return cycles ? `${spaced(cycles)} simulated cycles` : inShort(answer);
};

/* The one that is wanted; null if there is not one. */
function rightChoice(want, answers) {
  if (want === "fails") {
    const failing = answers.filter(answer => answer.code);
    return failing.length === 1 ? answers.indexOf(failing[0]) : null;
  }
  const cycles = answers.map(numberOfCycles), sign = want === "most" ? -1 : 1;
  const order = [...cycles.keys()].sort((a, b) => sign * (cycles[a] - cycles[b]));
  const [first, second] = order.map(i => cycles[i]);
  const apart = Math.abs(first - second) >= APART * Math.max(first, second);
  return cycles.every(Boolean) && apart ? order[0] : null;
}

const answersOf = new Map(); // of each case that has been run: promises

function runChoices(one) {
  if (!answersOf.has(one.id))
    answersOf.set(one.id, Promise.all(one.choices.map(
      choice => background.run(optionsOf(choice.chapter, choice.run), choice, false))));
  return answersOf.get(one.id);
}

function choicesTable(one, answers, right) {
  const cell = (...nodes) => element("td", {}, ...nodes);
  return element("table", {class: "chosen"}, ...one.choices.map((choice, i) =>
    element("tr", i === right ? {class: "right"} : {},
      cell(choice.text), cell(outcomeOfChoice(answers[i])), cell(choice.why))));
}

/* A wrong answer gets what it comes to, and why; the right one what all of them come to. */
async function judgeChosen(one, choice) {
  explain(one, false, "Running them\u2026");
  const answers = await runChoices(one);
  if (state.case !== one.id || answered) return;
  const right = rightChoice(one.want, answers), chosen = one.choices.indexOf(choice);
  if (chosen === right) {
    solve(one, `Yes: ${choice.text}.`);
    byId("case-answer").append(choicesTable(one, answers, right));
  } else {
    explain(one, false, `No. ${choice.text}: ${outcomeOfChoice(answers[chosen])}. ${choice.why}`);
  }
}
