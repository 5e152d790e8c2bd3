/* model.js: the tracks in columns, and questions about them. */

const KINDS = [
  "load in flight", "multicast load in flight", "data held", "wait for a free stage",
  "wait for data", "fragment loads", "issue wgmma", "multiply", "CUDA-core arithmetic", "epilogue",
  "store", "multiply for another CTA of the SM", "crosses the link", "promotion",
  "special-function unit"
];
const KIND_COLORS = [
  "load", "multicast", "held", "acquire", "wait", "fragments", "issue", "mma", "fma", "epilogue",
  "store", "other", "link", "fma", "fma"
];
const [SPAN_LOAD, SPAN_MULTICAST, SPAN_HELD, SPAN_ACQUIRE, SPAN_WAIT] = [0, 1, 2, 3, 4];
const SPAN_MMA = 7;
const [TRACK_SLOT, TRACK_TENSOR_CORE] = [0, 4];
const SECOND_CONSUMER = 2;
const SPAN_FIELDS = 7; /* begin, end, kind, inferred, role, k-tile, output tile */

/* Turns a track's flat list into columns. covered[i]: cycles covered by the spans before span i. */
function columnsOf(track) {
  const count = track.spans.length / SPAN_FIELDS;
  const lane = {
    name: track.name,
    kind: track.kind,
    cta: track.cta,
    sm: track.sm,
    count,
    begin: new Float64Array(count),
    end: new Float64Array(count),
    covered: new Float64Array(count + 1),
    type: new Uint8Array(count),
    inferred: new Uint8Array(count),
    color: new Uint8Array(count),
    role: new Int8Array(count),
    kTile: new Int32Array(count),
    tile: new Int32Array(count)
  };
  for (let i = 0, at = 0; i < count; ++i, at += SPAN_FIELDS) {
    const spans = track.spans;
    lane.begin[i] = spans[at];
    lane.end[i] = spans[at + 1];
    lane.type[i] = spans[at + 2];
    lane.inferred[i] = spans[at + 3];
    lane.role[i] = spans[at + 4];
    lane.kTile[i] = spans[at + 5];
    lane.tile[i] = spans[at + 6];
    lane.covered[i + 1] = lane.covered[i] + lane.end[i] - lane.begin[i];
    /* The two consumers' multiplications have two greens. */
    lane.color[i] =
      lane.type[i] === SPAN_MMA && lane.role[i] === SECOND_CONSUMER ? KINDS.length : lane.type[i];
  }
  return lane;
}

/* The first span that ends after `time`; lane.count if none does. */
function firstAfter(lane, time, low = 0) {
  let high = lane.count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lane.end[middle] <= time)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Cycles of [0, time) that are covered, where `i` is firstAfter(lane, time). */
function coveredBefore(lane, time, i) {
  if (i >= lane.count) return lane.covered[lane.count];
  return lane.covered[i] + Math.max(0, time - lane.begin[i]);
}

function coverage(lane, from, to) {
  if (to <= from) return 0;
  return (coveredBefore(lane, to, firstAfter(lane, to)) -
           coveredBefore(lane, from, firstAfter(lane, from))) /
         (to - from);
}

const nameOf = timeline => timeline.name + (timeline.variant ? " " + timeline.variant : "");

function makeSteps(timelines) {
  return timelines.map((timeline, index) => {
    const lanes = timeline.tracks.map(columnsOf);
    let end = 1;
    for (const lane of lanes)
      if (lane.count) end = Math.max(end, lane.end[lane.count - 1]);
    return {
      index,
      name: nameOf(timeline),
      timeline,
      lanes,
      end,
      shownEnd: end, /* of the lanes that are drawn */
      hazards: timeline.hazards || [],
      ctas: [...new Set(lanes.map(lane => lane.cta))],
      visible: true
    };
  });
}
