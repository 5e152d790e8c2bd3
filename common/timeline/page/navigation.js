/* navigation.js: moving through the timelines: zoom, pan, hover, selection, by mouse and by
 * keyboard. */

function show(from, to) {
  const length = Math.min(Math.max(to - from, CLOSEST), view.end * 1.02);
  view.from = Math.min(Math.max(from, -0.01 * view.end), view.end * 1.01 - length);
  view.to = view.from + length;
  redraw();
}

function zoom(factor, around = (view.from + view.to) / 2) {
  show(around - (around - view.from) / factor, around + (view.to - around) / factor);
}

const pan = share =>
  show(view.from + share * (view.to - view.from), view.to + share * (view.to - view.from));
const fit = () => show(0, view.end);

/* The beginning: so much that the shortest stage fills two thirds, but at most some twenty k-tiles
 * of the fastest. */
function beginning() {
  const visible = view.stages.filter(stage => stage.visible);
  const shortest = Math.min(view.end, ...visible.map(stage => stage.end));
  const periods = visible.map(stage => stage.timeline.k_tile_period).filter(period => period > 0);
  show(0, Math.min(1.5 * shortest, ...periods.map(period => 24 * period + 1500)));
}

function spanAt(x, y) {
  const row = view.rows.find(row => y >= row.y - 1 && y < row.y + row.height + 1);
  if (!row || x < LABELS || x > view.width - RIGHT) return null;
  const reach = 2 / plotWidth() * (view.to - view.from), time = timeAt(x),
        i = firstAfter(row.lane, time - reach);
  return {row, time, i: i < row.lane.count && row.lane.begin[i] <= time + reach ? i : -1};
}

function describe(hit) {
  const {row, time, i} = hit, lane = row.lane;
  const place = `${row.stage.name}, ${lane.name}\nCTA ${lane.cta} on SM ${lane.sm}`;
  if (i < 0)
    return `${lane.kind === TRACK_TENSOR_CORE ? "idle" : "nothing"} at ${whole(time)}\n${place}`;
  let text = KINDS[lane.type[i]];
  if (lane.kTile[i] >= 0) text += `, k-tile ${lane.kTile[i]}`;
  if (lane.tile[i] >= 0) text += `, output tile ${lane.tile[i]}`;
  text += `\n${whole(lane.begin[i])} \u2013 ${whole(lane.end[i])}: ${
    whole(lane.end[i] - lane.begin[i])} ${data.info.tick}s`;
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
    view.pointer = {x: event.offsetX, from: view.from, to: view.to};
    view.marking = event.shiftKey ? {from: event.offsetX, to: event.offsetX} : null;
    canvas.style.cursor = event.shiftKey ? "col-resize" : "grabbing";
    byId("tooltip").hidden = true;
  });
  canvas.addEventListener("pointermove", event => {
    if (view.marking) {
      view.marking.to = event.offsetX;
      redraw();
    } else if (view.pointer) {
      const moved =
        (event.offsetX - view.pointer.x) / plotWidth() * (view.pointer.to - view.pointer.from);
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
    else if (marked)
      redraw();
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => {
    byId("tooltip").hidden = true;
  });
  canvas.addEventListener("dblclick", event => zoom(3, timeAt(event.offsetX)));
  box.addEventListener("wheel", event => {
    /* An unfocused timeline lets the page scroll. */
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== box) return;
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
      pan((event.deltaX || event.deltaY) / 1000);
    else
      zoom(Math.exp(-Math.max(-100, Math.min(100, event.deltaY)) / 300), timeAt(event.offsetX));
  }, {passive: false});
}

function timelineKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const actions = {
    "+": () => zoom(1.5),
    "=": () => zoom(1.5),
    "-": () => zoom(1 / 1.5),
    "0": fit,
    b: beginning,
    B: beginning,
    ArrowLeft: () => pan(-0.15),
    ArrowRight: () => pan(0.15),
    Home: () => show(0, view.to - view.from),
    End: () => show(view.end - (view.to - view.from), view.end)
  };
  if (event.key >= "1" && event.key <= "9") {
    for (const stage of view.stages)
      if (Number.parseInt(stage.name, 10) === Number(event.key)) stage.box.click();
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
  for (const stage of view.stages)
    for (const lane of stage.lanes)
      for (const type of lane.type) used.add(type);
  const entry = (color, text, name) => {
    const swatch = element("i", name ? {class: name} : {});
    if (color) swatch.style.background = `var(--${color})`;
    byId("legend").append(element("span", {}, swatch, text));
  };
  KINDS.forEach((kind, i) => {
    if (used.has(i)) entry(KIND_COLORS[i], kind);
  });
  if (view.stages.some(stage => stage.lanes.some(lane => lane.role.includes(SECOND_CONSUMER))))
    entry("mma1", "multiply, consumer 1");
  entry("idle", "Tensor Core idle");
  if (view.stages.some(stage => stage.lanes.some(lane => lane.inferred.includes(1))))
    entry(null, "inferred, not recorded", "hatch");
}

function startTimelines() {
  view.stages = makeStages(data.timelines);
  for (const stage of view.stages) {
    stage.box = element("input", {type: "checkbox", checked: ""});
    stage.box.addEventListener("change", () => {
      stage.visible = stage.box.checked;
      relayOut();
    });
    byId("stages").append(element("label", {class: "chip"}, stage.box, stage.name));
  }
  const most = Math.max(1, ...view.stages.map(stage => stage.ctas.length));
  for (const [value, text] of [
         ["cluster", view.stages.some(stage => stage.timeline.cluster > 1) ?
           "the first, or its cluster" : "the first"],
         ["2", "the first two"], ["all", `all recorded (${most})`]])
    if (value !== "2" || most > 2) byId("ctas").append(element("option", {value}, text));
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
  new ResizeObserver(() => {
    if (byId("timeline").clientWidth !== view.width) relayOut();
  }).observe(byId("timeline"));
  addEventListener("scroll", redraw, {passive: true});
  for (const [event, printing] of [["beforeprint", true], ["afterprint", false]])
    addEventListener(event, () => {
      view.printing = printing;
      draw();
    });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    readColors();
    redraw();
  });
}
