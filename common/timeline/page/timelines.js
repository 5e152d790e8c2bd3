/* timelines.js: the stages below each other on one time axis.
 *
 * However many spans there are, a frame draws at most one rectangle per lane and pixel: where spans are finer than pixels,
 * a pixel's strength is the share of its time that is covered. */

const LABELS = 168, RIGHT = 10, HEADING = 24, LANE = 14, SLOT_LANE = 8, CORE_LANE = 18, LANE_GAP = 2, STAGE_GAP = 12;
const RULER = 24, CLOSEST = 20; /* cycles that fill the view at the largest zoom */

const view = { stages: [], from: 0, to: 1, end: 1, ctas: "1", width: 0, height: 0, rows: [], headings: [],
  colors: {}, cursor: null, pointer: null, marking: null };

const plotWidth = () => Math.max(50, view.width - LABELS - RIGHT);
const timeAt = x => view.from + (x - LABELS) / plotWidth() * (view.to - view.from);
const placeOf = time => LABELS + (time - view.from) / (view.to - view.from) * plotWidth();

function readColors() {
  const style = getComputedStyle(document.documentElement);
  const color = name => style.getPropertyValue("--" + name).trim();
  view.colors = { kinds: [...KIND_COLORS, "mma1"].map(color) };
  for (const name of ["bg", "fg", "soft", "line", "lane", "idle", "ink", "accent", "hatch"])
    view.colors[name] = color(name);
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const pen = tile.getContext("2d");
  pen.strokeStyle = view.colors.hatch;
  pen.lineWidth = 2;
  for (const x of [-6, 0, 6]) {
    pen.beginPath();
    pen.moveTo(x - 1, 7);
    pen.lineTo(x + 7, -1);
    pen.stroke();
  }
  view.colors.pattern = pen.createPattern(tile, "repeat");
}

/* ---- layout ---- */

function shownCtas(stage) {
  const count = view.ctas === "all" ? stage.ctas.length : Number(view.ctas);
  return new Set(stage.ctas.slice(0, count));
}

function layOut() {
  view.rows = [];
  view.headings = [];
  let y = 4;
  for (const stage of view.stages) {
    if (!stage.visible) continue;
    const ctas = shownCtas(stage);
    const heading = { stage, y, core: null };
    view.headings.push(heading);
    y += HEADING;
    let last = null;
    for (const lane of stage.lanes) {
      if (!ctas.has(lane.cta)) continue;
      if (lane.kind === TRACK_TENSOR_CORE && !heading.core) heading.core = lane;
      if (last !== null && lane.cta !== last) y += 6;
      last = lane.cta;
      const height = lane.kind === TRACK_TENSOR_CORE ? CORE_LANE : lane.kind === TRACK_SLOT ? SLOT_LANE : LANE;
      view.rows.push({ lane, stage, y, height, label: ctas.size > 1 ? `CTA ${lane.cta} ${lane.name}` : lane.name });
      y += height + LANE_GAP;
    }
    y += STAGE_GAP;
  }
  view.height = Math.max(y, 60);
  view.end = Math.max(1, ...view.stages.filter(stage => stage.visible).map(stage => stage.end));
}

function sizeCanvas(canvas, width, height) {
  const ratio = devicePixelRatio || 1;
  canvas.style.height = height + "px";
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return pen;
}

/* ---- drawing ---- */

/* One lane where the spans are wide enough to be seen one by one. */
function drawSpans(pen, row, first) {
  const { lane, y, height } = row, scale = plotWidth() / (view.to - view.from), right = view.width - RIGHT;
  let color = -1;
  for (let i = first; i < lane.count && lane.begin[i] < view.to; ++i) {
    let left = LABELS + (lane.begin[i] - view.from) * scale, end = LABELS + (lane.end[i] - view.from) * scale;
    if (left < LABELS) left = LABELS;
    if (end > right) end = right;
    const gap = end - left > 5 ? 0.7 : 0;
    if (lane.color[i] !== color) pen.fillStyle = view.colors.kinds[color = lane.color[i]];
    pen.fillRect(left, y, Math.max(end - left - gap, 0.6), height);
    if (lane.inferred[i] && end - left > 4 && height >= 8) {
      pen.fillStyle = view.colors.pattern;
      pen.fillRect(left, y, end - left - gap, height);
      color = -1;
    }
    if (lane.kTile[i] >= 0 && height >= LANE && end - left > 12) {
      const text = String(lane.kTile[i]);
      if (end - left < 7 * text.length + 4) continue;
      pen.fillStyle = lane.type[i] === SPAN_HELD || lane.type[i] === SPAN_ACQUIRE ? view.colors.fg : view.colors.ink;
      pen.fillText(text, (left + end) / 2 - 3 * text.length, y + height / 2 + 0.5);
      color = -1;
    }
  }
}

