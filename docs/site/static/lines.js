// A listing's address may name several lines, as on GitHub: #L12-L20.
"use strict";

function markLines() {
  for (const line of document.querySelectorAll(".line.marked")) line.classList.remove("marked");
  const found = /^#L(\d+)(?:-L(\d+))?$/.exec(location.hash);
  if (!found) return;
  const first = Number(found[1]);
  const last = Number(found[2] || first);
  for (let i = first; i <= last; i++) document.getElementById(`L${i}`)?.classList.add("marked");
  document.getElementById(`L${first}`)?.scrollIntoView({ block: "center" });
}

window.addEventListener("hashchange", markLines);
window.addEventListener("load", markLines);
