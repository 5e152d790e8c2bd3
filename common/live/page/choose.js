/* choose.js: cases in which the reader chooses, and every choice is run. */

const outcomeOfChoice = answer => {
  const cycles = numberOfCycles(answer);
  return cycles ? `${spaced(cycles)} simulated cycles` : inShort(answer);
};

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
  const chosen = one.choices.indexOf(choice);
  if (await judged(one, chosen, answers)) {
    solve(one, `Yes: ${choice.text}.`);
    byId("case-answer").append(choicesTable(one, answers, chosen));
  } else {
    explain(one, false, `No. ${choice.text}: ${outcomeOfChoice(answers[chosen])}. ${choice.why}`);
  }
}
