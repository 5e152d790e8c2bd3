"""gallery.py: the gallery of broken kernels.

Breaks every kernel, one place at a time (rules.py by rule, those of the store by hand), runs each
break in the simulator (gallery_run.c) and compares what becomes of it with what is recorded:

    verdicts.tsv   the breaks and their verdicts, written by --record
    harmless.py    those that nothing can catch because nothing is wrong with them, and why

That is the gallery of part one. With --house beyond or library it is that of another house, which
has breaks, verdicts and a page of its own (house_kernels.py). A function of a header in common/ is
broken in the gallery of the first house whose kernels call it.

A break whose order is broken must be reported as a hazard or a deadlock; a plain wrong result is
enough for one with a wrong address, size or number. Fails if one is not caught, if a verdict has
changed, or if an edit no longer applies. A break that has no row, such as those of a new kernel, is
judged in the same way, and an excuse for it may come from a function with the same text in another
kernel.

Many kernels have copies of a function. An edit of the same line of the same function is recorded
once, for the first kernel that has it, of this house or one before it. In the others, of which a row
shows that they are recorded at all, it must have the same verdict, or a row of its own.

The last field of a row says where the break is caught: `-` by the first run in the first
configuration, else by the run of that number, perhaps behind another configuration's name. That is
tried first, and only if it does not show the same verdict is the break searched for as if it were
new.

    --only TEXT    the breaks whose description contains TEXT; prints their reports. Also: the
                   environment's BREAKS
    --sample N     every N-th break, beginning at one that the commit's seed draws (seed.sh)
    --record       writes verdicts.tsv and the page mutants.md anew; with --only just those breaks.
                   Makes more runs of those that are listed as harmless
    --afresh       forgets the record of which run catches what
"""

import argparse
import collections
import concurrent.futures
import glob
import os
import re
import shutil
import signal
import sys
import threading

sys.dont_write_bytecode = True  # what follows lies in the source tree

import house_kernels
import gallery_page
import wrappers

import harmless
import report
import rules
from edit import DoesNotFit
from house_kernels import House
from source import Source
from store import BLOCKS, sample
from workshop import Workshop

# Macros that are not sizes. With two stages a wait for STAGES - 2 groups waits for all.
SWITCHES = (r"(WAIT|WIDE_STORES|PINGPONG|MULTICAST|TEAMS|EARLY|PAIRS|HEAD|SUMS|CTAS)=|"
            r"(CLUSTER|SPLITS|SLABS)=1$|STAGES=2$")
SURVIVED, WRONG = "survived", report.WRONG
FIELDS = ("file", "function", "code", "edit", "nth", "verdict", "where")
KEY = 5  # the fields that name a break

Configuration = collections.namedtuple("Configuration", "label file macros type")
# verdict: a hazard's kind, SURVIVED, WRONG, or what went wrong; kernel, run: where that came out,
# run 0: nowhere; says: the report's advice.
Outcome = collections.namedtuple("Outcome", "verdict kernel run says report",
                                 defaults=("", 0, "", ""))


def configurations(kernels):
    """Of a house's kernels; of those of one file that differ only in sizes, the first."""
    found, seen = [], set()
    for kernel in kernels:
        if not kernel["file"].endswith(".cu"):
            continue
        macros, types = tuple(kernel["macros"]), kernel["types"]
        switches = tuple(macro for macro in macros if re.match(SWITCHES, macro))
        if (kernel["file"], switches) not in seen:
            seen.add((kernel["file"], switches))
            found.append(Configuration(kernel["name"], kernel["file"], macros,
                                       types[0] if len(types) == 1 else "bf16"))
    # Without a cluster there is less to go wrong: last.
    return sorted(found, key=lambda c: any(re.match("(CLUSTER|SPLITS|SLABS)=1$", m)
                                           for m in c.macros))


def not_source(directory, names):
    return [name for name in names if not os.path.isdir(os.path.join(directory, name)) and
            not name.endswith((".h", ".cu"))]


