/* no_practice.js: in the place of choose.js and practice.js, on a page that has no cases. */

const answersOf = new Map();
let lastAnswer = null;
const [caseOf, askedCase, hidesResult, hidesEdit, pickOf, showCase, openCase, closeCase, fillCases,
  judgeRun, listenCases, completeRuns] = Array(12).fill(() => null);
