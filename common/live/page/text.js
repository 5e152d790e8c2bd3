/* text.js: sources as coloured lines, and the lines that a report names. A page has filesHere(), the
 * files that it shows, linesHere(), their text, openFile() and state.file. */

const byId = id => document.getElementById(id);
const shortFile = name => name.split("/").at(-1);

const KEYWORDS = ["const|static|struct|enum|int|bool|float|void|for|while|if|else|return|typedef",
  "sizeof|true|false|uint32_t|element_t|half_t|inline|union|break|continue"].join("|");
const TOKENS = new RegExp([
  String.raw`(?<comment>\/\*[\s\S]*?\*\/|\/\/[^\n]*)`,
  String.raw`(?<string>"(?:\\.|[^"\\\n])*")`,
  String.raw`(?<directive>^[ \t]*#[ \t]*\w+)`,
  `(?<keyword>\\b(?:${KEYWORDS})\\b)`,
  String.raw`(?<macro>\b[A-Z][A-Z0-9_]+\b)`,
  String.raw`(?<literal>\b(?:0x[0-9a-f]+|\d+)u?\b)`,
  String.raw`(?<call>\b[a-z_]\w*(?=\())`,
].join("|"), "gm");

const element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};

/* The text as HTML nodes, a list for each line. */
function coloured(text) {
  const lines = [[]];
  const add = (piece, kind) => piece.split("\n").forEach((part, i) => {
    if (i) lines.push([]);
    if (part) lines.at(-1).push(kind ? element("span", {class: kind}, part) : part);
  });
  let at = 0;
  for (const match of text.matchAll(TOKENS)) {
    add(text.slice(at, match.index));
    const kind = Object.entries(match.groups).find(([, found]) => found !== undefined)[0];
    add(match[0], kind);
    at = match.index + match[0].length;
  }
  add(text.slice(at));
  if (!lines.at(-1).length) lines.pop();
  return lines;
}

const lineElement = line => byId("code").children[line - 1];

/* ---- the lines that a report names ---- */

let places = []; // {file, line, kind}

function markPlaces() {
  for (const row of byId("code").children) row.classList.remove("first", "second");
  for (const place of places)
    if (place.file === state.file) lineElement(place.line)?.classList.add(place.kind);
}

function goTo(file, line) {
  if (!filesHere().includes(file)) return;
  if (state.file !== file) openFile(file);
  const row = lineElement(line), box = byId("code");
  if (!row) return;
  box.scrollTop = row.offsetTop - box.clientHeight / 3;
  if (box.getBoundingClientRect().top < 0 || box.getBoundingClientRect().top > innerHeight - 80)
    box.scrollIntoView({block: "start"});
  row.classList.add("flash");
  setTimeout(() => row.classList.remove("flash"), 1200);
}

/* The link copies the address, which `keep` brings up to date. */
function copyLink(keep) {
  const link = byId("link");
  link.addEventListener("click", async event => {
    event.preventDefault();
    keep();
    try {
      await navigator.clipboard.writeText(location.href);
      link.textContent = "Copied";
    } catch (error) { // it is in the address bar
      link.textContent = "It is in the address bar";
    }
    setTimeout(() => { link.textContent = "Link to this state"; }, 2000);
  });
}
