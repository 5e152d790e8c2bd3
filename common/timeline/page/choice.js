/* choice.js: from a span to its barrier event, and from an event to the timelines. */

/* The timelines go along, if the event is not in view. */
function followCursor() {
  const length = view.to - view.from, {time} = view.cursor;
  if (barrier.touched && (time < view.from || time > view.to))
    show(time - length / 3, time + 2 * length / 3);
}

/* Chooses a barrier of a step, and an event of it. */
function selectBarrier(step, index, at) {
  barrier.touched = true;
  byId("barrier-step").value = step.index;
  chooseBarrierStep(step.index, index, at);
}

/* The event of a CTA's barriers that belongs to a span: what ends a wait or a load, and the release
 * that follows a multiplication; of several the nearest. null: none. */
function eventOfSpan(row, i) {
  const {lane, step} = row, landed = [FLIP, COMPLETE_TX];
  const wanted = {
    [SPAN_LOAD]: landed,
    [SPAN_MULTICAST]: landed,
    [SPAN_ACQUIRE]: [PASS],
    [SPAN_WAIT]: [PASS]
  }[lane.type[i]] || [ARRIVE];
  const slot = lane.kind === TRACK_SLOT ? /\d+/.exec(lane.name) : null;
  let best = null, nearest = Infinity;
  step.timeline.barriers.forEach((which, index) => {
    if (which.cta !== lane.cta) return;
    /* A stage of the ring has its own barriers. */
    if (slot && /\[\d+\]/.test(which.name) && !which.name.includes(`[${slot[0]}]`)) return;
    for (let at = 0; at < eventCount(which); ++at) {
      const event = eventOf(which, at), distance = Math.abs(event.cycle - lane.end[i]);
      if (!wanted.includes(event.kind) || distance >= nearest) continue;
      nearest = distance;
      best = {index, at};
    }
  });
  return best;
}
