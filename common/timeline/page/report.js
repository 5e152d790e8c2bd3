/* report.js: a report and the element that shows it. */

let listening = false;

/* Shows a report (what trace and table say, as JSON) in an element, in place of what is there. The
 * markup is the page's template. */
function renderReport(report, root) {
  data = report;
  root.replaceChildren(document.getElementById("report").content.cloneNode(true));
  Object.assign(barrier, {step: null, which: null, at: 0, touched: false});
  showRun();
  showResults();
  startTimelines();
  startHazards();
  startBarriers();
  restoreState();
  if (!listening) listenToWindow();
  listening = true;
}

renderReport(JSON.parse(byId("data").textContent), byId("page"));
