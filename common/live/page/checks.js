/* checks.js: a kernel that passes one run may be broken all the same: the runs of --check, in the
 * background, until one fails. */

const background = new Simulator();
let checkLists = null, checking = 0;

async function checksOf(chapter) {
  checkLists ||= (await background.checks()).checks;
  return checkLists.find(list => list.chapter === chapter).runs.map(
    ({input, ...run}) => ({...run, input: "integer", iseed: input}));
}

function stopChecks() {
  ++checking;
  background.stop();
  answersOf.clear(); // what was to come will not
  byId("background").replaceChildren();
}

function say(...nodes) { byId("background").replaceChildren(element("p", {}, ...nodes)); }

function showFailing(run, number, answer) {
  const show = element("button", {type: "button"}, "Show that run");
  show.addEventListener("click", () => {
    Object.assign(state, run);
    showControls();
    runNow();
  });
  const kinds = hazardsOf(answer.errors).map(hazard => hazard.kind);
  say(`This run passes. Run ${number} of --check does not: `,
    element("b", {}, kinds[0] || "wrong result"),
    ` with m ${run.m}, n ${run.n}, k ${run.k}, ${run.sms} SMs, schedule ${run.schedule}. `, show);
}

function showHarmless(count) {
  const reasons = book.switches.filter(one => state.off.has(one.number) && one.harmless);
  if (!kernelHere() && reasons.length === state.off.size)
    say("Harmless here: ", ...new Set(reasons.map(one => one.harmless)));
  else
    say(`All ${count} runs of --check pass, too: this chapter's kernel never comes to this line, or
      another line does the same.`);
}

async function startChecks() {
  const mine = ++checking, {chapter, kernel} = state, off = [...state.off];
  say("This run passes, which need not mean much. Trying the runs of --check\u2026");
  const runs = await checksOf(chapter);
  for (const [i, run] of runs.entries()) {
    const answer = await background.run(optionsOf(chapter, run, kernel), {off, kernel}, false);
    if (mine !== checking) return;
    if (answer.code) return showFailing(run, i + 1, answer);
    say(`This run passes, and so do ${i + 1} of the ${runs.length} runs of --check\u2026`);
  }
  showHarmless(runs.length);
}
