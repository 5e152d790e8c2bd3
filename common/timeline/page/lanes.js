/* lanes.js: the steps below each other on one time axis.
 *
 * However many spans there are, a frame draws only the lanes that are on the screen, and at most
 * one rectangle per lane and pixel: where spans are finer than pixels, a pixel's strength is the
 * share of its time that is covered. */

let LABELS = 168, HEADING = 24; /* layOut() fits them to the width */
const RIGHT = 10, NARROW = 620, MARKS = 15, LANE = 14, SLOT_LANE = 8, CORE_LANE = 18,
      LANE_GAP = 2, STAGE_GAP = 12;
const RULER = 24, CLOSEST = 20; /* cycles that fill the view at the largest zoom */

const view = {
  steps: [],
  from: 0,
  to: 1,
  end: 1,
  ctas: "cluster",
  width: 0,
  height: 0,
  rows: [],
  headings: [],
  colors: {},
  cursor: null,
  pointer: null,
  marking: null
};

const plotWidth = () => Math.max(50, view.width - LABELS - RIGHT);
const timeAt = x => view.from + (x - LABELS) / plotWidth() * (view.to - view.from);
const placeOf = time => LABELS + (time - view.from) / (view.to - view.from) * plotWidth();

function readColors() {
  const style = getComputedStyle(document.documentElement);
  const color = name => style.getPropertyValue("--" + name).trim();
  view.colors = {kinds: [...KIND_COLORS, "mma1"].map(color)};
  for (const name of ["bg", "fg", "soft", "line", "lane", "idle", "ink", "accent", "hatch", "bad"])
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

function shownCtas(step) {
  const count = view.ctas === "all" ? step.ctas.length :
    view.ctas === "cluster"         ? step.timeline.cluster :
                                      Number(view.ctas);
  const accused = step.hazards.flatMap(hazard => hazard.sides.map(side => side.cta));
  return new Set([...step.ctas.slice(0, count), ...accused]);
}

function layOut() {
  view.rows = [];
  view.headings = [];
  view.narrow = view.width < NARROW;
  LABELS = view.narrow ? 92 : 168;
  HEADING = view.narrow ? 40 : 24; /* the note has a line of its own */
  let y = 4;
  for (const step of view.steps) {
    if (!step.visible) continue;
    const ctas = shownCtas(step);
    const heading = {step, y, core: null, bottom: y};
    view.headings.push(heading);
    y += HEADING + MARKS * step.hazards.slice(0, SHOWN_HAZARDS).flatMap(marksOf).length;
    step.shownEnd = 1;
    let last = null;
    for (const lane of step.lanes) {
      if (!ctas.has(lane.cta)) continue;
      if (lane.kind === TRACK_TENSOR_CORE && !heading.core) heading.core = lane;
      if (last !== null && lane.cta !== last) y += 6;
      last = lane.cta;
      if (lane.count) step.shownEnd = Math.max(step.shownEnd, lane.end[lane.count - 1]);
      const height = lane.kind === TRACK_TENSOR_CORE ? CORE_LANE :
                     lane.kind === TRACK_SLOT        ? SLOT_LANE :
                                                       LANE;
      view.rows.push({
        lane,
        step,
        y,
        height,
        label: ctas.size > 1 ? `CTA ${lane.cta} ${lane.name}` : lane.name
      });
      y += height + LANE_GAP;
    }
    heading.bottom = y;
    y += STAGE_GAP;
  }
  view.height = Math.max(y, 60);
  view.end = Math.max(1, ...view.steps.filter(step => step.visible).map(step => step.end));
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
  const {lane, y, height} = row, scale = plotWidth() / (view.to - view.from),
                  right = view.width - RIGHT;
  let color = -1;
  for (let i = first; i < lane.count && lane.begin[i] < view.to; ++i) {
    let left = LABELS + (lane.begin[i] - view.from) * scale,
        end = LABELS + (lane.end[i] - view.from) * scale;
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
      pen.fillStyle = lane.type[i] === SPAN_HELD || lane.type[i] === SPAN_ACQUIRE ? view.colors.fg :
                                                                                    view.colors.ink;
      pen.fillText(text, (left + end) / 2 - 3 * text.length, y + height / 2 + 0.5);
      color = -1;
    }
  }
}

/* One lane whose spans are finer than pixels. */
function drawDensity(pen, row, first) {
  const {lane, y, height} = row, step = (view.to - view.from) / plotWidth();
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
  const {lane, y, height} = row;
  pen.fillStyle = lane.kind === TRACK_TENSOR_CORE ? view.colors.idle : view.colors.lane;
  pen.fillRect(LABELS, y, plotWidth(), height);
  const first = firstAfter(lane, view.from);
  const visible = firstAfter(lane, view.to, first) - first;
  if (visible > plotWidth() / 3)
    drawDensity(pen, row, first);
  else
    drawSpans(pen, row, first);
}

