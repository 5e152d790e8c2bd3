/* barriers.js: one mbarrier, event by event. */

const EVENTS = ["init", "arrive", "expect_tx", "complete_tx", "flip", "wait", "pass"];
const [INIT, ARRIVE, EXPECT_TX, COMPLETE_TX, FLIP, WAIT, PASS] = EVENTS.keys();
const EVENT_FIELDS =
  10;              /* cycle, kind, by CTA, by thread, amount, phase, pending, expected, tx, line */
const LISTED = 17; /* events in the table around the current one */

const barrier = {
  step: null,
  which: null,
  at: 0,
  touched: false /* somebody has chosen it */
};

function recordOf(which, i) {
  const [cycle, kind, byCta, byThread, amount, phase, pending, expected, tx, line] =
    which.events.slice(i * EVENT_FIELDS, (i + 1) * EVENT_FIELDS);
  return {cycle, kind, byCta, byThread, amount, phase, pending, expected, tx, line};
}

/* The events as they are stepped through: first and last record of each. Threads that do the same
 * one behind the other, such as the 128 of a warpgroup that begin to wait, are one event. */
function eventsOf(which) {
  if (which.steps) return which.steps;
  which.steps = [];
  let last = null;
  for (let i = 0; i < which.events.length / EVENT_FIELDS; ++i) {
    const next = recordOf(which, i);
    const same = last && (next.kind === WAIT || next.kind === PASS) &&
                 ["kind", "byCta", "amount", "phase", "line"].every(key => next[key] === last[key]);
    if (same)
      which.steps.at(-1).last = i;
    else
      which.steps.push({first: i, last: i});
    last = next;
  }
  return which.steps;
}

const eventCount = which => eventsOf(which).length;

/* Event i: when it began, what is known when it is over, and whose it is. */
function eventOf(which, i) {
  const {first, last} = eventsOf(which)[i];
  const threads = new Set(); /* in a loop around try_wait one begins again and again */
  for (let record = first; record <= last; ++record)
    threads.add(recordOf(which, record).byThread);
  return {...recordOf(which, last), cycle: recordOf(which, first).cycle, threads: [...threads]};
}

function who(event, own) {
  if (event.byThread < 0) return "the TMA";
  const several = event.threads.length > 1;
  return (several ? `threads ${ranges(event.threads)}` : `thread ${event.byThread}`) +
         (event.byCta !== own ? ` of CTA ${event.byCta}` : "");
}

/* 1, 2, 3, 7 -> "1-3, 7" */
function ranges(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b), parts = [];
  for (let i = 0; i < sorted.length;) {
    let j = i;
    while (j + 1 < sorted.length && sorted[j + 1] === sorted[j] + 1) ++j;
    parts.push(j > i ? `${sorted[i]}\u2013${sorted[j]}` : String(sorted[i]));
    i = j + 1;
  }
  return parts.join(", ");
}

/* Who waits after event `at`: Map from "cta parity" to a set of threads. */
function waitingAt(which, at) {
  const waiting = new Map();
  for (let i = 0; i <= eventsOf(which)[at].last; ++i) {
    const event = recordOf(which, i);
    if (event.kind !== WAIT && event.kind !== PASS) continue;
    if (event.kind === WAIT) {
      const key = `${event.byCta} ${event.amount}`;
      if (!waiting.has(key)) waiting.set(key, new Set());
      waiting.get(key).add(event.byThread);
    } else {
      for (const [key, threads] of waiting)
        if (key.startsWith(event.byCta + " ") && threads.delete(event.byThread) &&
            threads.size === 0)
          waiting.delete(key);
    }
  }
  return waiting;
}

function sentence(event, before, own) {
  const by = who(event, own), bytes = `${whole(event.amount)} bytes`;
  const several = event.threads.length > 1;
  switch (event.kind) {
    case INIT:
      return `${by} initializes the barrier: a phase takes ${event.amount} arrival${
        event.amount === 1 ? "" : "s"}.`;
    case ARRIVE:
      return `${by} arrives: ${event.pending} still pending.`;
    case EXPECT_TX:
      return `${by} announces ${bytes}: the phase cannot complete before they have come.`;
    case COMPLETE_TX:
      return event.tx < 0 ? `${by} delivers ${bytes}, before they were announced.` :
                            `${by} delivers ${bytes}: ${
                              event.tx ? whole(event.tx) + " to come" : "all are there"}.`;
    case FLIP:
      return `Nothing is missing: phase ${event.phase - 1} is complete, phase ${
               event.phase} begins, ` +
             `and those who waited for parity ${(event.phase - 1) & 1} may pass.`;
    case WAIT:
      return `${by} ${several ? "begin" : "begins"} to wait for parity ${event.amount}` +
             ((event.phase & 1) !== event.amount ? ", whose phase is complete already." : ".");
    default:
      if (event.phase === 0)
        return `${by} ${several ? "go" : "goes"} on at once: parity 1 is the phase before phase 0, ` +
               "which counts as complete.";
      return `${by} ${several ? "have" : "has"} seen the phase complete and ${
        several ? "go" : "goes"} on.`;
  }
}