/* One lane whose spans are finer than pixels. */
function drawDensity(pen, row, first) {
  const { lane, y, height } = row, step = (view.to - view.from) / plotWidth();
  let i = first, before = coveredBefore(lane, view.from, i);
  let runStart = 0, runColor = -1, runLevel = -1;
  const flush = x => {
    if (runLevel > 0) {
      pen.fillStyle = view.colors.kinds[runColor];
      pen.globalAlpha = runLevel / 16;
      pen.fillRect(LABELS + runStart, y, x - runStart, height);
    }
    runStart = x;
  };
  const columns = Math.floor(plotWidth());
  for (let x = 0; x < columns; ++x) {
    const until = view.from + (x + 1) * step, color = i < lane.count ? lane.color[i] : -1;
    i = firstAfter(lane, until, i);
    const after = coveredBefore(lane, until, i);
    const share = (after - before) / step;
    before = after;
    /* Sixteen levels, never none where there is something. */
    const level = share > 0 ? Math.max(1, Math.round(16 * Math.min(1, share))) : 0;
    if (level !== runLevel || (level > 0 && color !== runColor)) {
      flush(x);
      runLevel = level;
      runColor = color;
    }
  }
  flush(columns);
  pen.globalAlpha = 1;
}

function drawRow(pen, row) {
  const { lane, y, height } = row;
  pen.fillStyle = lane.kind === TRACK_TENSOR_CORE ? view.colors.idle : view.colors.lane;
  pen.fillRect(LABELS, y, plotWidth(), height);
  const first = firstAfter(lane, view.from);
  const visible = firstAfter(lane, view.to, first) - first;
  if (visible > plotWidth() / 3) drawDensity(pen, row, first);
  else drawSpans(pen, row, first);
}

function drawHeading(pen, heading) {
  const { stage, y, core } = heading;
  pen.fillStyle = view.colors.bg; /* over the grid */
  pen.fillRect(LABELS, y, plotWidth(), HEADING - 1);
  pen.font = "600 13px system-ui, sans-serif";
  pen.fillStyle = view.colors.fg;
  pen.fillText(stage.name, 8, y + 12);
  const nameWidth = pen.measureText(stage.name).width;
  pen.font = "12px system-ui, sans-serif";
  pen.fillStyle = view.colors.soft;
  let note = core && core.count ? `Tensor Core busy ${percent(coverage(core, view.from, Math.min(view.to, stage.end)))} of this view`
    : "Tensor Core not used";
  if (view.from >= stage.end) note = "ended";
  const left = view.width - RIGHT - pen.measureText(note).width;
  pen.fillText(note, left, y + 12);
  const technique = stage.timeline.technique || "";
  if (8 + nameWidth + 12 + pen.measureText(technique).width < left - 12)
    pen.fillText(technique, 8 + nameWidth + 12, y + 12);
}

function tickStep() {
  const ideal = (view.to - view.from) / Math.max(2, plotWidth() / 110), power = 10 ** Math.floor(Math.log10(ideal));
  return power * [1, 2, 5, 10].find(factor => factor * power >= ideal);
}

function forTicks(each) {
  const step = tickStep();
  for (let time = Math.ceil(view.from / step) * step; time <= view.to; time += step) each(time, placeOf(time));
}

function drawRuler() {
  const pen = sizeCanvas(byId("ruler"), view.width, RULER);
  pen.clearRect(0, 0, view.width, RULER);
  pen.font = "11px system-ui, sans-serif";
  pen.textBaseline = "middle";
  pen.fillStyle = view.colors.soft;
  pen.fillText(data.info.simulated ? "simulated cycles" : "SM clock cycles", 8, RULER / 2);
  forTicks((time, x) => {
    pen.fillRect(x, 14, 1, RULER - 14);
    if (x < view.width - 50) pen.fillText(whole(time), x + 4, RULER / 2);
  });
}

