/* layouts.js: the page of layouts: a tile, a descriptor of it, and the owners of its elements. All
 * that is computed is computed by the module's functions, of common/live/layouts.c. What is shown
 * is in the address: #swizzle=128&base=128&m=5&k=20; a field that is not there has what fits. */

const LINE = 128, CHUNKS = 8, OF_CHUNK = 8, STEP = 16, LAST = 63;
const SWIZZLES = [0, 32, 64, 128]; // by the numbers of enum gemm_swizzle
const USUAL = {swizzle: 128, pitch: null, base: 0, major: "k", m: 5, k: 20, n: 9,
  start: null, lbo: null, sbo: null, offset: null, mode: null};
const FIELDS = ["start", "lbo", "sbo", "offset", "mode"];
const FIRST = "swizzle";
const state = {...USUAL};
let models = null;

const hex = number => `0x${number.toString(16)}`;
const times = (count, make) => Array.from({length: count}, (_, i) => make(i));
const several = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const code = text => element("code", {}, text);
const strong = (text, mood = "") => element("b", {class: mood}, text);

/* ---- the tile, as it is chosen ---- */

const mnMajor = () => state.major === "mn";
const lineOf = ({m, k}) => mnMajor() ? k : m;
const columnOf = ({m, k}) => mnMajor() ? m : k;
const chunkOf = at => Math.floor(columnOf(at) / OF_CHUNK);
const elementAt = (line, column) => mnMajor() ? {m: column, k: line} : {m: line, k: column};
const mode = () => SWIZZLES.indexOf(state.swizzle);
const pitch = () => state.pitch ?? (state.swizzle || LINE);
const addressOf = (line, chunk) => models.tile_address(mode(), state.base, pitch(), line, chunk);
const step = () => Math.floor(state.k / STEP);

/* What the address or the reader has said of a field, or what fits. */
const fieldOf = name => state[name] ?? {
  start: () => models.fitting_start(state.base, pitch(), mnMajor(), step()),
  lbo: () => models.fitting_lbo(mode(), pitch(), mnMajor()),
  sbo: () => models.fitting_sbo(mode(), pitch(), mnMajor()),
  offset: () => 0,
  mode: () => state.swizzle,
}[name]();

const word = () => models.word_of(fieldOf("start"), fieldOf("lbo"), fieldOf("sbo"),
  fieldOf("offset"), SWIZZLES.indexOf(fieldOf("mode")));

function ownerOf(pointer) {
  const [thread, index, half] = new Int32Array(models.memory.buffer, pointer, 3);
  return {thread, index, half};
}

/* ---- pictures ---- */

/* Said anew, to those who listen, only if it is another sentence. */
function say(id, ...words) {
  const said = byId(id), sentence = element("p", {}, ...words);
  if (said.textContent !== sentence.textContent) said.replaceChildren(...sentence.childNodes);
}

function fill(table, caption, heads, rows) {
  table.replaceChildren(element("caption", {}, caption),
    element("tr", {}, ...heads.map(text => element("th", {}, text))), ...rows);
}

/* A cell of an element, {m, k, n}. */
const cell = (at, classes, ...children) => element("td",
  {"data-element": Object.entries(at).flat().join(" "), class: classes.filter(Boolean).join(" ")},
  ...children);