function setState(id, text, changed) {
  const node = byId(id);
  node.textContent = text;
  node.classList.toggle("changed", changed);
}

function largestTx(which) {
  let most = 1;
  for (let i = 0; i < which.events.length / EVENT_FIELDS; ++i)
    most = Math.max(most, Math.abs(which.events[i * EVENT_FIELDS + 8]));
  return most;
}

function listEvents() {
  const {which, at} = barrier, count = eventCount(which), body = byId("barrier-events").tBodies[0];
  const first = Math.max(0, Math.min(at - (LISTED >> 1), count - LISTED));
  body.replaceChildren();
  for (let i = first; i < Math.min(count, first + LISTED); ++i) {
    const event = eventOf(which, i), row = body.insertRow();
    const amount = event.kind === FLIP || event.kind === PASS ? "" :
                   event.kind === WAIT                        ? "parity " + event.amount :
                                                                whole(event.amount);
    for (const text of [whole(event.cycle), EVENTS[event.kind],
           event.kind === FLIP ? "" : who(event, which.cta), amount, event.phase, event.pending,
           whole(event.tx), event.kind === FLIP ? "" : event.line || ""])
      row.insertCell().textContent = text;
    if (event.kind === FLIP) row.className = "flip";
    if (i === at) row.setAttribute("aria-current", "step");
    row.addEventListener("click", () => goTo(i));
  }
}

function goTo(at) {
  const {which} = barrier;
  if (!which) return;
  const count = eventCount(which);
  barrier.at = at = Math.max(0, Math.min(count - 1, at));
  const event = eventOf(which, at), before = at > 0 ? eventOf(which, at - 1) : event;
  byId("barrier-slider").value = at;
  byId("barrier-position").textContent =
    `event ${at + 1} of ${count}, ${data.info.tick} ${whole(event.cycle)}`;
  byId("barrier-sentence").textContent =
    sentence(event, before, which.cta).replace(/^./, letter => letter.toUpperCase());
  setState(
    "state-phase", `${event.phase}, parity ${event.phase & 1}`, event.phase !== before.phase);
  setState(
    "state-pending", `${event.pending} of ${event.expected}`, event.pending !== before.pending);
  setState("state-tx", whole(event.tx), event.tx !== before.tx);
  const pending = Math.max(0, event.pending);
  byId("dots").textContent = event.expected <= 32 ?
    "\u25CF".repeat(pending) + "\u25CB".repeat(Math.max(0, event.expected - pending)) : "";
  byId("tx-bar").firstChild.style.width = 100 * Math.abs(event.tx) / barrier.largestTx + "%";
  const waiting = [...waitingAt(which, at)].map(([key, threads]) => {
    const [cta, parity] = key.split(" ").map(Number);
    return `${cta !== which.cta ? `CTA ${cta}: ` : ""}${ranges(threads)} for parity ${parity}`;
  });
  byId("state-waiting").textContent = waiting.join("; ") || "none";
  for (const [id, end] of [["step-back", at === 0], ["phase-back", at === 0],
         ["step", at === count - 1], ["phase", at === count - 1]])
    endStep(byId(id), end);
  listEvents();
  showMemory(event.cycle);
  view.cursor = {time: event.cycle};
  followCursor();
  redraw();
  keepState();
}

/* A button at its end hands the keys on. */
function endStep(button, end) {
  if (end && document.activeElement === button) byId("barrier").focus({preventScroll: true});
  button.disabled = end;
}

function stepBy(by) {
  barrier.touched = true;
  goTo(barrier.at + by);
}

/* To the flip before or after the current event; to the end if there is none. */
function stepPhase(direction) {
  barrier.touched = true;
  let at = barrier.at + direction;
  while (at > 0 && at < eventCount(barrier.which) - 1 &&
         eventOf(barrier.which, at).kind !== FLIP)
    at += direction;
  goTo(at);
}

