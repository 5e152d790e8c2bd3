/* versions.js: the chapter's kernel, or a version of it: what its files say, where its calls stand. */

const versionOf = () => book.versions[state.version] || null;
const chapterOf = name => book.chapters.find(chapter => chapter.name === name);
const filesHere = () => versionOf()?.files || chapterOf(state.chapter).files;
/* Options without which a kernel cannot run. */
const needsOf = (chapter, version) => (book.versions[version] || chapterOf(chapter)).needs || {};
const versionsOf = chapter => book.versions.filter(one => one.chapter === chapter);

/* The lines of a file, and which of them the version has changed. */
function linesHere(file) {
  const lines = book.sources[file].split("\n"), changed = new Set();
  let moved = 0;
  for (const [first, gone, come] of versionOf()?.edits[file] || []) {
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

/* The switches of a file, where its calls stand now; calls that the version does not have are left
 * out. */
function switchesIn(file) {
  const own = book.switches.filter(one => one.file === file), version = versionOf();
  const edits = version?.edits[file];
  if (!edits) return own;
  const placeOf = ({number, line, end}) =>
    version.lines[file][number] ?? [movedLine(line, edits), movedLine(end, edits)];
  return own.map(one => [one, placeOf(one)]).filter(([, place]) => place && place[0] && place[1])
    .map(([one, [line, end]]) => ({...one, line, end}));
}

function fillVersions() {
  const list = byId("version"), own = versionsOf(state.chapter);
  const option = one => element("option", {value: one.number}, one.title);
  const group = (kind, label) => {
    const some = own.filter(one => one.kind === kind &&
      (kind !== "answer" || one.number === state.version)); // not to be seen in passing
    return some.length ? [element("optgroup", {label}, ...some.map(option))] : [];
  };
  list.replaceChildren(element("option", {value: -1}, "as the chapter has it"),
    ...group("variant", "Variants"), ...group("break", "Broken, as the book shows"),
    ...group("answer", "An answer"));
  list.value = state.version;
  byId("version-label").hidden = list.options.length < 2 || Boolean(state.case);
}

/* What a version changes, as a diff. */
function diffOf(version) {
  return Object.entries(version.edits).flatMap(([file, edits]) => edits.flatMap(([at, gone, come]) => [
    `@@ line ${at}`,
    ...book.sources[file].split("\n").slice(at - 1, at - 1 + gone).map(line => `-${line}`),
    ...come.map(line => `+${line}`)])).join("\n");
}

/* Is more wrong with this kernel than a variant or an answer can be? */
const isBroken = () => state.off.size > 0 ||
  (versionOf() && !["variant", "answer"].includes(versionOf().kind));
