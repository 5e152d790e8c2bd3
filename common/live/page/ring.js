/* ring.js: the page of the ring: a run of chapter 07's kernel, one CTA, moment by moment. All that
 * is drawn are events of its barriers, from the run's report, as timeline/page/barriers.js reads
 * them. What is shown is in the address: #stages=2&wait=0&at=4061. */

const USUAL = {stages: 4, wait: 1, schedule: "time", seed: 1, k: 1024, at: null};
const OWN = "4_1"; // of the chapter's kernel, which is no variant
const WARPGROUP = 128;
const RUN = ["stages", "wait", "schedule", "seed", "k"];
const FIRST = "stages";
const state = {...USUAL};
const simulator = new Simulator();
const whole = number => number.toLocaleString("en").replaceAll(",", "\u202F");
const byRole = thread => Math.floor(thread / WARPGROUP) - 1; // -1: the producer
const ROLES = ["producer", "consumer 0", "consumer 1"];

let life = null; // of the run that is shown

/* ---- what happens to the ring, and when ---- */

/* [{kind, cycle, byThread, ...}] of a barrier. */
const recordsOf = which => Array.from({length: which.events.length / EVENT_FIELDS},
  (_, i) => recordOf(which, i));

const isOf = (which, stage, name) => which.name.startsWith(`ring[${stage}].${name}`);

/* A stage's fillings: [{kTile, asked, landed, done, reads: [[from, to] of a consumer]}], and who
 * waits for its barriers: [{role, name, from, to}]. A consumer reads from the time that its last
 * thread has passed `full` until its last warp arrives at `empty`. What has not happened is at
 * Infinity. */
function stageOf(timeline, stage, stages) {
  const [full, empty] = ["full", "empty"].map(
    name => timeline.barriers.find(which => isOf(which, stage, name)));
  const fillings = [], waits = [];
  let landed = 0, released = 0;
  const wait = (name, {kind, cycle, byThread}) => { // a thread that need not wait passes at once
    const role = byRole(byThread);
    const open = waits.find(one => one.role === role && one.name === name && one.to === Infinity);
    if (kind === PASS && open) {
      open.threads.delete(byThread);
      if (!open.threads.size) open.to = cycle;
    } else if (kind === WAIT && open) {
      open.threads.add(byThread);
    } else if (kind === WAIT) {
      waits.push({role, name, from: cycle, to: Infinity, threads: new Set([byThread])});
    }
  };
  for (const event of recordsOf(full)) {
    const {kind, cycle, byThread} = event;
    if (kind === EXPECT_TX)
      fillings.push({kTile: stage + stages * fillings.length, asked: cycle, landed: Infinity,
        done: Infinity, reads: [[Infinity, Infinity], [Infinity, Infinity]]});
    else if (kind === FLIP) fillings[landed++].landed = cycle;
    else if (kind === PASS) fillings[landed - 1].reads[byRole(byThread)][0] = cycle;
    wait("full", event);
  }
  for (const event of recordsOf(empty)) {
    const {kind, cycle, byThread} = event;
    if (kind === ARRIVE) fillings[released].reads[byRole(byThread)][1] = cycle;
    else if (kind === FLIP) fillings[released++].done = cycle;
    wait("empty", event);
  }
  return {stage, full, empty, fillings, waits};
}

/* moments: the cycles at which something happens; of bytes that land, only the last. */
function lifeOf(timeline, stages) {
  const all = Array.from({length: stages}, (_, stage) => stageOf(timeline, stage, stages));
  const moments = new Set();
  for (const which of timeline.barriers)
    for (let i = 0; i < eventCount(which); ++i) {
      const {kind, cycle} = eventOf(which, i);
      if (kind !== COMPLETE_TX && kind !== INIT) moments.add(cycle);
    }
  return {timeline, stages: all, moments: [...moments].sort((a, b) => a - b)};
}

const fillingAt = ({fillings}, now) => fillings.findLast(one => one.asked <= now);
const lookOf = (filling, now) => !filling ? "never" : now < filling.landed ? "load" :
  now < filling.done ? "held" : "free";
const waitsAt = ({waits}, now, name) => waits.filter(
  one => one.from <= now && now < one.to && one.name === name);

const readersAt = (stage, now) => [0, 1].filter(consumer => {
  const read = fillingAt(stage, now)?.reads[consumer];
  return read && read[0] <= now && now < read[1];
});

/* The first moment that has all: the producer waits, a stage is filled again, both consumers
 * read. */
function firstOfAll() {
  return life.moments.find(now =>
    life.stages.some(stage => waitsAt(stage, now, "empty").length) &&
    life.stages.some(({fillings}) => fillings.slice(1).includes(
      fillings.find(one => one.asked <= now && now < one.landed))) &&
    life.stages.some(stage => readersAt(stage, now).length > 1)) ?? life.moments.at(-1);
}