function drawTile() {
  const line = lineOf(state), chunk = chunkOf(state), held = new Map();
  for (let one = 0; one <= LAST; ++one)
    for (let c = 0; c < CHUNKS; ++c) held.set(addressOf(one, c), {line: one, chunk: c});
  const isCore = at => at.chunk === chunk && at.line >> 3 === line >> 3;
  const begin = models.tile_window(state.base, pitch(), line, chunk);
  const first = begin - begin % LINE;
  const lines = Math.max(STEP, Math.ceil((begin + STEP * pitch() - first) / LINE));
  const asked = times(CHUNKS, place => [...held].filter(([address, at]) =>
    isCore(at) && Math.floor(address % LINE / 16) === place).length);
  fill(byId("tile"), "line.chunk in lines of 128 bytes, each under its first bank",
    ["", ...times(CHUNKS, i => 4 * i)], [
      ...times(lines, i => element("tr", {}, element("th", {}, hex(first + LINE * i)),
        ...times(CHUNKS, place => {
          const at = held.get(first + LINE * i + 16 * place);
          if (!at) return element("td");
          const here = at.line === line && at.chunk === chunk;
          return cell(elementAt(at.line, OF_CHUNK * at.chunk),
            [here ? "chosen" : isCore(at) && "core"], `${at.line}.${at.chunk}`);
        }))),
      element("tr", {class: "bars"}, element("th", {}, "reads"),
        ...asked.map(count => element("td", {}, ...times(count, () => element("i"))))),
    ]);
  const address = addressOf(line, chunk), own = address + 2 * (columnOf(state) % OF_CHUNK);
  const fronts = models.tile_wavefronts(mode(), state.base, pitch(), line, chunk);
  say("tile-says", `A[${state.m}][${state.k}] is in line ${line}, chunk ${chunk}. The chunk is at `,
    code(hex(models.tile_linear(state.base, pitch(), line, chunk))), " before the XOR and at ",
    strong(code(hex(address))), ` after it, in banks ${models.bank_of(address)}\u2013${
      models.bank_of(address + 15)}. The element is at `, code(hex(own)),
    `, in bank ${models.bank_of(own)}. Reading the eight marked chunks together, a core matrix, `,
    "takes ", strong(several(fronts, "wavefront")), ".");
  const period = models.pattern_bytes(mode());
  say("tile-warns", [
    state.base % period ? `The base is not a multiple of ${period}: the pattern begins in the ` +
      "middle, and the simulator reports misaligned-swizzle." : "",
    state.swizzle && pitch() > state.swizzle ?
      "A row of a TMA box is no wider than the swizzle: no box has this tile." : "",
  ].join(" ").trim());
  return held;
}

/* The chunks that one wgmma reads: 16 lines of 2 are shown, or 16 of 8. */
function drawDescriptor(held) {
  const bits = word(), chunks = mnMajor() ? CHUNKS : 2;
  const origin = mnMajor() ? {line: STEP * step(), chunk: 0} : {line: 0, chunk: 2 * step()};
  const window = mnMajor() ? 0 : state.m - state.m % STEP; // lines before those that are shown
  for (const name of FIELDS) byId(name).value = fieldOf(name);
  [...byId("fields").rows].slice(1).forEach((row, i) => {
    const value = fieldOf(FIELDS[i]);
    row.cells[3].textContent = i < 3 ? hex(value) :
      i === 4 ? `mode ${BigInt.asUintN(64, bits) >> 62n}` : "";
  });
  byId("word").textContent = `0x${BigInt.asUintN(64, bits).toString(16).padStart(16, "0")}`;
  let others = 0;
  byId("found").classList.toggle("wide", chunks > 2);
  fill(byId("found"),
    `k step ${step()}: the addresses of 16 bytes, in hexadecimal, and what lies there`,
    [mnMajor() ? "k \\ m" : "m \\ k", ...times(chunks, c => OF_CHUNK * (origin.chunk + c))],
    times(STEP, i => element("tr", {}, element("th", {}, String(origin.line + window + i)),
      ...times(chunks, c => {
        const line = origin.line + window + i, chunk = origin.chunk + c;
        const address = models.word_address(bits, mnMajor(), window + i, c);
        const there = held.get(address);
        const right = there?.line === line && there.chunk === chunk;
        const inCore = chunk === chunkOf(state) && line >> 3 === lineOf(state) >> 3;
        others += right ? 0 : 1;
        return cell(elementAt(line, OF_CHUNK * chunk), [right || "other",
          inCore && (line === lineOf(state) ? "chosen" : "core")], address.toString(16),
        element("small", {},
          (right ? "" : "\u2260") + (there ? `${there.line}.${there.chunk}` : "?")));
      }))));
  const fronts = models.word_wavefronts(bits, mnMajor(), lineOf(state) - origin.line,
    chunkOf(state) - origin.chunk);
  say("found-says", others ?
    strong(`${others} of these ${STEP * chunks} chunks are others than the tile has there`, "bad") :
    strong(`The descriptor finds all ${STEP * chunks} chunks`, "good"),
  `. The marked core matrix takes ${several(fronts, "wavefront")}.`);
}

