/* judge.js: whether an answer is right: breaks/judge.h, as WebAssembly. */

const judge = unpacked(textOfElement("judge")).then(bytes => WebAssembly.instantiate(bytes, {}))
  .then(({instance}) => instance.exports);

/* Of a case, or of what else has a rule and right answers. null: it cannot be decided. answers: of runs. */
async function judged({rule, right}, given, answers = []) {
  const {judge_open, judge_right, judge_run, judge_answer} = await judge;
  judge_open(rule.charCodeAt(0));
  right.forEach(number => judge_right(number));
  answers.forEach(answer => judge_run(answer.code, numberOfCycles(answer) || 0));
  const judgement = judge_answer(given);
  return judgement < 0 ? null : judgement > 0;
}