class Gallery:
    def __init__(self, options):
        self.options = options
        self.house = House(options.root, options.house, options.kernels)
        self.rows = {tuple(row[:KEY]): row for row in read_table(self.house.record)}
        self.files = {file for file, *_ in self.rows}  # of which something is recorded
        self.earlier = first_of([row for name in self.house.earlier
                                 for row in read_table(house_kernels.record_of(options.root, name))])
        self.first = {**first_of(self.rows.values()), **self.earlier}
        self.configurations = configurations(self.house.kernels)
        self.sources = {}
        self.local = threading.local()
        self.edits, self.stale = [], []
        # The tree may be edited while this runs: kernels and headers are read once.
        self.root = os.path.join(options.work, "tree")
        self.workshop = Workshop(options, self.house, self.root)
        shutil.rmtree(self.root, ignore_errors=True)
        first_house = glob.glob("0*", root_dir=options.root)
        for directory in {"common", *first_house, *self.house.earlier, options.house} - {""}:
            shutil.copytree(os.path.join(options.root, directory),
                            os.path.join(self.root, directory), ignore=not_source)
        for file in dict.fromkeys(c.file for c in self.configurations):
            self.load(file, file)
        for header in [*self.house.headers, *self.house.beside]:
            self.load(header, self.house.path_of(header))
        common = set(self.house.common)
        own = self.called_by([options.house], common) - self.called_by(self.house.earlier, common)
        for source in self.sources.values():
            self.edits += [edit for edit in rules.generated(source) + self.written(source)
                           if self.is_called(edit.function) and
                           (source.name not in common or edit.function in own)]
        unknown = {one.source for one in self.house.written} - set(self.sources)
        self.stale += [f"breaks: {file} is no kernel" for file in sorted(unknown)]
        self.remember_excuses(first_house)
        self.stale += wrappers.unruled(self.root, self.sources.values(), self.is_called)

    def written(self, source):
        """The breaks of this file that are written; to `stale` is added what no longer applies."""
        found = rules.Places(source)
        for one in self.house.written:
            if one.source != source.name:
                continue
            try:
                changes = one.edit.changes(source)
            except DoesNotFit as why:
                self.stale.append(f"breaks: {one.gallery[0]}: {why}")
                continue
            what, category = one.gallery
            found.function = next((name for name, brace, end in source.functions()
                                   if changes[0][0] < end), "")
            found.add(changes[0][0], what, changes, category)
        return found.edits

    def remember_excuses(self, first_house):
        """The other houses' kernels began as copies of part one's."""
        files = {os.path.relpath(path, self.root) for directory in first_house
                 for path in glob.glob(os.path.join(self.root, directory, "*.cu"))}
        others = [Source(name, read_text(os.path.join(self.root, name)))
                  for name in sorted(files - set(self.sources))]
        harmless.remember((edit, function_text(source, edit))
                          for source in [*self.sources.values(), *others]
                          for edit in rules.generated(source))

    def excuse(self, edit):
        """Why nothing is wrong with it; None: no reason is known."""
        new = not self.recorded(edit)
        return harmless.reason_of(edit) or (
            harmless.reason_elsewhere(edit, function_text(self.sources[edit.file], edit))
            if new else None)

    def recorded(self, edit):
        """The row about this break, perhaps of the same edit in another kernel; or None."""
        key = key_of(edit)
        return self.rows.get(key) or (self.first.get(key[1:]) if edit.file in self.files else None)

    def where(self, edit):
        """The configuration and the number of the run that are recorded to catch it; or None."""
        row, users = self.recorded(edit), self.users(edit.file)
        if not row or row[KEY] == SURVIVED or not users:
            return None
        label, _, number = row[KEY + 1].rpartition(" ")
        return (next((c for c in users if c.label == label), users[0]),
                1 if number == "-" else int(number))

    def row_of(self, edit, outcome):
        where = "-" if outcome.run in (0, 1) else str(outcome.run)
        if outcome.run and outcome.kernel != self.users(edit.file)[0].label:
            where = f"{outcome.kernel} {outcome.run}"
        return [*key_of(edit), outcome.verdict, where]

    def load(self, name, path):
        self.sources[name] = Source(name, read_text(os.path.join(self.root, path)))

    def called_by(self, houses, headers):
        """The functions of the headers in common/ that kernels of these houses call, by way of each
        other, too."""
        code = "".join(read_code(path) for name in houses
                       for path in house_kernels.code_of(self.root, name))
        bodies = {}
        for source in (self.sources[name] for name in headers):
            bodies |= {name: source.text[brace:end] for name, brace, end in source.functions()}
            bodies |= {match.group(1): match.group() for match in re.finditer(
                r"^#define (\w+)\((?:.*\\\n)*.*", source.text, re.M)}
        found = set()
        while True:
            new = {name for name in bodies.keys() - found if re.search(rf"\b{name}\b", code)}
            if not new:
                return found
            found |= new
            code += "".join(bodies[name] for name in new)

    def is_called(self, function):
        """Not so: a verb of a header that no kernel uses."""
        verb = next((match.group(1) for source in self.sources.values() for match in re.finditer(
            rf"^#define (\w+)\(.*(?:\\\n.*)?\b{function}\(", source.text, re.M)), None)
        return not verb or any(re.search(rf"\b{verb}\(", source.code)
                               for source in self.sources.values())

    def beside(self, configuration):
        """The headers in the kernel's own directory that it includes, by way of each other, too."""
        directory, text = os.path.dirname(configuration.file), self.sources[configuration.file].text
        found, left = [], [h for h in self.house.beside if os.path.dirname(h) == directory]
        while new := [h for h in left if f'#include "{os.path.basename(h)}"' in text]:
            found += new
            left = [header for header in left if header not in new]
            text += "".join(self.sources[header].text for header in new)
        return found

    def users(self, name):
        """The configurations that are compiled from this file."""
        if not name.startswith(BLOCKS):
            return [c for c in self.configurations if name in (c.file, *self.beside(c))]
        include = f'#include "{name}"'
        return [c for c in self.configurations if any(include in self.sources[file].text
                                                      for file in (c.file, *self.beside(c)))]

    # ---- one break ----

    def compile(self, edit, configuration):
        """The path of a shared object, or None, and what the compiler said. No edit: of the kernel as
        it is."""
        texts = {name: self.sources[name].text
                 for name in (configuration.file, *self.beside(configuration))}
        if edit:
            texts[edit.file] = edit.applied(self.sources[edit.file])
        return self.workshop.compile(configuration.file, configuration.macros, texts)

    def is_original(self, path, configuration):
        """Whether the object is that of the kernel as it is: the edited code is not part of this
        configuration."""
        with open(path, "rb") as file:
            code = file.read()
        if not hasattr(self.local, "originals"):
            self.local.originals = {}
        if configuration not in self.local.originals:
            with open(self.compile(None, configuration)[0], "rb") as file:
                self.local.originals[configuration] = file.read()
            with open(path, "wb") as file:
                file.write(code)
        return code == self.local.originals[configuration]

    def run_in(self, edit, configuration, number=0):
        """The outcome in one configuration; number: of that run of the search only. None: the edit
        changes nothing there."""
        kernel = configuration.label
        path, errors = self.compile(edit, configuration)
        if not path:
            return Outcome("does not compile", kernel, report=errors)
        if self.is_original(path, configuration):
            return None
        excused = self.excuse(edit) or harmless.not_needed(edit, kernel)
        search = ("spread" if self.options.record else "few") if excused else edit.category
        run, runs = self.workshop.run(path, search, str(number), configuration.type)
        if run.returncode == -signal.SIGXCPU:
            return Outcome("never ends", kernel)
        codes = {int(words[-1]): int(words[1]) for words in reversed(runs)}  # and the first run
        if run.returncode or not codes:
            return Outcome(f"crash ({run.returncode})", kernel, report=run.stderr)
        worst = max(codes)
        hazard = report.HAZARD.search(run.stderr)
        if worst == report.EXIT_HAZARD and hazard:
            kind, message = hazard.groups()
            return Outcome(kind, kernel, codes[worst], gallery_page.advice_of(message),
                           " ".join(runs[-1]) + "\n" + hazard.group())
        if worst == 0:
            return Outcome(SURVIVED, kernel)
        return Outcome(WRONG if worst == 1 else f"exit code {worst}", kernel, codes[worst],
                       report=run.stderr)

    def run(self, edit):
        """The outcome in the first configuration where the break is reported; else the worst."""
        where = self.where(edit)
        if where and not self.options.afresh:
            outcome = self.run_in(edit, *where)
            if outcome and outcome.verdict == self.recorded(edit)[KEY]:
                return outcome
        best = Outcome("changes nothing", "")
        for configuration in self.users(edit.file):
            outcome = self.run_in(edit, configuration)
            if outcome and outcome.verdict not in (SURVIVED, WRONG):
                return outcome
            if outcome and best.verdict != WRONG:
                best = outcome
        return best

    def selected(self):
        only = self.options.only
        found = [e for e in self.edits if not only or only in describe(e)]
        return sample(found, self.options.sample, self.options.root)


