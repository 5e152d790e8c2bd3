"""museum_cases.py: the museum's part of the practice, for build/sim/practice and for museum.html.

A case is the broken form of an exhibit without what gives it away: its comments, the lines of the
preprocessor and the form that is right. Asked is the line that is wrong, or the line before which one
is missing, and then the rule: what the simulator reports. Which line that is follows from the exhibit,
what it is about and what is reported from its head (breaks/exhibits.py), what a GPU shows from
docs/results. museum_reasons.py says of the lines that mislead why it is not they; of any other line the
reason is what its wrapper does, by the wrapper's header.
"""

import glob
import os
import random
import re
import sys

import cases
import exhibits
import hazards
import report
from museum_reasons import EXHIBITS

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tools", "museum"))
import museum_page

OFFERED = 4  # rules, of which one is right
GPU = {"correct": "D was right in all runs", "hangs": "the kernel hangs"}
ASKED = {
    "missing": "A line is missing. Before which line does it belong, at the latest?",
    "wrong": "One line is wrong. Which?",
    "misplaced": "One line is in the wrong place. Which?",
}
ELSEWHERE = {  # what holds of every other line; museum_places.py tries the first
    "missing": "Before it, what is missing does not help.",
    "wrong": "The right form has this line as it is here.",
    "misplaced": "The right form has this line where it is here.",
}
# Wrappers that have no comment of their own.
PLAIN = {"__syncthreads": "Waits for all threads of the CTA, and orders their memory accesses.",
         "__syncwarp": "Waits for the lanes of the warp, and orders their memory accesses."}
for SIZE in ("b32", "b128"):
    PLAIN |= {f"ld_shared_{SIZE}": "Reads shared memory through the generic proxy.",
              f"st_shared_{SIZE}": "Writes shared memory through the generic proxy.",
              f"ld_global_{SIZE}": "Reads global memory.", f"st_global_{SIZE}": "Writes global memory."}


# ---- what the book says of an exhibit ----

def seen_on_gpus(root):
    """{exhibit: what became of its broken form}: docs/results/*museum.tsv."""
    seen = {}
    for path in sorted(glob.glob(os.path.join(root, "docs/results/*museum.tsv"))):
        made, rows = museum_page.seen_on_gpu.read_table(path)
        for row in rows:
            if row["form"] == "broken":
                said = [f"{tool} says: {row[tool].partition(': ')[2]}"
                        for tool in museum_page.TOOLS if ": " in row[tool]]
                alone = GPU.get(row["alone"], f"D was {row['alone']}")
                seen[row["exhibit"]] = (f"On an {made['gpu']}, measured: {alone}; "
                                        f"{'; '.join(said) or 'compute-sanitizer names no line'}. ")
    return seen


def read_wrappers(root):
    """{wrapper: the first sentence of its comment}: common/hopper and common/blackwell."""
    found = {}
    for path in sorted(path for folder in ("hopper", "blackwell")
                       for path in glob.glob(os.path.join(root, "common", folder, "*.h"))):
        comment = []
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.startswith("/*"):
                    comment = []
                if line.startswith(("/*", " *")):
                    comment.append(line.strip(" /*\n"))
                named = re.match(r"(?:DEVICE [\w ]+?[ *]|#define )(\w+)\(", line)
                if named and comment:
                    first = re.match(r".*?[.?](?= |$)", " ".join(comment)).group()
                    found[named.group(1)] = first.replace("`", "")
    return found | PLAIN


# ---- the broken form ----

def without_accusation(text):
    return re.sub(r"\s*/\* accused.*?\*/", "", text)


def read_forms(root, name):
    """[(sign, text, line in the file)], from the constants to the end of the kernel."""
    rows = exhibits.read_lines(exhibits.source_of(root, name))
    rows = [(sign, without_accusation(text), number) for sign, text, number in rows
            if without_accusation(text) or "/*" not in text]
    first = next(i for i, (_, text, _) in enumerate(rows) if text.startswith("enum {"))
    kernel = next(i for i, (_, text, _) in enumerate(rows) if text.startswith("KERNEL("))
    last = next(i for i, (_, text, _) in enumerate(rows) if i > kernel and text == "}")
    return rows[first:last + 1]


def statements(lines):
    """For each line the one on which its statement begins; -1 for a blank line and a comment."""
    begins, depth, ended = [], 0, True
    for i, line in enumerate(lines):
        code = re.sub(r"/\*.*?\*/", "", line).strip()
        begins.append(-1 if not code else i if ended else begins[-1])
        if code:
            depth += code.count("(") - code.count(")")
            ended = not depth and (code[0] == "#" or code[-1] in ";{})" or code.endswith("else"))
    return begins


