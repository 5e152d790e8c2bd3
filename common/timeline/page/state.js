/* state.js: what is shown, in the address: #step=...&barrier=...&event=...&from=...&to=...
 *
 * Opening such an address shows the same again. A barrier is "CTA:name", an event counts from 1, as
 * on the page. Steps that are not shown are listed in `hide`. */

let restoring = false, stateTimer = 0;

const shortName = which => which.name.split(", made in line")[0];
const barrierKeyOf = which => `${which.cta}:${shortName(which)}`;

function stateNow() {
  const state = new URLSearchParams(), hidden = view.steps.filter(step => !step.visible);
  if (barrier.which && barrier.touched) {
    state.set("step", barrier.step.name);
    state.set("barrier", barrierKeyOf(barrier.which));
    state.set("event", barrier.at + 1);
  }
  state.set("from", Math.round(view.from));
  state.set("to", Math.round(view.to));
  if (hidden.length) state.set("hide", hidden.map(step => step.name).join(","));
  return "#" + state;
}

/* Not at every pixel of a pan: browsers refuse hundreds of changes in a row. */
function keepState() {
  if (restoring || location.hash === "#selftest") return;
  clearTimeout(stateTimer);
  stateTimer = setTimeout(() => {
    const state = stateNow();
    byId("link").href = state;
    history.replaceState(null, "", state);
  }, 150);
}

function scrollToStep(step) {
  const heading = view.headings.find(heading => heading.step === step);
  if (!heading) return;
  const top = byId("lanes").getBoundingClientRect().top + scrollY;
  scrollTo({top: Math.max(0, top + heading.y - RULER - 8)});
  window.frameElement?.scrollIntoView();
}

function restoreBarrier(state, step) {
  const index = step.timeline.barriers.findIndex(
    which => barrierKeyOf(which) === state.get("barrier"));
  if (index >= 0) selectBarrier(step, index, Number(state.get("event") || 1) - 1);
}

/* Shows what the address says; what it does not say stays. */
function restoreState() {
  const state = new URLSearchParams(location.hash.slice(1));
  if (!["step", "from", "hide"].some(key => state.has(key))) return;
  restoring = true;
  if (state.has("hide") || state.has("from")) {
    const hidden = (state.get("hide") || "").split(",");
    for (const step of view.steps)
      step.box.checked = step.visible = !hidden.includes(step.name);
  }
  const step = view.steps.find(step => step.name === state.get("step"));
  if (step) step.box.checked = step.visible = true;
  relayOut();
  if (step) restoreBarrier(state, step);
  const from = Number(state.get("from")), to = Number(state.get("to"));
  if (state.has("to") && to > from) show(from, to);
  if (step && !state.has("barrier")) scrollToStep(step);
  restoring = false;
}
