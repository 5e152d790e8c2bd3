/* play.js: the barrier's events one after the other, as fast or as slowly as chosen. */

let playing = 0; /* a timer */

function stopPlaying() {
  clearInterval(playing);
  playing = 0;
  const button = byId("play");
  if (button) button.textContent = "Play";
}

function startPlaying() {
  if (barrier.at >= eventCount(barrier.which) - 1) goTo(0);
  byId("play").textContent = "Pause";
  playing = setInterval(() => {
    if (!byId("play") || barrier.at >= eventCount(barrier.which) - 1)
      stopPlaying();
    else
      stepBy(1);
  }, Number(byId("play-speed").value));
}

function startPlay() {
  stopPlaying();
  byId("play").addEventListener("click", () => playing ? stopPlaying() : startPlaying());
  byId("play-speed").addEventListener("change", () => {
    if (!playing) return;
    stopPlaying();
    startPlaying();
  });
}