/* Sixteen columns of the element's sixteen rows, two elements a cell: they belong to one thread. */
function drawOwners(table, caption, columns, chosen, owner, nameOf, at) {
  const rows = state.m - state.m % STEP, first = chosen - chosen % STEP;
  const mine = owner(state.m, chosen);
  fill(table, caption, [columns, ...times(CHUNKS, i => first + 2 * i)],
    times(STEP, i => element("tr", {}, element("th", {}, String(rows + i)),
      ...times(CHUNKS, pair => {
        const column = first + 2 * pair, one = owner(rows + i, column);
        const own = one.thread === mine.thread;
        const here = rows + i === state.m && column === chosen - chosen % 2;
        return cell({m: rows + i, [at]: column}, [here ? "chosen" : own ? "mine" : "pale"],
          own ? nameOf(one, owner(rows + i, column + 1)) : String(one.thread % 32));
      }))));
  return mine;
}

const placeOf = ({thread}) => `thread ${thread} of the warpgroup: warp ${
  Math.floor(thread / 32)}, lane ${thread % 32}`;

function drawA() {
  const mine = drawOwners(byId("a"), "the lane of two elements; orange: its registers", "m \\ k",
    state.k, (row, column) => ownerOf(models.owner_of_a(row, column % STEP)),
    one => `a${one.index}`, "k");
  say("a-says", `A[${state.m}][${state.k}]: ${placeOf(mine)}, register ${mine.index} of 4, ${
    mine.half ? "high" : "low"} half.`);
}

function drawD() {
  const mine = drawOwners(byId("d"), "the lane of two elements; orange: its accumulators", "m \\ n",
    state.n, (row, column) => ownerOf(models.owner_of_d(row, column)),
    (one, next) => `${one.index},${next.index}`, "n");
  say("d-says", `D[${state.m}][${state.n}]: ${placeOf(mine)}, acc[${mine.index}].`);
}

/* ---- the state ---- */

/* True if the control can have this value, and then it is the state's. */
function accept(name, text) {
  const control = byId(name);
  control.value = control.type === "number" && text !== "" ? Number(text) : text; // also 0x80
  if (!control.value || !control.checkValidity()) return false;
  state[name] = name === "major" ? control.value : Number(control.value);
  return true;
}

/* What the address does not say, or says wrongly, is as usual. */
function readAddress() {
  Object.assign(state, USUAL);
  for (const [name, text] of new URLSearchParams(location.hash.slice(1)))
    if (name in USUAL) accept(name, text);
}

function show() {
  for (const name of ["swizzle", "base", "major", "m", "k", "n"]) byId(name).value = state[name];
  byId("pitch").value = pitch();
  drawDescriptor(drawTile());
  drawA();
  drawD();
  keepAddress();
}

function forget() {
  for (const name of FIELDS) state[name] = null;
}

/* By chunks of a tile, by elements where each has an owner. */
function move(id, right, down) {
  const at = {...state}, bound = value => Math.min(Math.max(value, 0), LAST);
  if (id === "d") Object.assign(at, {m: bound(at.m + down), n: bound(at.n + right)});
  else if (id === "a") Object.assign(at, {m: bound(at.m + down), k: bound(at.k + right)});
  else {
    const column = columnOf(at) + OF_CHUNK * right;
    Object.assign(at, elementAt(bound(lineOf(at) + down),
      column < 0 || column > LAST ? columnOf(at) : column));
  }
  Object.assign(state, at);
  show();
}

const ARROWS = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};

function listen() {
  copyLink(keepAddress);
  for (const name of Object.keys(USUAL))
    byId(name).addEventListener("change", ({target}) => {
      if (!accept(name, target.value)) return target.reportValidity();
      // A swizzle has a pitch of its own, and another layout other fields.
      if (name === "swizzle") state.pitch = null;
      if (["swizzle", "pitch", "base", "major"].includes(name)) forget();
      show();
    });
  byId("controls").addEventListener("submit", event => event.preventDefault());
  byId("fit").addEventListener("click", () => {
    forget();
    show();
  });
  for (const table of document.querySelectorAll(".cells")) {
    table.addEventListener("keydown", event => {
      if (!(event.key in ARROWS) || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      move(table.id, ...ARROWS[event.key]);
    });
    table.addEventListener("click", event => {
      const words = event.target.closest("[data-element]")?.dataset.element.split(" ");
      for (let i = 0; words && i < words.length; i += 2) state[words[i]] = Number(words[i + 1]);
      if (words) show();
    });
  }
  addEventListener("hashchange", () => {
    if (location.hash === address()) return;
    readAddress();
    show();
  });
}

async function begin() {
  const {instance} = await WebAssembly.instantiate(await unpacked(textOfElement("wasm")), {});
  models = instance.exports;
  listen();
  readAddress();
  show();
}

begin();