function drawHeading(pen, heading) {
  const {step, y, core} = heading;
  pen.fillStyle = view.colors.bg; /* over the grid */
  pen.fillRect(LABELS, y, plotWidth() + RIGHT, HEADING - 1);
  pen.font = "600 13px system-ui, sans-serif";
  pen.fillStyle = view.colors.fg;
  pen.fillText(step.name, 8, y + 12);
  const nameWidth = pen.measureText(step.name).width;
  pen.font = "12px system-ui, sans-serif";
  pen.fillStyle = view.colors.soft;
  let note = !core || !core.count       ? "Tensor Core not used" :
               data.info.tick === "step" ? "" : /* steps have no length */
                                           `${step.timeline.busy_means} ${
                 percent(coverage(core, view.from, Math.min(view.to, step.end)))} of this view`;
  if (view.from >= step.end) note = "ended";
  const left = view.narrow ? 8 : view.width - RIGHT - pen.measureText(note).width;
  pen.fillText(note, left, view.narrow ? y + 28 : y + 12);
  if (view.narrow) return;
  const {tile, cluster} = step.timeline,
        technique = `${step.timeline.technique || ""}; tile ${tile.join(" \u00d7 ")}${
          cluster > 1 ? `, cluster of ${cluster}` : ""}`;
  if (tile[0] && 8 + nameWidth + 12 + pen.measureText(technique).width < left - 12)
    pen.fillText(technique, 8 + nameWidth + 12, y + 12);
}

function tickStep() {
  const ideal = (view.to - view.from) / Math.max(2, plotWidth() / 110),
        power = 10 ** Math.floor(Math.log10(ideal));
  return power * [1, 2, 5, 10].find(factor => factor * power >= ideal);
}

function forTicks(each) {
  const step = tickStep();
  for (let time = Math.ceil(view.from / step) * step; time <= view.to; time += step)
    each(time, placeOf(time));
}

function drawRuler() {
  const pen = sizeCanvas(byId("ruler"), view.width, RULER);
  pen.clearRect(0, 0, view.width, RULER);
  pen.font = "11px system-ui, sans-serif";
  pen.textBaseline = "middle";
  pen.fillStyle = view.colors.soft;
  if (!view.narrow) pen.fillText(data.info.times, 8, RULER / 2);
  forTicks((time, x) => {
    pen.fillRect(x, 14, 1, RULER - 14);
    const text = whole(time), fits = x + 4 + pen.measureText(text).width <= view.width;
    pen.fillText(text, fits ? x + 4 : x - 4 - pen.measureText(text).width, RULER / 2);
  });
}

/* The lanes' y that are on the screen, with a margin for scrolling; all of them while printing. */
function onScreen() {
  if (view.printing) return [0, view.height];
  const top = byId("lanes").getBoundingClientRect().top, margin = 300;
  return [-top - margin, innerHeight - top + margin];
}

function draw() {
  const [top, bottom] = onScreen(), seen = item => item.y < bottom && item.y + HEADING > top;
  const pen = sizeCanvas(byId("lanes"), view.width, view.height);
  pen.clearRect(0, 0, view.width, view.height);
  pen.textBaseline = "middle";
  pen.fillStyle = view.colors.line;
  forTicks((time, x) => pen.fillRect(x, 0, 1, view.height));
  for (const heading of view.headings.filter(seen)) drawHeading(pen, heading);
  pen.font = "10px system-ui, sans-serif";
  for (const row of view.rows.filter(seen)) drawRow(pen, row);
  if (!view.headings.length) {
    pen.fillStyle = view.colors.soft;
    pen.fillText("No step is chosen: tick one above.", 8, 30);
  }
  pen.font = `${view.narrow ? 10 : 11}px system-ui, sans-serif`;
  pen.fillStyle = view.colors.fg;
  let slots = 0;
  for (const row of view.rows) {
    /* The stages of the ring are too low for a label each. */
    slots = row.lane.kind === TRACK_SLOT ? slots + 1 : 0;
    if (slots > 1 || !seen(row)) continue;
    const label = slots ?
                    (row.label.includes("CTA") ? `CTA ${row.lane.cta} ` : "") + "loads by stage" :
                                                 row.label;
    const room = LABELS - 12, length = Math.min(room, pen.measureText(label).width);
    pen.fillText(label, LABELS - 8 - length, row.y + row.height / 2 + 0.5, room);
  }
  for (const heading of view.headings) drawHazards(pen, heading);
  drawCursors(pen);
  drawRuler();
  byId("range").textContent = `${whole(view.from)} \u2013 ${whole(view.to)} ${data.info.tick}s`;
}

function drawCursors(pen) {
  if (view.cursor && view.cursor.time >= view.from && view.cursor.time <= view.to) {
    pen.fillStyle = view.colors.accent;
    pen.fillRect(placeOf(view.cursor.time) - 0.75, 0, 1.5, view.height);
  }
  if (view.marking) {
    pen.fillStyle = view.colors.accent;
    pen.globalAlpha = 0.2;
    pen.fillRect(Math.min(view.marking.from, view.marking.to), 0,
      Math.abs(view.marking.to - view.marking.from), view.height);
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
