/* selftest.js: with #selftest in the address, the page checks itself and writes what it found into
 * the document.
 *
 * All of it runs before the load event, so that a browser that dumps the document sees the outcome.
 */

function selfTest() {
  const lines = [];
  let failures = 0;
  const check = (what, good, detail = "") => {
    if (!good) ++failures;
    lines.push(`${good ? "ok" : "FAILED"}: ${what}${detail ? " (" + detail + ")" : ""}`);
  };

  byId("timeline").scrollIntoView();
  draw();
  /* The steps are there, and can be hidden and shown with the keyboard. */
  const key = (id, name) => byId(id).dispatchEvent(
    new KeyboardEvent("keydown", {key: name, bubbles: true, cancelable: true}));
  const steps = data.timelines.length;
  check("every step is shown", view.headings.length === steps, `${view.headings.length}`);
  /* Of a cluster all CTAs are shown: in one of them alone a multicast is half a load. */
  const lanesOf = step => new Set(
    view.rows.filter(row => row.step === step).map(row => row.lane.cta)).size;
  check("a cluster is shown whole, of others a CTA",
    view.steps.every(step => lanesOf(step) === step.timeline.cluster));
  check("the times are called what they are",
    byId("range").textContent.endsWith(` ${data.info.tick}s`) && data.info.times.includes(
      data.info.tick), data.info.times);
  check("every step has a Tensor Core track", view.headings.every(heading => heading.core));
  key("timeline", "3");
  check("key 3 hides chapter 03",
    view.headings.length === steps - 1 && !view.headings.some(h => h.step.name.startsWith("03")));
  key("timeline", "3");
  check("key 3 shows it again", view.headings.length === steps);
  check("the table has a row for each result",
    document.querySelectorAll("#results tbody tr").length === data.rows.length);

  /* Zoom and pan. */
  key("timeline", "0");
  const all = view.to - view.from;
  key("timeline", "+");
  check("+ zooms in by 1.5", Math.abs(all / (view.to - view.from) - 1.5) < 0.01,
    `${all} to ${view.to - view.from}`);
  byId("timeline").focus();
  const center = LABELS + plotWidth() / 4, under = timeAt(center);
  byId("lanes").dispatchEvent(Object.assign(new WheelEvent("wheel", {
    deltaY: -100,
    ctrlKey: true,
    bubbles: true,
    cancelable: true,
    clientX: byId("lanes").getBoundingClientRect().left + center
  })));
  check("the wheel zooms around the pointer",
    view.to - view.from < all / 1.5 && Math.abs(timeAt(center) - under) < all / 100);
  const from = view.from;
  key("timeline", "ArrowRight");
  check("the right arrow pans", view.from > from);

  /* A span is found under the pointer and described. */
  fit();
  const row = view.rows.find(
    candidate => candidate.lane.kind === TRACK_TENSOR_CORE && candidate.lane.count > 0);
  const span = row.lane.count >> 1, middle = (row.lane.begin[span] + row.lane.end[span]) / 2;
  show(row.lane.begin[span] - 50, row.lane.end[span] + 50);
  const text = describe(spanAt(placeOf(middle), row.y + 4));
  check("hovering names the span", text.startsWith("multiply") && text.includes(row.step.name),
    text.replace(/\n/g, "; "));
  draw();
  const pixel = byId(
    "lanes").getContext("2d")
                  .getImageData(Math.round(placeOf(middle) * devicePixelRatio),
                    Math.round((row.y + 2) * devicePixelRatio), 1, 1)
                  .data;
  check("and it is green there", pixel[1] > pixel[0] && pixel[1] > pixel[2], [...pixel].join(" "));

  selfTestBarriers(check, key);
  selfTestSpeed(check);
  check("no errors", pageErrors.length === 0, pageErrors.join("; "));
  lines.push(failures ? `selftest: ${failures} FAILED` : "selftest: passed");
  byId("selftest").hidden = false;
  byId("selftest").textContent = lines.join("\n");
}

/* Is the stage of the barrier, after bytes have come, shown as far as they have? */
function memoryShows(event) {
  const slot = /\[(\d+)\]/.exec(barrier.which.name)[1];
  const box = [...byId("memory-stages").children].find(
    box => box.firstChild.textContent === `stage ${slot}`);
  const flying = event.kind === COMPLETE_TX && event.tx > 0;
  const share = Number.parseFloat(box.querySelector("i").style.width);
  return box.className === (flying ? "flight" : "landed") && (flying ? share < 100 : share === 100);
}

/* Steps the first barrier that sees bytes through whole phases, with the rules of the PTX ISA as
 * the measure, and what the page shows against them. */