/* ---- pictures ---- */

function drawn(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const CENTER = 200;
const point = (radius, turn) => `${CENTER + radius * Math.sin(2 * Math.PI * turn)} ${
  CENTER - radius * Math.cos(2 * Math.PI * turn)}`;

/* Stage 0 begins at the top, the stages go clockwise. */
function sector(stage, inner, outer, attributes) {
  const gap = radius => 2 / (2 * Math.PI * radius), from = stage / life.stages.length;
  const to = (stage + 1) / life.stages.length, large = to - from > 0.5 ? 1 : 0;
  return drawn("path", {...attributes, d:
    `M${point(outer, from + gap(outer))}A${outer} ${outer} 0 ${large} 1 ${
      point(outer, to - gap(outer))}L${point(inner, to - gap(inner))}A${inner} ${inner} 0 ${
      large} 0 ${point(inner, from + gap(inner))}z`});
}

function words(stage, radius, attributes, text) {
  const [x, y] = point(radius, (stage + 0.5) / life.stages.length).split(" ");
  return drawn("text", {...attributes, x, y}, text);
}

function drawRing(now) {
  byId("ring").replaceChildren(...life.stages.flatMap(one => {
    const {stage} = one, filling = fillingAt(one, now), look = lookOf(filling, now);
    return [
      sector(stage, 84, 170, {class: look}),
      ...readersAt(one, now).map(consumer =>
        sector(stage, 84 + 14 * consumer, 96 + 14 * consumer, {class: consumer ? "mma1" : "mma"})),
      ...(waitsAt(one, now, "empty").length ? [sector(stage, 172, 178, {class: "wait"})] : []),
      ...(waitsAt(one, now, "full").length ? [sector(stage, 76, 82, {class: "wait"})] : []),
      ...(filling ? [words(stage, 142, {class: `number ${look}`}, String(filling.kTile))] : []),
      words(stage, 190, {}, String(stage)),
    ];
  }), drawn("text", {x: CENTER, y: CENTER - 12}, "cycle"),
  drawn("text", {x: CENTER, y: CENTER + 12, class: "number"}, whole(now)));
}

/* The barrier after its last event up to now. */
const barrierAt = (which, now) => recordsOf(which).findLast(({cycle}) => cycle <= now);

function drawBarriers(now) {
  const cellOf = (one, name) => {
    const {phase, pending, expected, tx} = barrierAt(one[name], now) || {};
    const text = phase === undefined ? "not made yet" : `phase ${phase}: ${pending} of ${
      expected} to arrive${tx > 0 ? `, ${whole(tx)} bytes to come` : ""}`;
    return element("td", {class: waitsAt(one, now, name).length ? "wait" : ""}, text);
  };
  byId("barriers").replaceChildren(
    element("tr", {}, ...["stage", "full", "empty"].map(text => element("th", {}, text))),
    ...life.stages.map(one => element("tr", {}, element("th", {}, String(one.stage)),
      cellOf(one, "full"), cellOf(one, "empty"))));
  byId("roles").replaceChildren(...ROLES.map((name, i) => {
    const barrier = i ? "full" : "empty";
    const waits = life.stages
      .filter(one => waitsAt(one, now, barrier).some(({role}) => role === i - 1))
      .map(({stage}) => `waits for ${barrier} of stage ${stage}`);
    const reads = life.stages.filter(one => readersAt(one, now).includes(i - 1))
      .map(one => fillingAt(one, now).kTile).sort((a, b) => a - b);
    return element("li", {}, `${name} ${[...waits, ...(reads.length ?
      [`reads k-tile${reads.length > 1 ? "s" : ""} ${reads.join(" and ")}`] : [])]
      .join(", ") || "waits for no barrier"}`);
  }));
  byId("says").textContent = life.timeline.barriers.flatMap(which => {
    const told = [];
    for (let i = 0; i < eventCount(which); ++i) {
      const event = eventOf(which, i);
      if (event.cycle === now && event.kind !== COMPLETE_TX)
        told.push(`${which.name.split(",")[0]}: ${sentence(event, null, 0)}`);
    }
    return told;
  }).join(" ");
}

function drawOverTime(now) {
  const end = life.moments.at(-1), part = cycle => 100 * Math.min(cycle, end) / end;
  const bar = (from, to, look, text = "") => {
    const made = element("i", {class: look}, text);
    made.style.left = `${part(from)}%`;
    made.style.width = `${part(to) - part(from)}%`;
    return made;
  };
  byId("over").replaceChildren(...life.stages.map(({stage, fillings, waits}) =>
    element("div", {class: "lane"}, element("span", {}, `stage ${stage}`), element("div", {},
      ...fillings.flatMap(({kTile, asked, landed, done, reads}) => [
        bar(asked, landed, "load", String(kTile)),
        ...(landed < end ? [bar(landed, done, "held")] : []),
        ...reads.flatMap(([from, to], i) =>
          from < end ? [bar(from, to, i ? "mma1" : "mma")] : [])]),
      ...waits.filter(({role, from, to}) => role === -1 && to > from)
        .map(({from, to}) => bar(from, to, "wait"))))));
  byId("over").style.setProperty("--now", part(now) / 100);
}

/* ---- the state ---- */

/* True if the control can have this value, and then it is the state's. */
function accept(name, text) {
  const control = byId(name);
  control.value = text;
  if (control.value !== text || !control.checkValidity()) return false;
  state[name] = name === "schedule" ? text : Number(text);
  return true;
}

/* What the address does not say, or says wrongly, is as usual. */
function readAddress() {
  Object.assign(state, USUAL);
  for (const [name, text] of new URLSearchParams(location.hash.slice(1)))
    if (RUN.includes(name)) accept(name, text);
    else if (name === "at" && /^\d+$/.test(text)) state.at = Number(text);
}

/* The moment that is shown, by its number: the last one up to state.at. */
const momentNumber = () => Math.max(0, life.moments.findLastIndex(cycle => cycle <= state.at));

function showMoment(number) {
  state.at = life.moments[Math.min(Math.max(number, 0), life.moments.length - 1)];
  byId("at").value = momentNumber();
  byId("at").setAttribute("aria-valuetext", `cycle ${state.at}`);
  drawRing(state.at);
  drawBarriers(state.at);
  drawOverTime(state.at);
  keepAddress();
}

function showRun(answer) {
  const data = /<script type="application\/json" id="data">([^]*?)<\/script>/.exec(answer.page);
  const [row] = data ? JSON.parse(data[1]).rows : [];
  byId("verdict").className = row?.verified ? "good" : "bad";
  if (!data) {
    byId("verdict").textContent = answer.errors;
    return;
  }
  byId("verdict").textContent = row.cycles ? `Verified: ${whole(row.cycles)} simulated cycles.` :
    "Verified. Under this schedule only the order of the events means something, not their cycles.";
  life = lifeOf(JSON.parse(data[1]).timelines[0], state.stages);
  byId("at").max = life.moments.length - 1;
  state.at ??= firstOfAll();
  showMoment(momentNumber());
}

async function run() {
  stopPlaying();
  if (simulator.busy) simulator.stop();
  for (const name of RUN) byId(name).value = state[name];
  byId("seed-label").hidden = state.schedule !== "random";
  byId("verdict").className = "";
  byId("verdict").textContent = "Running\u2026";
  const variant = `${state.stages}_${state.wait}`;
  showRun(await simulator.run(["--m", "128", "--n", "256", "--k", state.k, "--sms", "1",
    "--schedule", state.schedule, "--schedule-seed", state.seed,
    ...(variant === OWN ? [] : ["--variant", variant])].map(String), {off: [], kernel: -1}, true));
}

let playing = 0; // a timer

function stopPlaying() {
  clearInterval(playing);
  playing = 0;
  byId("play").textContent = "Play";
  byId("says").setAttribute("aria-live", "polite");
}

function playOrPause() {
  if (playing) return stopPlaying();
  if (momentNumber() === life.moments.length - 1) showMoment(0);
  byId("play").textContent = "Pause";
  byId("says").setAttribute("aria-live", "off");
  playing = setInterval(() => {
    showMoment(momentNumber() + 1);
    if (momentNumber() === life.moments.length - 1) stopPlaying();
  }, 250);
}

function listen() {
  copyLink(keepAddress);
  for (const name of RUN)
    byId(name).addEventListener("change", ({target}) => {
      if (!accept(name, target.value)) return target.reportValidity();
      state.at = null;
      run();
    });
  byId("controls").addEventListener("submit", event => event.preventDefault());
  byId("play").addEventListener("click", playOrPause);
  byId("at").addEventListener("input", () => {
    stopPlaying();
    showMoment(Number(byId("at").value));
  });
  byId("over").addEventListener("click", event => {
    const box = event.target.closest(".lane > div")?.getBoundingClientRect();
    if (!box) return;
    state.at = life.moments.at(-1) * (event.clientX - box.left) / box.width;
    showMoment(momentNumber());
  });
  addEventListener("keydown", event => {
    const here = event.target.tagName;
    if (!life || event.ctrlKey || event.altKey || event.metaKey || here === "SELECT" ||
        here === "A" || event.target.type === "number") return;
    if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      stopPlaying();
      showMoment(momentNumber() + (event.key === "ArrowRight" ? 1 : -1));
    } else if (event.key === " " && here !== "BUTTON") playOrPause();
    else return;
    event.preventDefault();
  });
  addEventListener("hashchange", () => {
    if (location.hash === address()) return;
    readAddress();
    run();
  });
}

listen();
readAddress();
run();