function draw() {
  const pen = sizeCanvas(byId("lanes"), view.width, view.height);
  pen.clearRect(0, 0, view.width, view.height);
  pen.textBaseline = "middle";
  pen.fillStyle = view.colors.line;
  forTicks((time, x) => pen.fillRect(x, 0, 1, view.height));
  for (const heading of view.headings) drawHeading(pen, heading);
  pen.font = "10px system-ui, sans-serif";
  for (const row of view.rows) drawRow(pen, row);
  pen.font = "11px system-ui, sans-serif";
  pen.fillStyle = view.colors.fg;
  let slots = 0;
  for (const row of view.rows) {
    /* The stages of the ring are too low for a label each. */
    slots = row.lane.kind === TRACK_SLOT ? slots + 1 : 0;
    if (slots > 1) continue;
    const label = slots ? (row.label.includes("CTA") ? `CTA ${row.lane.cta} ` : "") + "loads by stage" : row.label;
    pen.fillText(label, LABELS - 8 - pen.measureText(label).width, row.y + row.height / 2 + 0.5);
  }
  drawCursors(pen);
  drawRuler();
  byId("range").textContent = `${whole(view.from)} \u2013 ${whole(view.to)} cycles`;
}

function drawCursors(pen) {
  if (view.cursor && view.cursor.time >= view.from && view.cursor.time <= view.to) {
    pen.fillStyle = view.colors.accent;
    pen.fillRect(placeOf(view.cursor.time) - 0.75, 0, 1.5, view.height);
  }
  if (view.marking) {
    pen.fillStyle = view.colors.accent;
    pen.globalAlpha = 0.2;
    pen.fillRect(Math.min(view.marking.from, view.marking.to), 0, Math.abs(view.marking.to - view.marking.from), view.height);
    pen.globalAlpha = 1;
  }
}

let scheduled = false;
function redraw() {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(() => {
    scheduled = false;
    draw();
  });
}

/* ---- moving ---- */

function show(from, to) {
  const length = Math.min(Math.max(to - from, CLOSEST), view.end * 1.02);
  view.from = Math.min(Math.max(from, -0.01 * view.end), view.end * 1.01 - length);
  view.to = view.from + length;
  redraw();
}

function zoom(factor, around = (view.from + view.to) / 2) {
  show(around - (around - view.from) / factor, around + (view.to - around) / factor);
}

const pan = share => show(view.from + share * (view.to - view.from), view.to + share * (view.to - view.from));
const fit = () => show(0, view.end);

/* The beginning: so much that the shortest stage fills two thirds, but at most some twenty k-tiles of the fastest. */
function beginning() {
  const visible = view.stages.filter(stage => stage.visible);
  const shortest = Math.min(view.end, ...visible.map(stage => stage.end));
  const periods = visible.map(stage => stage.timeline.k_tile_period).filter(period => period > 0);
  show(0, Math.min(1.5 * shortest, ...periods.map(period => 24 * period + 1500)));
}

function spanAt(x, y) {
  const row = view.rows.find(row => y >= row.y - 1 && y < row.y + row.height + 1);
  if (!row || x < LABELS || x > view.width - RIGHT) return null;
  const reach = 2 / plotWidth() * (view.to - view.from), time = timeAt(x), i = firstAfter(row.lane, time - reach);
  return { row, time, i: i < row.lane.count && row.lane.begin[i] <= time + reach ? i : -1 };
}

function describe(hit) {
  const { row, time, i } = hit, lane = row.lane;
  const place = `${row.stage.name}, ${lane.name}\nCTA ${lane.cta} on SM ${lane.sm}`;
  if (i < 0) return `${lane.kind === TRACK_TENSOR_CORE ? "idle" : "nothing"} at ${whole(time)}\n${place}`;
  let text = KINDS[lane.type[i]];
  if (lane.kTile[i] >= 0) text += `, k-tile ${lane.kTile[i]}`;
  if (lane.tile[i] >= 0) text += `, output tile ${lane.tile[i]}`;
  text += `\n${whole(lane.begin[i])} \u2013 ${whole(lane.end[i])}: ${whole(lane.end[i] - lane.begin[i])} cycles`;
  if (lane.inferred[i]) text += "\ninferred from issue and observed completion";
  return text + "\n" + place;
}

function showTooltip(x, y) {
  const tooltip = byId("tooltip"), hit = spanAt(x, y);
  tooltip.hidden = !hit;
  if (!hit) return;
  tooltip.textContent = describe(hit);
  tooltip.style.left = Math.max(0, Math.min(x + 14, view.width - tooltip.offsetWidth - 8)) + "px";
  tooltip.style.top = y + RULER + 18 + "px";
}

/* ---- input ---- */