function selfTestBarriers(check, key) {
  let stepIndex = -1, index = -1;
  for (const step of view.steps) {
    if (index >= 0) break;
    stepIndex = step.index;
    index = step.timeline.barriers.findIndex(which => {
      for (let i = 0; i < eventCount(which); ++i)
        if (eventOf(which, i).kind === COMPLETE_TX) return true;
      return false;
    });
  }
  check("a barrier with a tx-count was recorded", index >= 0);
  if (index < 0) return;
  chooseBarrierStep(stepIndex);
  chooseBarrier(index);
  /** @type {any} */
  let model = null;
  let flips = 0, wrong = "", waited = false;
  const filled = [];
  for (let i = 0; i < eventCount(barrier.which) && flips < 3; ++i) {
    if (i > 0) key("barrier", "k");
    const event = eventOf(barrier.which, i);
    if (i === 0)
      model = {phase: event.phase, pending: event.pending, tx: event.tx};
    else if (event.kind === ARRIVE)
      model.pending -= event.amount;
    else if (event.kind === EXPECT_TX)
      model.tx += event.amount;
    else if (event.kind === COMPLETE_TX)
      model.tx -= event.amount;
    else if (event.kind === FLIP) {
      if (model.pending !== 0 || model.tx !== 0)
        wrong = wrong || `event ${i}: flips with ${model.pending} pending, tx ${model.tx}`;
      model = {phase: model.phase + 1, pending: event.expected, tx: 0};
      ++flips;
    }
    if (event.kind === COMPLETE_TX || event.kind === FLIP) filled.push(memoryShows(event));
    const shown = byId("state-phase").textContent + " | " + byId("state-pending").textContent +
                  " | " + byId("state-tx").textContent;
    const right = `${model.phase}, parity ${model.phase & 1} | ${model.pending} of ${
      event.expected} | ${whole(model.tx)}`;
    if (shown !== right) wrong = wrong || `event ${i}: shows ${shown}, should be ${right}`;
    waited = waited || byId("state-waiting").textContent !== "none";
  }
  check("the stage in shared memory fills with the barrier's bytes", filled.length > 1 &&
    filled.every(Boolean), filled.join());
  check("a barrier steps through a whole phase with the right values", flips >= 1 && !wrong,
    wrong || `${flips} phases`);
  check("waiting threads are shown", waited);
  goTo(0);
  key("barrier", "Enter");
  check("Enter plays", playing !== 0 && byId("play").textContent === "Pause");
  key("barrier", "Enter");
  check("and pauses", playing === 0);
  goTo(0);
  byId("step").focus();
  key("step", "k");
  key("step", "ArrowRight");
  check("keys work at the buttons", barrier.at === 2);
  key("barrier-which", "ArrowDown");
  key("barrier-slider", "ArrowRight");
  check("and leave a list and the slider alone", barrier.at === 2);
  goTo(0);
  key("barrier", "n");
  check("N goes to the flip", eventOf(barrier.which, barrier.at).kind === FLIP);
}

/* 100,000 spans: the recorded ones, repeated one after another. A frame counts when its pixels can
 * be read back. Other processes may take the CPU away for a while, so there are several tries. */
function selfTestSpeed(check) {
  const EVENTS_WANTED = 100000, FRAMES = 40, FRAME_MS = 1000 / 30, TRIES = 5;
  const count = () => view.steps.reduce(
    (sum, step) => sum + step.lanes.reduce((spans, lane) => spans + lane.count, 0), 0);
  const recorded = view.steps, copies = Math.ceil(EVENTS_WANTED / Math.max(1, count()));
  const repeated = data.timelines.map(timeline => ({
    ...timeline,
    tracks: timeline.tracks.map(track => {
      const spans = [], end = recorded.find(step => step.timeline === timeline).end;
      for (let copy = 0; copy < copies; ++copy)
        for (let i = 0; i < track.spans.length; i += SPAN_FIELDS)
          spans.push(track.spans[i] + copy * end, track.spans[i + 1] + copy * end,
            ...track.spans.slice(i + 2, i + SPAN_FIELDS));
      return {...track, spans};
    })
  }));
  view.steps = makeSteps(repeated);
  view.ctas = "all";
  relayOut();
  const spans = count();
  let slowest = 0, total = Infinity;
  for (let attempt = 0; attempt < TRIES && total / FRAMES >= FRAME_MS; ++attempt) {
    slowest = total = 0;
    for (let frame = 0; frame < FRAMES; ++frame) {
      /* From everything down to a thousandth of it, and across. */
      const length = view.end * 1000 ** (-frame / FRAMES),
            start = (view.end - length) * (frame % 7) / 7;
      view.from = start;
      view.to = start + length;
      const before = performance.now();
      draw();
      byId("lanes").getContext("2d").getImageData(0, 0, 1, 1);
      const time = performance.now() - before;
      total += time;
      slowest = Math.max(slowest, frame > 2 ? time : 0);
    }
  }
  check("30 frames a second with 100,000 events",
    spans >= EVENTS_WANTED && total / FRAMES < FRAME_MS,
    `${spans} spans, ${(1000 * FRAMES / total).toFixed(0)} frames a second, slowest frame ${
      slowest.toFixed(1)} ms`);
  view.steps = recorded;
  view.ctas = "cluster";
  relayOut();
  beginning();
}

if (location.hash === "#selftest") selfTest();