def describe(edit):
    return f"{edit.file}:{edit.line} ({edit.function}): {edit.code}   [{edit.what}]"


def read_text(path):
    with open(path, encoding="ascii") as file:
        return file.read()


def read_code(path):
    return Source(path, read_text(path)).code


def function_text(source, edit):
    """Of the function that the edit is in; how it is broken into lines does not count."""
    return next((" ".join(source.text[brace:end].split())
                 for name, brace, end in source.functions() if name == edit.function), None)


def read_table(path):
    """The rows of a table with these fields; none if it has others."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="ascii") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    return rows[1:] if rows[:1] == [list(FIELDS)] else []


def key_of(edit):
    return tuple(" ".join(str(field).split()) for field in edit.key())


def first_of(rows):
    """By the fields that name an edit but for the kernel's, the first row."""
    found = {}
    for row in rows:
        found.setdefault(tuple(row[1:KEY]), row)
    return found


def judge(edit, outcome, excused):
    """What is wrong with this outcome; None: nothing."""
    if outcome.verdict == SURVIVED:
        return None if excused else "was not caught"
    if excused:
        return f"is listed as harmless, but: {outcome.verdict}"
    if outcome.verdict == WRONG and edit.category == rules.ORDER:
        return "gave a wrong result, and nothing was reported"
    if " " in outcome.verdict and outcome.verdict != WRONG:
        return outcome.verdict
    if outcome.verdict != WRONG and not outcome.says:
        return "was reported without a word of what to do about it"
    return None


