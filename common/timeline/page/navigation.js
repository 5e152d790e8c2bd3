/* navigation.js: moving through the timelines: zoom, pan, hover, by buttons and by keyboard. */

function show(from, to) {
  const length = Math.min(Math.max(to - from, CLOSEST), view.end * 1.02);
  view.from = Math.max(0, Math.min(from, view.end * 1.02 - length));
  view.to = view.from + length;
  redraw();
  keepState();
}

function zoom(factor, around = (view.from + view.to) / 2) {
  show(around - (around - view.from) / factor, around + (view.to - around) / factor);
}

const pan = share =>
  show(view.from + share * (view.to - view.from), view.to + share * (view.to - view.from));

/* All that is drawn, but for a step that takes many times as long as the others, such as 01: they
 * would be stripes beside it. */
function fit() {
  const TIMES_AS_LONG = 4;
  const ends = view.steps.filter(step => step.visible)
                 .map(step => step.shownEnd)
                 .sort((a, b) => a - b);
  let end = ends[0] || view.end;
  for (const next of ends)
    if (next <= TIMES_AS_LONG * end) end = next;
  show(0, 1.01 * end);
}

/* The beginning: so much that the shortest step fills two thirds, but at most some twenty k-tiles
 * of the fastest. */
function beginning() {
  const visible = view.steps.filter(step => step.visible);
  const shortest = Math.min(view.end, ...visible.map(step => step.end));
  const periods = visible.map(step => step.timeline.k_tile_period).filter(period => period > 0);
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
  const place = `${row.step.name}, ${lane.name}\nCTA ${lane.cta} on SM ${lane.sm}`;
  if (i < 0)
    return `${lane.kind === TRACK_TENSOR_CORE ? "idle" : "nothing"} at ${data.info.tick} ${
      whole(time)}\n${place}`;
  let text = KINDS[lane.type[i]];
  if (lane.kTile[i] >= 0) text += `, k-tile ${lane.kTile[i]}`;
  if (lane.tile[i] >= 0) text += `, output tile ${lane.tile[i]}`;
  text += `\n${whole(lane.begin[i])} \u2013 ${whole(lane.end[i])}: ${
    whole(lane.end[i] - lane.begin[i])} ${data.info.tick}s`;
  if (lane.inferred[i]) text += "\ninferred from issue and observed completion";
  return text + "\n" + place;
}

function showTooltip(x, y, more = []) {
  const tooltip = byId("tooltip"), hit = spanAt(x, y);
  tooltip.hidden = !hit;
  tooltip.classList.toggle("pinned", more.length > 0);
  if (!hit) return;
  tooltip.replaceChildren(describe(hit), ...more);
  tooltip.style.left = Math.max(0, Math.min(x + 14, view.width - tooltip.offsetWidth - 8)) + "px";
  tooltip.style.top = y + RULER + 18 + "px";
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
    for (const step of view.steps)
      if (Number.parseInt(step.name, 10) === Number(event.key)) step.box.click();
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
  for (const step of view.steps)
    for (const lane of step.lanes)
      for (const type of lane.type) used.add(type);
  const entry = (color, text, name) => {
    const swatch = element("i", name ? {class: name} : {});
    if (color) swatch.style.background = `var(--${color})`;
    byId("legend").append(element("span", {}, swatch, text));
  };
  KINDS.forEach((kind, i) => {
    if (used.has(i)) entry(KIND_COLORS[i], kind);
  });
  if (view.steps.some(step => step.lanes.some(lane => lane.role.includes(SECOND_CONSUMER))))
    entry("mma1", "multiply, consumer 1");
  entry("idle", "Tensor Core idle");
  if (view.steps.some(step => step.lanes.some(lane => lane.inferred.includes(1))))
    entry(null, "inferred, not recorded", "hatch");
}

function startTimelines() {
  view.steps = makeSteps(data.timelines);
  view.cursor = null;
  for (const step of view.steps) {
    step.box = element("input", {type: "checkbox", checked: ""});
    step.box.addEventListener("change", () => {
      step.visible = step.box.checked;
      relayOut();
      keepState();
    });
    byId("steps").append(element("label", {class: "chip"}, step.box, step.name));
  }
  const most = Math.max(1, ...view.steps.map(step => step.ctas.length));
  for (const [value, text] of [
         ["cluster", view.steps.some(step => step.timeline.cluster > 1) ?
           "first CTA, or its cluster" : "first CTA"],
         ["2", "first two"], ["all", `all recorded (${most})`]])
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
  const accused = view.steps.find(step => step.hazards.length);
  if (accused)
    showHazard(accused, accused.hazards[0]);
  else
    beginning();
  new ResizeObserver(() => {
    if (byId("timeline").clientWidth !== view.width) relayOut();
  }).observe(byId("timeline"));
}

/* On paper: all lanes, as wide as a page, in the colours of the light scheme. */
function print(printing) {
  const PAPER = 700;
  document.documentElement.classList.toggle("printing", printing);
  view.printing = printing;
  readColors();
  byId("timeline").style.width = printing ? PAPER + "px" : "";
  view.width = printing ? PAPER : byId("timeline").clientWidth;
  layOut();
  draw();
}

/* A report in a frame has the address of the page around it, which a link would open in the frame. */
function stayInFrame(event) {
  const link = event.target.closest('a[href^="#"]');
  if (!window.frameElement || !link || event.defaultPrevented) return;
  event.preventDefault();
  location.hash = link.getAttribute("href");
}

/* What does not belong to one report: once for the page. */
function listenToWindow() {
  addEventListener("scroll", redraw, {passive: true});
  addEventListener("resize", redraw);
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  addEventListener("hashchange", restoreState);
  document.addEventListener("click", stayInFrame);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    readColors();
    redraw();
  });
}
