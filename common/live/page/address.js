/* address.js: what is shown, in the address: #chapter=05_tma_mbarrier&m=128&...&off=kernel.cu:142
 * variant=NAME or break=NAME is another kernel, case=ID one of the practice; predict=1 asks before
 * it runs. */

const state = {chapter: "", kernel: -1, file: "", off: new Set(), case: ""};

/* A run, all of which has a control but the seed of the input. */
const usual = chapter => ({
  m: 128, n: 256, k: 256, sms: 4, seed: 1, schedule: "time", input: "uniform", iseed: 1,
  ...chapterOf(chapter).run,
});
const NAMES = {seed: "schedule-seed", iseed: "seed"}; // of options; the others have their own

function selectChapter(chapter) {
  state.chapter = chapter;
  selectKernel(-1);
  state.case = "";
  Object.assign(state, usual(chapter));
}

function selectKernel(number) {
  state.kernel = number;
  state.file = filesHere()[0];
  state.off = new Set();
}

function address() {
  const words = new URLSearchParams(), defaults = usual(state.chapter);
  words.set("chapter", state.chapter);
  if (state.case) {
    words.set("case", state.case);
    return `#${words}`;
  }
  for (const name in defaults)
    if (state[name] !== defaults[name]) words.set(name, state[name]);
  if (kernelHere()) words.set(kernelHere().kind, kernelHere().name);
  if (predicting()) words.set("predict", 1);
  if (state.off.size)
    words.set("off", switchesOf(state.chapter).filter(one => state.off.has(one.number)).map(keyOf));
  if (state.file !== filesHere()[0]) words.set("file", shortFile(state.file));
  return `#${words}`.replaceAll("%3A", ":").replaceAll("%2C", ",");
}

const pageOf = chapter => chapter < "1" ? "live" : chapter < "17" ? "beyond" : "blackwell";

/* What the address does not say, or says wrongly, is as usual. */
function readAddress(hash) {
  const words = new URLSearchParams(hash.slice(1));
  const asked = book.chapters.find(one => one.name.startsWith(words.get("chapter") || "05"));
  const unknown = [];
  if (words.has("chapter") && !(asked && words.get("chapter").length > 1)) unknown.push("chapter");
  selectChapter((asked || book.chapters[0]).name);
  fillOptions();
  for (const [name, one] of Object.entries(usual(state.chapter))) {
    const word = words.get(name), value = Number(word);
    if (word === null) continue;
    const {options, min, max} = byId(name) || {min: 0, max: Infinity};
    if (options ? [...options].some(option => option.value === word) :
      word && Number.isInteger(value) && value >= min && value <= max)
      state[name] = options ? word : value;
    else
      unknown.push(`${name}=${word}`);
  }
  const kernel = kernelsOf(state.chapter).find(one => // "version": of links that are kept
    [words.get(one.kind), words.get("version")].includes(one.name));
  if (kernel) selectKernel(kernel.number);
  else unknown.push(...["variant", "break", "version"].filter(word => words.has(word)));
  byId("predict").checked = words.has("predict") || predictKept();
  for (const key of (words.get("off") || "").split(",")) {
    const one = switchOf(state.chapter, key);
    if (one) state.off.add(one.number);
    else if (key) unknown.push(`off=${key}`);
  }
  const file = filesHere().find(name => shortFile(name) === words.get("file"));
  if (file) state.file = file;
  if (caseOf(words.get("case"))) openCase(words.get("case"));
  else if (words.has("case")) unknown.push("case");
  byId("unknown").textContent = unknown.length ?
    `The link names what is not here: ${unknown.join(", ")}. ` : "";
  if (!asked && parseInt(words.get("chapter")) > 0)
    byId("unknown").append(element("a",
      {href: `${pageOf(words.get("chapter"))}.html${hash}`}, "Another page may have it."));
}

function keepAddress() {
  byId("link").href = address();
  history.replaceState(null, "", address());
}

/* Many times what a run needs; a kernel that never ends has it soon where the problem is small.
 * simulate.py has the same. */
const stepLimit = ({m, n, k}) => 5000000 + Math.floor(m * n * k / 4);

/* The run in a clone of the repository, as a command and what is to be edited before it. */
function ofClone() {
  const kernel = kernelHere(), edited = Object.keys(kernel?.edits || {}).length;
  const without = switchesOf(state.chapter).filter(one => state.off.has(one.number)).map(keyOf);
  const asUsual = / --(sms 4|schedule time|schedule-seed 1|input uniform|seed 1)\b/g;
  const words = [`build/sim/${state.chapter}`, ...optionsOf(state.chapter, state, state.kernel)
    .slice(2, -2)].join(" ").replace(asUsual, "");
  const edits = [...(edited ? ["with the lines that are marked here"] : []),
    ...(without.length ? [`without ${without.join(" and ")}`] : [])];
  return words + (kernel && !edited ? ` --variant ${kernel.name}` : "") +
    (edits.length ? ` # ${edits.join(", ")}` : "");
}

const optionsOf = (chapter, run, kernel = -1) => {
  const needs = needsOf(chapter, kernel);
  const names = Object.keys(usual(chapter)).filter(name => !(name in needs));
  return ["--chapters", Number(chapter.slice(0, 2)), ...names.flatMap(name =>
    [`--${NAMES[name] || name}`, run[name]]), ...Object.entries(needs).flatMap(([name, value]) =>
    [`--${name}`, value]), "--step-limit", stepLimit(run)].map(String);
};
