// A link to a live page opens it beside the text, where there is room.
"use strict";

const ROOM = "(min-width: 80em)";

function panel() {
  const made = document.createElement("aside");
  made.id = "beside";
  made.innerHTML = `<p><a target="_blank">Open as a page</a>
    <button type="button">Close</button></p><iframe title="The live page"></iframe>`;
  made.querySelector("button").addEventListener("click", close);
  return made;
}

function close() {
  document.getElementById("beside")?.remove();
  document.body.classList.remove("has-beside");
}

function openBeside(address) {
  const here = document.getElementById("beside") || panel();
  document.body.append(here);
  document.body.classList.add("has-beside");
  here.querySelector("a").href = address;
  const frame = here.querySelector("iframe");
  if (frame.src) frame.contentWindow.location.replace(address); // no entry in the history
  else frame.src = address;
}

document.addEventListener("keydown", event => {
  if (event.key === "Escape") close();
});

document.addEventListener("click", event => {
  const link = event.target.closest?.(
    'a[href*="live.html#chapter="], a[href*="beyond.html#chapter="], ' +
    'a[href*="blackwell.html#chapter="], a[href*="museum.html#exhibit="], ' +
    'a[href*="layouts.html#swizzle="], a[href*="ring.html#stages="]');
  const plain = !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0;
  if (!link || !plain || link.closest("#beside") || !matchMedia(ROOM).matches) return;
  event.preventDefault();
  openBeside(link.href);
});
