/* find_first.js: an exhibit as a question: its broken form alone, and the symptom. Which line is it, and
 * what does the simulator report? */

const found = new Set(); // names of exhibits
let hintsShown = 0, lastAnswer = null;

const caseHere = () => state.find ? exhibitOf(state.exhibit).case : null;
const finding = () => Boolean(caseHere()) && !found.has(state.exhibit);
const hidesResult = () => finding() && hintsShown < 2;

/* A report, with the lines' numbers as they are shown. */
function asShown(report) {
  if (!finding()) return report;
  const {numbers} = caseHere();
  return report.replace(PLACE, (place, file, line) => {
    const at = numbers.indexOf(Number(line));
    return at < 0 ? place : `${file}:${at + 1}`;
  });
}

/* What a click on a line answers. */
function pickButton(line) {
  const button = element("button", {type: "button", class: "pick", "aria-label": `Line ${line}`}, "?");
  button.addEventListener("click", () => judgeLine(line));
  return button;
}

function say(good, ...nodes) {
  byId("case-answer").replaceChildren(
    element("p", {class: good ? "good" : "bad", role: "status"}, ...nodes));
  byId("case-answer").scrollIntoView({block: "nearest"});
}

async function judgeLine(line) {
  const one = caseHere(), {says, rules} = one;
  if (!await judged(one, line - 1)) return say(false, `No, not line ${line}. ${says[line - 1]}`);
  say(true, `Line ${line} it is. And what does the simulator report?`);
  byId("case-answer").append(element("div", {class: "choices"}, ...Object.keys(rules).map(rule => {
    const button = element("button", {type: "button"}, rule);
    button.addEventListener("click", () => judgeRule(line, rule));
    return button;
  })));
}

async function judgeRule(line, rule) {
  const {rule: kind, rules, right_rule: right} = caseHere();
  if (!await judged({rule: kind, right}, Object.keys(rules).indexOf(rule))) {
    byId("case-answer").querySelector("p").replaceWith(element("p", {class: "bad", role: "status"},
      `Line ${line} is right, but it is not "${rule}". ${rules[rule]}`));
    return;
  }
  found.add(state.exhibit);
  showExhibit();
  if (lastAnswer) showResult(lastAnswer);
  byId("case-answer").scrollIntoView({block: "nearest"});
}

function showQuestion() {
  const one = caseHere();
  byId("case-body").hidden = !one;
  if (!one) return;
  const {story} = exhibitOf(state.exhibit), answer = element("div", {id: "case-answer"});
  byId("case-body").replaceChildren(answer);
  if (finding()) {
    const given = element("div", {}), hint = element("button", {type: "button"}, "Hint");
    hint.addEventListener("click", () => {
      given.append(element("p", {class: "hint"}, one.hints[hintsShown++]));
      hint.disabled = hintsShown >= one.hints.length;
      if (hint.disabled && lastAnswer) showResult(lastAnswer);
    });
    answer.append("Answer by a click beside the line.");
    byId("case-body").append(given, hint);
    return;
  }
  const fixed = element("button", {type: "button"}, "Run the fixed form");
  fixed.addEventListener("click", () => chooseForm("fixed"));
  answer.append(element("p", {class: "good", role: "status"}, "Yes."), element("p", {}, story),
    element("pre", {}, one.diff.join("\n")), fixed);
}
