/* kernels.js: the chapter's kernel, a variant or a break: what its files say, where its calls
 * stand. */

/* null: the chapter's own. */
const kernelHere = () => book.kernels[state.kernel] || null;
const chapterOf = name => book.chapters.find(chapter => chapter.name === name);
const filesHere = () => kernelHere()?.files || chapterOf(state.chapter).files;
/* Options without which a kernel cannot run. */
const needsOf = (chapter, kernel) => (book.kernels[kernel] || chapterOf(chapter)).needs || {};
const kernelsOf = chapter => book.kernels.filter(one => one.chapter === chapter);

/* The lines of a file, and which of them the kernel has changed. */
function linesHere(file) {
  const lines = book.sources[file].split("\n"), changed = new Set();
  let moved = 0;
  for (const [first, gone, come] of kernelHere()?.edits[file] || []) {
    lines.splice(first - 1 + moved, gone, ...come);
    come.forEach((_, i) => changed.add(first + moved + i));
    moved += come.length - gone;
  }
  return {lines, changed};
}

/* Where a line of a file stands after edits; 0: it is in one of them. */
function movedLine(line, edits) {
  let by = 0;
  for (const [first, gone, come] of edits) {
    if (first <= line && line < first + gone) return 0;
    if (line >= first + gone) by += come.length - gone;
  }
  return line + by;
}

/* The switches of a file, where its calls stand now; calls that the kernel does not have are left
 * out. */
function switchesIn(file) {
  const own = book.switches.filter(one => one.file === file), kernel = kernelHere();
  const edits = kernel?.edits[file];
  if (!edits) return own;
  const placeOf = ({number, line, end}) =>
    kernel.lines[file][number] ?? [movedLine(line, edits), movedLine(end, edits)];
  return own.map(one => [one, placeOf(one)]).filter(([, place]) => place && place[0] && place[1])
    .map(([one, [line, end]]) => ({...one, line, end}));
}

function fillKernels() {
  const list = byId("kernel"), own = kernelsOf(state.chapter);
  const option = one => element("option", {value: one.number}, one.title);
  const group = (label, is) => {
    const some = own.filter(is);
    return some.length ? [element("optgroup", {label}, ...some.map(option))] : [];
  };
  list.replaceChildren(element("option", {value: -1}, "as the chapter has it"),
    ...group("Variants", one => one.kind === "variant" && !one.of_case),
    ...group("Broken, as the book shows", one => one.kind === "break" && !one.of_case),
    ...group("An answer", one => one.kind === "variant" && one.of_case &&
      one.number === state.kernel)); // not to be seen in passing
  list.value = state.kernel;
  byId("kernel-label").hidden = list.options.length < 2 || Boolean(state.case);
}

/* What a kernel changes, as a diff. */
function diffOf(kernel) {
  return Object.entries(kernel.edits).flatMap(([file, edits]) => edits.flatMap(([at, gone, come]) => [
    `@@ line ${at}`,
    ...book.sources[file].split("\n").slice(at - 1, at - 1 + gone).map(line => `-${line}`),
    ...come.map(line => `+${line}`)])).join("\n");
}

const isBroken = () => state.off.size > 0 || kernelHere()?.kind === "break";
