/* shareable.js: the state of a page in its address. The page has `state`, what of it is usual
 * (USUAL), and the word with which every address begins (FIRST). */

function address() {
  const words = new URLSearchParams({[FIRST]: state[FIRST]});
  for (const [name, value] of Object.entries(USUAL))
    if (state[name] !== value) words.set(name, state[name]);
  return `#${words}`;
}

function keepAddress() {
  history.replaceState(null, "", address());
  byId("link").href = address();
}
