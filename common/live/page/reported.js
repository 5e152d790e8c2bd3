/* reported.js: the hazards that a run has reported, with their lines. */

const HAZARD = /^hazard: ([\w-]+): ((?:.*)(?:\n {4}.*)*)/gm;
const PLACE = /([\w.]+\/[\w.]+\.(?:cu|h)):(\d+)/g;

/* [{kind, text}] */
const hazardsOf = errors => [...errors.matchAll(HAZARD)].map(
  ([, kind, text]) => ({
    kind,
    text: text.replace(/\n {8,}/g, " ").replace(/: thread\n +/, ": thread "),
  }));

/* The lines that a report names: where it happens, and what it collides with. Of a header's line
 * and the kernel's that called it, both. */
function placesOf(hazard) {
  const found = [], [head] = hazard.text.split(/: thread |\n/);
  for (const [, file, line] of head.matchAll(PLACE))
    found.push({file, line: Number(line), kind: "first"});
  const other = /(?:issued|initialized) at (.*)/.exec(hazard.text);
  const until = other ? other[1].split(/ by thread| for \d/)[0] : "";
  for (const [, file, line] of until.matchAll(PLACE))
    found.push({file, line: Number(line), kind: "second"});
  return found;
}

/* Text in which every place of a source is a link to its line. */
function linked(text) {
  const nodes = [];
  let at = 0;
  for (const match of text.matchAll(PLACE)) {
    const [place, file, line] = match;
    nodes.push(text.slice(at, match.index));
    at = match.index + place.length;
    if (!filesHere().includes(file)) {
      nodes.push(place);
      continue;
    }
    const link = element("a", {href: "#", class: "place"}, place);
    link.addEventListener("click", event => {
      event.preventDefault();
      goTo(file, Number(line));
    });
    nodes.push(link);
  }
  nodes.push(text.slice(at));
  return nodes;
}

const sourceLine = ({file, line}) =>
  filesHere().includes(file) ? linesHere(file).lines[line - 1]?.trim() || "" : "";

function hazardCard(hazard) {
  const sides = placesOf(hazard).map(place => element("li", {class: place.kind},
    ...linked(`${place.file}:${place.line}`), element("code", {}, sourceLine(place))));
  const rule = book.verdicts[hazard.kind];
  return element("article", {class: "hazard"}, element("h3", {}, hazard.kind),
    element("ul", {}, ...sides),
    ...(rule ? [element("p", {}, element("b", {}, "Means: "), rule.means, ". ",
      element("b", {}, "Usual cure: "), rule.cure, ".")] : []),
    element("details", {open: ""}, element("summary", {}, "The report"),
      element("pre", {}, ...linked(hazard.text.replace(/\n {4}/g, "\n")))));
}

const VERDICTS = {
  0: ["good", "Verified", "Every element is right, and no rule of the memory model is broken."],
  1: ["bad", "Wrong result", "Elements are wrong, and no rule of the memory model is broken."],
  2: ["bad", "Refused", ""],
  4: ["bad", "Hazard", ""],
};

function verdictOf(answer) {
  const failed = answer.code === 1 && !answer.errors.includes("wrong result");
  const [mood, title, text] = failed ? ["bad", "Failed", ""] : VERDICTS[answer.code] ||
    ["bad", "Stopped", "The run did not come to an end."];
  if (answer.code !== 4) return {mood, title, text: text || answer.errors};
  const kinds = [...new Set(hazardsOf(answer.errors).map(hazard => hazard.kind))];
  return {mood, title: `${title}: ${kinds.join(", ")}`,
    text: "The lines that the report names are marked in the source."};
}
