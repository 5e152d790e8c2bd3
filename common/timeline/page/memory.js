/* memory.js: the ring in shared memory at the time of a barrier's event: of each stage how many bytes
 * have landed, are in flight, are held for their readers, or are stale: read, and not yet
 * overwritten. */

const STATES = {
  never: "not written yet",
  flight: "in flight",
  landed: "landed, in use",
  stale: "stale: free to be overwritten"
};

/* The last span of a lane that has begun by `time`; -1. */
function spanBegun(lane, time) {
  let i = firstAfter(lane, time);
  if (i < lane.count && lane.begin[i] <= time) return i;
  return i - 1;
}

function stateOfSlot(lane, time) {
  const i = spanBegun(lane, time);
  if (i < 0) return {name: "never", kTile: -1};
  const kTile = lane.kTile[i], over = lane.end[i] <= time;
  const next = i + 1 < lane.count ? lane.type[i + 1] : -1;
  if (lane.type[i] === SPAN_HELD) return {name: over ? "stale" : "landed", kTile};
  /* What has landed is held from then on, also if no reader has come yet. */
  return {name: !over ? "flight" : next === SPAN_HELD ? "landed" : "stale", kTile};
}

/* The barrier that counts the bytes of stage `slot`. */
const fullBarrierOf = (timeline, cta, slot) => timeline.barriers.find(
  which => which.cta === cta && which.name.includes(`[${slot}]`) &&
           eventsOf(which).some((_, i) => eventOf(which, i).kind === EXPECT_TX));

/* Bytes that the phase under way has announced, and those of them that are to come. */
function bytesAt(which, time) {
  let announced = 0, missing = 0;
  for (let i = 0; i < which.events.length / EVENT_FIELDS; ++i) {
    const event = recordOf(which, i);
    if (event.cycle > time) break;
    if (event.kind === EXPECT_TX) announced = Math.max(announced, event.amount);
    missing = Math.max(0, event.tx);
  }
  return {announced, missing};
}

function slotBox(lane, slot, time) {
  const {timeline} = barrier.step, {name, kTile} = stateOfSlot(lane, time);
  const full = fullBarrierOf(timeline, lane.cta, slot);
  const {announced, missing} = full ? bytesAt(full, time) : {announced: 0, missing: 0};
  const landed = name === "flight" ? announced - missing : name === "never" ? 0 : announced;
  const bar = element("div", {class: "bytes"}, element("i", {}));
  bar.firstChild.style.width = announced ? `${100 * landed / announced}%` : "0";
  const bytes = name === "flight" && announced ?
    `${whole(landed)} of ${whole(announced)} bytes` : announced ? `${whole(announced)} bytes` : "";
  return element("li", {class: name}, element("b", {}, `stage ${slot}`),
    kTile >= 0 && name !== "never" ? `, k-tile ${kTile}` : "", bar, STATES[name],
    element("br"), bytes);
}

function showMemory(time) {
  const lanes = barrier.step.lanes.filter(
    lane => lane.kind === TRACK_SLOT && lane.cta === barrier.which.cta);
  byId("memory").hidden = lanes.length === 0;
  byId("memory-cta").textContent = barrier.which.cta;
  byId("memory-stages").replaceChildren(
    ...lanes.map((lane, i) => slotBox(lane, Number(/\d+/.exec(lane.name)?.[0] ?? i), time)));
}