function chooseBarrier(index, at = 0) {
  byId("barrier-which").value = index;
  barrier.which = barrier.step.timeline.barriers[index];
  barrier.largestTx = largestTx(barrier.which);
  byId("barrier-slider").max = eventCount(barrier.which) - 1;
  goTo(at);
}

function chooseBarrierStep(index, which = 0, at = 0) {
  barrier.step = view.steps[index];
  const select = byId("barrier-which");
  select.replaceChildren();
  barrier.step.timeline.barriers.forEach((which, i) => {
    const line = /made in line (\d+)/.exec(which.name);
    select.append(element("option", {value: i}, `${shortName(which)} of CTA ${which.cta} (${
      line ? `init at line ${line[1]}, ` : ""}${eventCount(which)} events)`));
  });
  chooseBarrier(which, at);
}

/* The section's keys; a list and the slider keep those that they take, a button Enter. */
function barrierKey(event) {
  const {tagName} = event.target;
  if (tagName === "SELECT" || tagName === "INPUT") return;
  if (tagName === "BUTTON" && event.key === "Enter") return;
  const actions = {
    j: () => stepBy(-1),
    k: () => stepBy(1),
    ArrowLeft: () => stepBy(-1),
    ArrowRight: () => stepBy(1),
    ArrowUp: () => stepBy(-1),
    ArrowDown: () => stepBy(1),
    n: () => stepPhase(1),
    p: () => stepPhase(-1),
    Home: () => goTo(0),
    End: () => goTo(Infinity),
    Enter: () => byId("play").click()
  };
  const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (event.ctrlKey || event.metaKey || event.altKey || !actions[name]) return;
  actions[name]();
  event.preventDefault();
}

/* The barrier that the first hazard names, at its last event before that; else, of the CTA's
 * barriers, the one with the last event. undefined: there is none. */
function eventOfHazard(step) {
  const [hazard] = step.hazards, side = hazard && marksOf(hazard).at(-1);
  if (!side) return undefined;
  const named = /(?:for|mbarrier) ([\w.]+\[\d+\][\w.]*)/.exec(hazard.text)?.[1];
  let best, latest = -1;
  step.timeline.barriers.forEach((which, index) => {
    if (which.cta !== side.cta) return;
    const count = eventCount(which);
    let at = count - 1;
    while (at > 0 && eventOf(which, at).cycle > side.time) --at;
    const {cycle} = eventOf(which, at);
    const rank = cycle > side.time ? -1 : shortName(which) === named ? Infinity : cycle;
    if (rank <= latest) return;
    latest = rank;
    best = {index, at};
  });
  return best;
}

function startBarriers() {
  stopPlaying(); /* the report before this one */
  byId("barrier-tick").textContent = data.info.tick;
  const steps = view.steps.filter(step => step.timeline.barriers.length);
  byId("no-barriers").hidden = steps.length > 0;
  if (data.info.simulated) byId("no-barriers").textContent = "This run has no mbarrier.";
  byId("barrier-view").hidden = steps.length === 0;
  if (steps.length === 0) return;
  for (const step of steps)
    byId("barrier-step").append(element("option", {value: step.index}, step.name));
  byId("barrier-step")
    .addEventListener("change", event => {
      barrier.touched = true;
      chooseBarrierStep(Number(event.target.value));
    });
  byId("barrier-which")
    .addEventListener("change", event => {
      barrier.touched = true;
      chooseBarrier(Number(event.target.value));
    });
  byId("barrier-slider").addEventListener("input", event => {
    barrier.touched = true;
    goTo(Number(event.target.value));
  });
  byId("to-timelines").addEventListener("click", () => scrollToStep(barrier.step));
  byId("step").addEventListener("click", () => stepBy(1));
  byId("step-back").addEventListener("click", () => stepBy(-1));
  byId("phase").addEventListener("click", () => stepPhase(1));
  byId("phase-back").addEventListener("click", () => stepPhase(-1));
  byId("barriers").addEventListener("keydown", barrierKey);
  startPlay();
  const accused = steps.find(eventOfHazard), {index = 0, at = 0} = accused ?
    eventOfHazard(accused) : {};
  chooseBarrierStep((accused || steps[0]).index, index, at);
  view.cursor = null; /* none in the timelines before the first step */
}