def differs(gallery, edit, outcome, was):
    """How this outcome differs from the row; None: not. A row of another kernel says nothing of
    where."""
    row = gallery.row_of(edit, outcome)
    if row[KEY] == was[KEY] and (row == was or row[:KEY] != was[:KEY]):
        return None
    return f"differs from verdicts.tsv:\n  now {row[KEY:]}\n  was {was[KEY:]}, for {was[0]}"


def to_record(gallery, results):
    """What the record has to say: these results, and of the other breaks what it has said before. Its
    rows; what becomes of each break; and how many have no row."""
    news = {key_of(edit): outcome for edit, outcome in results}
    whole, rows, missing = [], [], 0
    first, files = dict(gallery.earlier), set()
    for edit in gallery.edits:
        key, row = key_of(edit), gallery.recorded(edit)
        if key in news:
            row = gallery.row_of(edit, news[key])
        elif not row:
            missing += 1
            continue
        whole.append((edit, Outcome(row[KEY])))
        was = first.get(key[1:])
        if not was or was[KEY] != row[KEY] or edit.file not in files:
            rows.append([*key, *row[KEY:]])
            first.setdefault(key[1:], row)
            files.add(edit.file)
    return rows, whole, missing


def out_of_date(gallery):
    """What the record and the page would not have if they were written now."""
    rows, whole, missing = to_record(gallery, [])
    known, stale = {key_of(edit) for edit in gallery.edits}, []
    for key in gallery.rows:
        if key not in known:
            stale.append(f"verdicts.tsv: {' | '.join(key)}")
    if not stale and rows != read_table(gallery.house.record):
        stale.append("verdicts.tsv has its rows not in the order in which they are written, or more "
                     "than are needed")
    if not missing and not gallery_page.is_current(gallery.house, whole):
        stale.append(f"{gallery.house.page} does not say what verdicts.tsv says")
    return stale


def parser_of(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--root", required=True)
    parser.add_argument("--runner", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--compiler", default="cc")
    parser.add_argument("--kernels", required=True)
    parser.add_argument("--house", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", default=os.environ.get("BREAKS", ""))
    parser.add_argument("--sample", type=int, default=1)
    parser.set_defaults(record=False)  # only gallery.py has the option
    return parser


def main():
    parser = parser_of("Runs the gallery of broken kernels.")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--afresh", action="store_true")
    options = parser.parse_args()
    gallery = Gallery(options)
    edits = gallery.selected()
    if not edits:
        raise SystemExit(f"no break's description contains '{options.only}'")
    results, failures = [], []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for edit, outcome in zip(edits, pool.map(gallery.run, edits)):
            results.append((edit, outcome))
            was = gallery.recorded(edit)
            if options.only:
                print(f"{describe(edit)}\n-> {outcome.verdict} in {outcome.kernel}\n"
                      f"{outcome.report}\n")
            problem = judge(edit, outcome, gallery.excuse(edit))
            if not was:
                print(f"no row: {describe(edit)}: {outcome.verdict}", flush=True)
            elif not problem and not options.record:
                problem = differs(gallery, edit, outcome, was)
            if problem:
                failures.append((edit, problem))
                print(f"{describe(edit)}\n    {problem}", flush=True)
    print("\n".join(gallery_page.totals(results)))
    stale = gallery.stale
    if options.record:
        rows, whole, missing = to_record(gallery, results)
        if missing:
            print(f"{missing} other breaks have no row")
        gallery_page.write(gallery.house, FIELDS, rows, whole)
    elif not options.only:
        stale += out_of_date(gallery)
    if len(edits) == len(gallery.edits):
        stale += [f"harmless.py: {' | '.join(rule[:3])}"
                  for rule in harmless.unused(gallery.house.excused, edits)]
    for line in stale:
        print(f"out of date: {line}")
    if failures or stale:
        print(f"{len(failures) + len(stale)} failures. If kernels or reports were changed on "
              f"purpose, build the target {'_'.join(filter(None, ('gallery_record', options.house)))} "
              "and read the difference.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