function listenToPointer() {
  const canvas = byId("lanes"), box = byId("timeline");
  canvas.addEventListener("pointerdown", event => {
    canvas.setPointerCapture(event.pointerId);
    view.pointer = { x: event.offsetX, from: view.from, to: view.to };
    view.marking = event.shiftKey ? { from: event.offsetX, to: event.offsetX } : null;
    canvas.style.cursor = event.shiftKey ? "col-resize" : "grabbing";
    byId("tooltip").hidden = true;
  });
  canvas.addEventListener("pointermove", event => {
    if (view.marking) {
      view.marking.to = event.offsetX;
      redraw();
    } else if (view.pointer) {
      const moved = (event.offsetX - view.pointer.x) / plotWidth() * (view.pointer.to - view.pointer.from);
      show(view.pointer.from - moved, view.pointer.to - moved);
    } else {
      showTooltip(event.offsetX, event.offsetY);
    }
  });
  const release = () => {
    const marked = view.marking;
    view.pointer = view.marking = null;
    canvas.style.cursor = "";
    if (marked && Math.abs(marked.to - marked.from) > 4)
      show(timeAt(Math.min(marked.from, marked.to)), timeAt(Math.max(marked.from, marked.to)));
    else if (marked) redraw();
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => { byId("tooltip").hidden = true; });
  canvas.addEventListener("dblclick", event => zoom(3, timeAt(event.offsetX)));
  box.addEventListener("wheel", event => {
    /* An unfocused timeline lets the page scroll. */
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== box) return;
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((event.deltaX || event.deltaY) / 1000);
    else zoom(Math.exp(-Math.max(-100, Math.min(100, event.deltaY)) / 300), timeAt(event.offsetX));
  }, { passive: false });
}

function timelineKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const actions = { "+": () => zoom(1.5), "=": () => zoom(1.5), "-": () => zoom(1 / 1.5), "0": fit, b: beginning,
    B: beginning, ArrowLeft: () => pan(-0.15), ArrowRight: () => pan(0.15), Home: () => show(0, view.to - view.from),
    End: () => show(view.end - (view.to - view.from), view.end) };
  if (event.key >= "1" && event.key <= "9") {
    const stage = view.stages[Number(event.key) - 1];
    if (!stage) return;
    stage.box.click();
  } else if (actions[event.key]) {
    actions[event.key]();
  } else {
    return;
  }
  event.preventDefault();
}

function relayOut() {
  view.width = byId("timeline").clientWidth;
  layOut();
  redraw();
}

function makeLegend() {
  const used = new Set();
  for (const stage of view.stages) for (const lane of stage.lanes) for (const type of lane.type) used.add(type);
  const entry = (color, text, name) => {
    const swatch = element("i", name ? { class: name } : {});
    if (color) swatch.style.background = `var(--${color})`;
    byId("legend").append(element("span", {}, swatch, text));
  };
  KINDS.forEach((kind, i) => { if (used.has(i)) entry(KIND_COLORS[i], kind); });
  if (view.stages.some(stage => stage.lanes.some(lane => lane.role.includes(SECOND_CONSUMER))))
    entry("mma1", "multiply, consumer 1");
  entry("idle", "Tensor Core idle");
  if (view.stages.some(stage => stage.lanes.some(lane => lane.inferred.includes(1))))
    entry(null, "inferred, not recorded", "hatch");
}

function startTimelines() {
  view.stages = makeStages(data.timelines);
  for (const stage of view.stages) {
    stage.box = element("input", { type: "checkbox", checked: "" });
    stage.box.addEventListener("change", () => {
      stage.visible = stage.box.checked;
      relayOut();
    });
    byId("stages").append(element("label", { class: "chip" }, stage.box, stage.name));
  }
  const most = Math.max(1, ...view.stages.map(stage => stage.ctas.length));
  for (const [value, text] of [["1", "the first"], ["2", "the first two"], ["all", `all recorded (${most})`]])
    if (value !== "2" || most > 2) byId("ctas").append(element("option", { value }, text));
  byId("ctas").addEventListener("change", event => {
    view.ctas = event.target.value;
    relayOut();
  });
  byId("zoom-in").addEventListener("click", () => zoom(1.5));
  byId("zoom-out").addEventListener("click", () => zoom(1 / 1.5));
  byId("fit").addEventListener("click", fit);
  byId("beginning").addEventListener("click", beginning);
  byId("timeline").addEventListener("keydown", timelineKey);
  listenToPointer();
  readColors();
  makeLegend();
  relayOut();
  beginning();
  new ResizeObserver(() => { if (byId("timeline").clientWidth !== view.width) relayOut(); }).observe(byId("timeline"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    readColors();
    redraw();
  });
}
