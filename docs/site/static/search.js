// The search page. A section is a document with four fields, its words weighted: its heading, its
// page's title, what links to it call it, its text. BM25 ranks sections; a page ranks as its best
// section does.
"use strict";

const WEIGHTS = { heading: 5, title: 6, names: 3, text: 1 };
const VERBATIM = 2; // what is asked is a name of the section as it stands, such as an option
const PARTIAL = 0.4; // a word that only begins like the one that was asked for
const SECTIONS_SHOWN = 3;
// What a page is for. The top of a question's page is its answer; a gallery or a list has every word
// and explains few of them.
/** @type {[RegExp, number]} */
const ANSWER = [/^docs\/questions\//, 1.3];
/** @type {[RegExp, number][]} */
const PRIORS = [
  [/^docs\/(museum|breaks|mutants|index-of-names|topics|glossary|style|CONTRIBUTING|results)/, 0.7],
  [/^(beyond|library)\/docs\//, 0.7],
];
const STOP_WORDS = new Set(
  `a about after all also am an and any are as at be been but by can cannot could did do does doesn don
   for from get gets had has have how i if in into is isn it its just know like many me mean means much
   my need no not of on one only or our out s should so some t than that the their them then there these
   they this to tried try use used want was we were what when where which while who why will with would
   you your`.split(/\s+/));

const WORD = /[a-z]+/g;
const WORD_OF_ANY_CASE = /[a-z]+/gi;

const stemmer = new EnglishStemmer();
const stems = new Map(); // the same words come again and again

function stem(word) {
  if (!stems.has(word)) stems.set(word, stemmer.stemWord(word));
  return stems.get(word);
}

// What a section's score is multiplied by.
function prior(page, section) {
  if (ANSWER[0].test(page.url) && section.anchor === page.sections[0][0]) return ANSWER[1];
  return (PRIORS.find(([pattern]) => pattern.test(page.url)) || [0, 1])[1];
}

// The words of a text: stems, and names with dots or underscores also as a whole, words with a hyphen
// also without it. 128×256 is written 128x256, too.
function terms(text) {
  const found = [];
  text = text.replaceAll("×", "x");
  for (const [name] of text.toLowerCase().matchAll(/[a-z]+(?:-[a-z]+)+/g)) {
    found.push(stem(name.replaceAll("-", "")));
  }
  for (const [name] of text.toLowerCase().matchAll(/[a-z0-9]+(?:[._:][a-z0-9]+)*/g)) {
    const words = name.split(/[._:]+/);
    if (words.length > 1) found.push(name);
    for (const word of words) if (!STOP_WORDS.has(word)) found.push(stem(word));
  }
  return found;
}

// A text in which a whole name can be found.
function spaced(text) {
  return ` ${text.toLowerCase().replace(/[\s,;.?]+/g, " ").trim()} `;
}

function makeIndex() {
  const sections = [];
  const postings = new Map(); // term -> Map(section's number -> weighted count)
  const words = new Map(); // as the pages have them -> how often
  for (const page of PAGES) {
    const title = page.sections[0][1];
    for (const [anchor, heading, text, names] of page.sections) {
      const number = sections.length;
      const section = { page, anchor, heading, text, names: spaced(names), length: 0 };
      sections.push(section);
      const fields = { heading, title, names, text };
      for (const [field, weight] of Object.entries(WEIGHTS)) {
        for (const [word] of fields[field].toLowerCase().matchAll(WORD)) {
          words.set(word, (words.get(word) || 0) + 1);
        }
        for (const term of terms(fields[field])) {
          if (!postings.has(term)) postings.set(term, new Map());
          const counts = postings.get(term);
          counts.set(number, (counts.get(number) || 0) + weight);
          if (field === "text") section.length++;
        }
      }
    }
  }
  const total = sections.reduce((sum, section) => sum + section.length, 0);
  return { sections, postings, words, average: total / sections.length };
}

// The fewest letters that are put in, left out, replaced, or exchanged with the next one; `most` + 1
// if there are more.
function edits(a, b, most) {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let before = [];
  let row = [...b, ""].map((_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + Number(a[i - 1] !== b[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        next[j] = Math.min(next[j], before[j - 2] + 1);
      }
    }
    [before, row] = [row, next];
  }
  return row[b.length];
}

// The words of a question that no page has, nor the beginning of one, each with the nearest that
// there is: of up to five letters one may be wrong, of more two.
function corrections(index, question) {
  const found = new Map();
  for (const [word] of question.toLowerCase().matchAll(WORD)) {
    if (word.length < 4 || STOP_WORDS.has(word) || expand(index, stem(word)).length) continue;
    const most = word.length < 6 ? 1 : 2;
    let best = null;
    for (const [other, count] of index.words) {
      const wrong = edits(word, other, most);
      const better = !best || wrong < best.wrong || (wrong === best.wrong && count > best.count);
      if (wrong <= most && better) {
        best = { other, wrong, count };
      }
    }
    if (best) found.set(word, best.other);
  }
  return found;
}

function corrected(question, found) {
  return question.replace(WORD_OF_ANY_CASE, word => found.get(word.toLowerCase()) || word);
}

// A term of the question as terms of the index, with weights.
function expand(index, term) {
  if (index.postings.has(term)) return [[term, 1]];
  if (term.length < 3) return [];
  return [...index.postings.keys()].filter((other) => other.startsWith(term))
    .map((other) => [other, PARTIAL]);
}

function search(index, question) {
  const K1 = 1.5;
  const B = 0.6;
  const asked = [...new Set(terms(question))];
  const scores = new Map(); // section's number -> { sum, matched }
  for (const term of asked) {
    const best = new Map();
    for (const [name, weight] of expand(index, term)) {
      const counts = index.postings.get(name);
      const rarity = Math.log(1 + index.sections.length / (counts.size + 0.5));
      for (const [number, count] of counts) {
        const norm = K1 * (1 - B + (B * index.sections[number].length) / index.average);
        const score = (weight * rarity * count * (K1 + 1)) / (count + norm);
        best.set(number, Math.max(best.get(number) || 0, score));
      }
    }
    for (const [number, score] of best) {
      const entry = scores.get(number) || { sum: 0, matched: 0 };
      scores.set(number, { sum: entry.sum + score, matched: entry.matched + 1 });
    }
  }
  const pages = new Map(); // page -> its sections that match
  for (const [number, { sum, matched }] of scores) {
    const section = index.sections[number];
    const named = section.names.includes(spaced(question)) ? VERBATIM : 1;
    const score = (named * prior(section.page, section) * sum * (1 + matched)) / (1 + asked.length);
    if (!pages.has(section.page)) pages.set(section.page, []);
    pages.get(section.page).push({ section, score });
  }
  const hits = [...pages].map(([page, found]) => {
    found.sort((a, b) => b.score - a.score);
    return { page, found: found.slice(0, SECTIONS_SHOWN), score: found[0].score };
  });
  return hits.sort((a, b) => b.score - a.score);
}

// The text around the place with the most words of the question, those in <mark>.
function excerpt(text, asked) {
  const words = text.split(" ");
  const hit = words.map((word) => terms(word).some((term) => asked.has(term)));
  const LENGTH = 34;
  let start = 0;
  let most = -1;
  for (let i = 0; i < words.length; i += 6) {
    const count = hit.slice(i, i + LENGTH).filter(Boolean).length;
    if (count > most) [most, start] = [count, i];
  }
  const line = document.createElement("p");
  line.append(start > 0 ? "… " : "");
  for (let i = start; i < Math.min(start + LENGTH, words.length); i++) {
    if (hit[i]) {
      const mark = document.createElement("mark");
      mark.textContent = words[i];
      line.append(mark, " ");
    } else {
      line.append(words[i] + " ");
    }
  }
  line.append(start + LENGTH < words.length ? "…" : "");
  return line;
}

function link(page, section) {
  const anchor = document.createElement("a");
  const first = page.sections[0] === section || section.anchor === page.sections[0][0];
  anchor.href = page.url + (first ? "" : "#" + section.anchor);
  anchor.textContent = first ? page.sections[0][1] : section.heading;
  return anchor;
}

// What no page has is searched for as it was probably meant.
function note(hits, question, found) {
  const line = document.getElementById("search-note");
  line.replaceChildren();
  if (found.size) {
    const better = document.createElement("a");
    better.href = "?q=" + encodeURIComponent(corrected(question, found));
    better.textContent = corrected(question, found);
    line.append(`No page has ${[...found.keys()].join(", ")}. Shown is `, better, ".");
  } else if (question.trim() && hits.length === 0) {
    line.append("Nothing was found.");
  }
}

function show(index, typed) {
  const found = corrections(index, typed);
  const question = corrected(typed, found);
  const hits = search(index, question);
  note(hits, typed, found);
  const asked = new Set(terms(question));
  const list = document.getElementById("search-results");
  list.replaceChildren();
  for (const { page, found: parts } of hits.slice(0, 20)) {
    const item = document.createElement("li");
    const title = document.createElement("a");
    title.className = "page";
    title.href = page.url;
    title.textContent = page.sections[0][1];
    item.append(title);
    for (const { section } of parts) {
      const part = document.createElement("div");
      if (section.anchor !== page.sections[0][0]) part.append(link(page, section));
      if (section.text) part.append(excerpt(section.text, asked));
      item.append(part);
    }
    list.append(item);
  }
}

const index = makeIndex();
const input = document.getElementById("search-words");
input.value = new URLSearchParams(location.search).get("q") || "";
input.addEventListener("input", () => show(index, input.value));
show(index, input.value);
input.focus();
