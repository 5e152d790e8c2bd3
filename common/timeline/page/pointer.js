/* pointer.js: mouse and fingers in the timelines. The page scrolls by vertical swipes: the canvas
 * takes the horizontal ones, two fingers, and taps. */

const TAP = 5; /* pixels that a finger may move and still taps */

/* Two fingers: the times under them stay under them. */
function pinch() {
  const [a, b] = [...view.fingers.values()];
  const [left, right] = a.x < b.x ? [a, b] : [b, a];
  const apart = Math.max(20, right.x - left.x),
        length = (right.time - left.time) / apart * plotWidth();
  if (length <= 0) return;
  const from = left.time - (left.x - LABELS) / plotWidth() * length;
  show(from, from + length);
}

function pointerDown(event) {
  const canvas = byId("lanes");
  canvas.setPointerCapture(event.pointerId);
  view.fingers.set(event.pointerId, {x: event.offsetX, time: timeAt(event.offsetX)});
  for (const finger of view.fingers.values()) finger.time = timeAt(finger.x);
  view.moved = view.fingers.size > 1;
  view.pointer = {x: event.offsetX, y: event.offsetY, from: view.from, to: view.to};
  view.marking = event.shiftKey ? {from: event.offsetX, to: event.offsetX} : null;
  canvas.style.cursor = event.shiftKey ? "col-resize" : "grabbing";
  byId("tooltip").hidden = true;
}

function pointerMove(event) {
  const finger = view.fingers.get(event.pointerId);
  if (finger) finger.x = event.offsetX;
  if (view.pointer && Math.abs(event.offsetX - view.pointer.x) > TAP) view.moved = true;
  if (view.fingers.size > 1) {
    pinch();
  } else if (view.marking) {
    view.marking.to = event.offsetX;
    redraw();
  } else if (view.pointer && finger) {
    const moved =
      (event.offsetX - view.pointer.x) / plotWidth() * (view.pointer.to - view.pointer.from);
    if (view.moved) show(view.pointer.from - moved, view.pointer.to - moved);
  } else if (!byId("tooltip").classList.contains("pinned") || byId("tooltip").hidden) {
    showTooltip(event.offsetX, event.offsetY);
  }
}

function pointerUp(event) {
  const marked = view.marking, pressed = view.pointer;
  view.fingers.delete(event.pointerId);
  view.pointer = view.marking = null;
  byId("lanes").style.cursor = "";
  /* The finger that is left goes on from where it is. */
  for (const finger of view.fingers.values())
    view.pointer = {x: finger.x, from: view.from, to: view.to};
  if (marked && Math.abs(marked.to - marked.from) > 4)
    show(timeAt(Math.min(marked.from, marked.to)), timeAt(Math.max(marked.from, marked.to)));
  else if (marked)
    redraw();
  else if (pressed && event.type === "pointerup" && !view.moved)
    selectSpan(event.offsetX, event.offsetY);
}

/* A span that is clicked: its text stays, and the barrier goes to the event that belongs to it. */
function selectSpan(x, y) {
  const hit = spanAt(x, y), found = hit && hit.i >= 0 ? eventOfSpan(hit.row, hit.i) : null;
  if (!found) {
    showTooltip(x, y);
    return;
  }
  selectBarrier(hit.row.step, found.index, found.at);
  const link = element("a", {href: "#barriers"}, "Show the barrier");
  link.addEventListener("click", event => {
    event.preventDefault();
    byId("barriers").scrollIntoView();
  });
  const which = hit.row.step.timeline.barriers[found.index];
  showTooltip(x, y, [`\n\n${shortName(which)}, event ${found.at + 1}: ${
    byId("barrier-sentence").textContent}\n`, link]);
}

function wheel(event) {
  const box = byId("timeline");
  /* An unfocused timeline lets the page scroll. */
  if (!event.ctrlKey && !event.metaKey && document.activeElement !== box) return;
  event.preventDefault();
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
    pan((event.deltaX || event.deltaY) / 1000);
  else
    zoom(Math.exp(-Math.max(-100, Math.min(100, event.deltaY)) / 300), timeAt(event.offsetX));
}

function listenToPointer() {
  const canvas = byId("lanes");
  view.fingers = new Map();
  canvas.addEventListener("pointerdown", pointerDown);
  canvas.addEventListener("pointermove", pointerMove);
  canvas.addEventListener("pointerup", pointerUp);
  canvas.addEventListener("pointercancel", pointerUp);
  canvas.addEventListener("pointerleave", () => {
    if (!byId("tooltip").classList.contains("pinned")) byId("tooltip").hidden = true;
  });
  canvas.addEventListener("dblclick", event => zoom(3, timeAt(event.offsetX)));
  byId("timeline").addEventListener("wheel", wheel, {passive: false});
}