def answer_in(rows):
    """(what is asked, the line of the broken form, from 0)"""
    signs = "".join(sign for sign, _, _ in rows)
    first = re.search("-" if "-" in signs else r"[+]", signs).start()
    asked = "wrong" if len(re.findall("[+-]+", signs)) == 1 else "misplaced"
    return asked if "-" in signs else "missing", len(signs[:first].replace("+", ""))


def line_of(lines, begins, snippet):
    """The one statement that has this text; a text that begins with blanks is the line's beginning,
    and one that ends with a brace in a line of its own means the brace after that statement."""
    if snippet.endswith("\n}"):
        at = line_of(lines, begins, snippet[:-2])
        return next(i for i, line in enumerate(lines) if begins[i] > at and line.strip() == "}")
    place = re.compile(r"(?<!\w)" + re.escape(snippet))
    found = [i for i, line in enumerate(lines) if begins[i] == i and
             (line.startswith(snippet) if snippet[0] == " " else place.search(line))]
    if len(found) != 1:
        raise ValueError(f"{snippet!r} is on lines {[i + 1 for i in found]}")
    return found[0]


def reason(line, asked, wrappers):
    """Of a line that no one has written about."""
    names = [name for name in re.findall(r"\b(\w+)\(", line) if name in wrappers and not name.isupper()]
    what = f"{names[0]}(): \u201c{wrappers[names[0]]}\u201d" if names else (
        "It signals nothing, waits for nothing and moves no data.")
    return f"{what} {ELSEWHERE[asked]}"


# ---- the cases ----

def rules_for(name, verdict, others):
    """Some of the others, the same for an exhibit each time, and the one that is right among them."""
    others = [one for one in others if one != verdict]
    return sorted([verdict, *random.Random(name).sample(others, OFFERED - 1)])


def case_of(name, about, root, wrappers):
    texts, rows, options = EXHIBITS.get(name, {}), read_forms(root, name), about["run"].split()
    lines = [text for sign, text, _ in rows if sign != "+"]
    begins = statements(lines)
    asked, right = answer_in(rows)
    said = {i: reason(" ".join(lines[j] for j, begin in enumerate(begins) if begin == i), asked, wrappers)
            for i in set(begins) - {-1}}
    early, misleading = ({line_of(lines, begins, snippet): text
                          for snippet, text in texts.get(kind, {}).items()} for kind in ("early", "not"))
    said |= misleading | early | {right: ""}
    symptom = f"Symptom in {about['project']}: {about['symptom']}. {about['seen']}"
    return {
        "id": f"m{name[:2]}", "chapter": "museum", "kind": "exhibit", "exhibit": name,
        "title": f"Find the line, {about['project']}", "lines": lines,
        "numbers": [number for sign, _, number in rows if sign != "+"],
        # Of each line: why it is not the one; "" of the one, None of those that are no code.
        "says": [said.get(begin) for begin in begins],
        "asked": asked, "rule": "named", "right": [right], "early": sorted(early),
        "task": f"{about['does']} {symptom}{ASKED[asked]}",
        "options": options, "verdict": about["reports"],
        "run": dict(zip((option[2:].replace("schedule-", "") for option in options[::2]),
                        options[1::2])),
        "diff": exhibits.diff_of(exhibits.source_of(root, name)),
    }


def load(root):
    """The cases, and the exhibits with what the book says of them."""
    about, verdicts = exhibits.read(root), hazards.verdicts()
    seen, wrappers = seen_on_gpus(root), read_wrappers(root)
    asked = [name for name in about if "does" in about[name]]
    rules = sorted({about[name]["reports"] for name in asked})
    found = []
    for name in asked:
        case = case_of(name, dict(about[name], seen=seen.get(name, "")), root, wrappers)
        accused = exhibits.kinds_of(root, about[name])
        verdict, rule = case["verdict"], verdicts[case["verdict"]]
        offered = rules_for(name, verdict, [one for one in rules if one not in accused])
        means = {one: cases.ended(verdicts[one]["means"]) for one in offered}
        case["rules"] = {one: "" if one == verdict else f"That would mean: {means[one]}"
                         for one in offered}
        case["right_rule"] = [offered.index(verdict)]
        case["hints"] = [f"The simulator calls it {verdict}: {means[verdict]}", "The report is shown now. "
                         "It names the lines that collide, or where threads wait."]
        case["explanation"] = (f"{about[name]['story']} The rule, {verdict}: {means[verdict]} The usual "
                               f"cure: {cases.ended(rule['cure'])}")
        found.append(case)
    return found, about


def as_shown(case, said):
    """The report with the lines' numbers as the case shows them."""
    shown = {str(number): str(i + 1) for i, number in enumerate(case["numbers"])}
    return report.PLACE.sub(lambda place: f"{place[1]}:{shown.get(place[2], place[2])}", said)
