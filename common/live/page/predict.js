/* predict.js: the reader says what a run will show before it is shown. */

const PREDICT = "hopper-live-predict";
const UNORDERED = /is not ordered after|may still be under way/;
const VERIFIED = "verified", WRONG = "a wrong result, and no rule broken", HANGS = "a deadlock",
  RACE = "accesses that nothing orders", RULE = "another rule broken";
const ALIKE = 0.02; // so much of the cycles is no difference

let shownCycles = null; // of the last run that was verified and shown; null: of none

const predicting = () => byId("predict").checked;

function outcomeOf(answer) {
  if (!answer.code) return VERIFIED;
  const [hazard] = hazardsOf(answer.errors);
  if (!hazard) return WRONG;
  if (hazard.kind === "deadlock" || hazard.kind === "endless") return HANGS;
  return UNORDERED.test(hazard.text) ? RACE : RULE;
}

/* Where nothing is broken, the question is how long it takes. */
function comparedTo(before, answer) {
  const now = numberOfCycles(answer);
  const words = [`fewer cycles than ${spaced(before)}`, `as many, within ${100 * ALIKE} %`,
    `more cycles than ${spaced(before)}`];
  const at = now < before * (1 - ALIKE) ? 0 : now > before * (1 + ALIKE) ? 2 : 1;
  return {words, right: words[at]};
}

/* A variant is compared to the kernel as the chapter has it, another run to the one before. */
async function cyclesBefore() {
  if (isBroken()) return null;
  if (!kernelHere()) return shownCycles;
  const written = await background.run(optionsOf(state.chapter, state), {off: [], kernel: -1},
    false);
  return numberOfCycles(written);
}

function questionOf(answer, before) {
  if (before && numberOfCycles(answer)) return comparedTo(before, answer);
  const fence = hazardsOf(answer.errors)[0]?.kind.startsWith("missing-"); // is a rule, too
  return {words: [VERIFIED, WRONG, HANGS, RACE, RULE], right: outcomeOf(answer), also: fence && RULE};
}

/* Shows the answer when the reader has said what it will be. */
function askFirst(answer, before) {
  const {words, right, also} = questionOf(answer, before), box = byId("prediction");
  clearResult("The run is over. What does it say?");
  box.replaceChildren(element("div", {class: "choices"}, ...words.map(word => {
    const button = element("button", {type: "button"}, word);
    button.addEventListener("click", async () => {
      const good = await judged({rule: "named", right: [right, also].map(one => words.indexOf(one))},
        words.indexOf(word));
      showAnswer(answer);
      byId("prediction").replaceChildren(element("p",
        {class: good ? "good" : "bad", role: "status"},
        word === right ? `As you said: ${right}${right === VERIFIED ? ", this run" : ""}.` :
          `You said: ${word}. It is: ${right}.`));
    });
    return button;
  })));
  byId("jump").hidden = false;
  byId("jump").className = "";
  labelJump("What does it say?");
}

function keepPredict() {
  try {
    localStorage.setItem(PREDICT, predicting() ? "1" : "");
  } catch (error) { // where a page may keep nothing
  }
}

function predictKept() {
  try {
    return Boolean(localStorage.getItem(PREDICT));
  } catch (error) { // as above
    return false;
  }
}
