/* source.js: the kernel's text, with a switch on every call that synchronizes. */

const switchesOf = chapter => book.switches.filter(one =>
  (chapter === state.chapter ? filesHere() : chapterOf(chapter).files).includes(one.file));

/* "kernel.cu:152": a switch in an address; of several on one line "kernel.cu:152.2" is the second. */
function keyOf(one) {
  const same = book.switches.filter(other => other.file === one.file && other.line === one.line);
  const place = same.indexOf(one);
  return `${shortFile(one.file)}:${one.line}${place ? `.${place + 1}` : ""}`;
}
const switchOf = (chapter, key) => switchesOf(chapter).find(one => keyOf(one) === key);

function switchButton(one, pick) {
  const button = element("button", {type: "button", "data-switch": one.number});
  if (pick) {
    button.className = "pick";
    button.title = `Is it ${one.call}?`;
    button.setAttribute("aria-label", `Is it line ${one.line}, ${one.call}?`);
    button.textContent = "?";
    button.addEventListener("click", () => pick(one));
    return button;
  }
  button.className = "switch";
  button.setAttribute("role", "switch");
  button.title = one.call;
  button.setAttribute("aria-label", `${one.call}, line ${one.line}`);
  button.addEventListener("click", () => toggle(one.number));
  return button;
}

let shownSource = "";

/* pick: in a case that asks for a line, what a click answers. */
function showSource(pick) {
  const key = `${state.file}|${state.chapter}|${state.kernel}|${state.case}`;
  if (key !== shownSource) {
    shownSource = key;
    const switches = switchesIn(state.file), {lines, changed} = linesHere(state.file);
    const rows = coloured(lines.join("\n")).map((nodes, i) => {
      const here = switches.filter(one => one.line === i + 1);
      const edited = changed.has(i + 1) && !caseOf(state.case) ? " edited" : "";
      return element("div", {class: `line${edited}`, "data-line": i + 1},
        element("span", {class: "gutter"}, ...here.map(one => switchButton(one, pick))),
        element("span", {class: "number"}, String(i + 1)),
        element("code", {}, ...nodes));
    });
    byId("code").replaceChildren(...rows);
    scrollToSwitch(switches, changed);
    showFiles();
  }
  markSwitches(Boolean(pick));
}

/* To the first line that is off or edited, or else the first that can be off. */
function scrollToSwitch(switches, changed) {
  const asked = hidesEdit();
  const first = switches.find(one => state.off.has(one.number) && !asked)?.line ||
    (!asked && [...changed][0]) || switches[0]?.line;
  const row = first && lineElement(first);
  byId("code").scrollTop = row ? row.offsetTop - byId("code").clientHeight / 3 : 0;
}

function markSwitches(hidden) {
  for (const one of switchesIn(state.file)) {
    const off = state.off.has(one.number) && !hidden;
    byId("code").querySelector(`.switch[data-switch="${one.number}"]`)
      ?.setAttribute("aria-checked", String(!off));
    for (let line = one.line; line <= one.end; ++line)
      lineElement(line).classList.toggle("off", off || lineIsOff(line, hidden));
  }
}

const lineIsOff = (line, hidden) => !hidden && switchesIn(state.file).some(one =>
  state.off.has(one.number) && one.line <= line && line <= one.end);

function showFiles() {
  byId("files").replaceChildren(...filesHere().map(name => {
    const off = switchesIn(name).filter(one => state.off.has(one.number)).length;
    const tab = element("button",
      {type: "button", role: "tab", "aria-selected": String(name === state.file)}, shortFile(name),
      off && !askedCase() ? ` (${off} off)` : "");
    tab.addEventListener("click", () => openFile(name));
    return tab;
  }));
}

function openFile(name) {
  state.file = name;
  showSource(pickOf());
  showFiles();
  markPlaces();
}
