"""cases.py: the cases of the practice, for the page and for build/sim/practice.

A case is a kernel with some of its calls switched off, a run, and a question:

    find      which line is missing? Judged by running a kernel without the line that is named.
    mend      a call is in the wrong place, or made wrongly: which change repairs it? All are tried.
    predict   what will the simulator report: a verdict, or a number?
    choose    which of several kernels or runs is the fastest, the slowest, or fails? All are tried.
    catch     the run passes although a line is missing: find one that does not.

cases.json holds what find_cases.py has found by running, predictions.py,
choices.py and exercises.py what is written by hand; a test runs every case again. The texts of what was
found are made here, from the kernel's comments, and from what reports mean (breaks/hazards.py).
"""

import json
import os
import re

import hand_made_cases
import hazards
from report import VERIFIED, WRONG
from simulate import kernel_of, number_of, run_text

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def read_json(path):
    with open(path, encoding="ascii") as file:
        return json.load(file)


def switches_of(live, chapter):
    files = kernel_of(live, chapter)["files"]
    return [switch for switch in live["switches"] if switch["file"] in files]


# ---- texts ----

def comment_at(source, line):
    """The comment above this line, or at its end: why the call is there."""
    lines = source.split("\n")
    trailing = re.search(r"/\* (.*?) \*/\s*$|// (.*)$", lines[line - 1])
    if trailing:
        return (trailing.group(1) or trailing.group(2)).strip()
    at, found = line - 2, []
    while at >= 0 and not found:  # over the head of an if or a for, and calls of the same kind
        if lines[at].rstrip().endswith("*/"):
            while at >= 0:
                found.insert(0, lines[at])
                if "/*" in lines[at]:
                    break
                at -= 1
        elif line - 2 - at >= 1 or not lines[at].rstrip().endswith(("{", ")")):
            return ""
        at -= 1
    text = " ".join(re.sub(r"^\s*(/\*+|\*(?!/))?\s?|\s*\*/\s*$", "", row).strip() for row in found)
    return "" if "----" in text else " ".join(text.split())


def ended(text):
    return text.strip().rstrip(".") + "."


def sentence(text):
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


def place_of(switch):
    return f"{switch['file'].split('/')[-1]}:{switch['line']}"


def explanation_of(case, live, verdicts):
    """Why the line is there, what the rule is and what the simulator has reported."""
    switch = live["switches"][case["off"][0] if case["off"] else case["call"]]
    comment = comment_at(live["sources"][switch["file"]], switch["line"])
    rule = verdicts.get(case["verdict"])
    wrong = "is missing" if case["off"] else "was not as the chapter has it"
    parts = [f"{switch['call']} ({place_of(switch)}) {wrong}."]
    if comment:
        parts.append(f"The source says of it: \u201c{sentence(comment)}\u201d")
    if rule:
        parts.append(f"Without it: {case['verdict']}, which means: {ended(rule['means'])}")
        parts.append(f"The usual cure: {ended(rule['cure'])}")
    else:
        parts.append(f"Without it the verdict is: {case['verdict']}.")
    return " ".join(parts)


def told_find(case, live, verdicts):
    rule = verdicts.get(case["verdict"], {}).get("means", "")
    means = ended(rule) if rule else "no rule is broken, but D differs from the reference."
    return {
        "title": f"Find the line, chapter {case['chapter'][:2]}",
        "task": f"One line of this kernel, or of a header, was left out of the program. What a GPU "
                f"may show (inferred): {hazards.shows(case['verdict'])} Which line is it?",
        "hints": [f"The simulator calls it {case['verdict']}: {means}",
                  "The report is shown now. It names the lines that collide, or where threads wait."
                  if rule else "The result is shown now: which elements of D are wrong?"],
    }


def told_predict(case, live, verdicts):
    switch = live["switches"][case["off"][0]]
    reasons = {choice: f"That would mean: {ended(verdicts[choice]['means'])}"
               for choice in case["choices"] if choice in verdicts}
    reasons[VERIFIED] = "Something in this run does depend on that line."
    reasons[WRONG] = "A rule of the memory model is broken, and it is reported before D is compared."
    comment = comment_at(live["sources"][switch["file"]], switch["line"])
    return {
        "title": f"Predict it, chapter {case['chapter'][:2]}",
        "task": f"Line {switch['line']} of {switch['file'].split('/')[-1]}, {switch['call']}, is "
                f"switched off, and the kernel runs with {run_text(case['run'])}. What does the "
                f"simulator say?",
        "hints": [sentence(comment) if comment else "Ask what the line orders, and for whom.",
                  "The result of the run is shown now."],
        "reasons": reasons, "answer": case["verdict"],
    }


def told_catch(case, live, verdicts):
    switch = live["switches"][case["off"][0]]
    witness = case["witness"]
    return {
        "title": f"Make it fail, chapter {case['chapter'][:2]}",
        "task": f"Line {switch['line']} of {switch['file'].split('/')[-1]}, {switch['call']}, is "
                f"switched off, and this run passes. Choose extents, SMs and a schedule with which "
                f"the simulator reports it.",
        "hints": ["A stage must be used again, or a CTA must compute another tile, and things must "
                  "happen in an order that is not the usual one.",
                  f"One of them: {run_text(witness)}."],
    }


def told_mend(case, live, verdicts):
    rule = verdicts.get(case["verdict"])
    return {
        "title": f"Mend it, chapter {case['chapter'][:2]}",
        "task": f"One call of this kernel is in the wrong place, or made wrongly. With "
                f"{run_text(case['run'])} the simulator says: {case['verdict']}. Which change "
                f"mends it? (Each is said by the lines that differ afterwards.)",
        "hints": [f"It means: {ended(rule['means'])}" if rule else
                  "No rule is broken: look at what is computed, and from what.",
                  "The report is shown now. It names the lines that collide, or where threads wait."],
        "choices": sorted((dict(choice, text=change_of(case, choice, live))
                           for choice in case["choices"]), key=lambda choice: choice["text"]),
    }


def lines_of(live, chapter, choice):
    """The lines of the kernel that a choice runs, and with calls left out."""
    file = f"{chapter}/kernel.cu"
    lines = live["sources"][file].split("\n")
    if choice["kernel"] >= 0:
        for first, gone, come in reversed(live["kernels"][choice["kernel"]]["edits"][file]):
            lines[first - 1:first - 1 + gone] = come
    for number in choice["off"]:
        switch = live["switches"][number]
        first, last = switch["line"] - 1, switch["end"]
        code = "\n".join(lines[first:last])
        words = r"\s*".join(map(re.escape, re.findall(r"\w+|[^\w\s]", switch["call"])))
        lines[first:last] = re.sub(rf"{words};?", "", code, count=1).split("\n")
    return lines


ONLY_IF = re.compile(r"^if \([^()]*\)$")  # of a call that is left out


def change_of(case, choice, live):
    """What becomes of the lines of the broken kernel."""
    before, after = lines_of(live, case["chapter"], case), lines_of(live, case["chapter"], choice)
    return "\n".join(f"line {i + 1}: {ONLY_IF.sub('', new.strip()) or 'nothing'}"
                     for i, (old, new) in enumerate(zip(before, after)) if old != new)


TOLD = {"find": told_find, "predict": told_predict, "catch": told_catch, "mend": told_mend}


def numbered(recorded, live):
    """A case as it is recorded, with numbers in the place of calls' and breaks' names."""
    calls = {switch["key"]: switch["number"] for switch in live["switches"]}

    def state(of):
        made = dict(of, off=[calls[key] for key in of["off"]],
                    kernel=number_of(live, recorded["chapter"], of))
        made.pop("break", None)
        return made

    case = state(recorded)
    if case["kind"] == "mend":
        case["call"] = calls[recorded["call"]]
        case["choices"] = [state(choice) for choice in recorded["choices"]]
    return case


def load(live_path, recorded_path=None):
    """Everything that the page and the program need: the sources, the switches, what the verdicts
    mean, and the cases, if some are recorded."""
    live, verdicts = read_json(live_path), hazards.verdicts()
    found = []
    if not recorded_path:
        return dict(live, cases=[], verdicts=verdicts)
    for recorded in read_json(recorded_path):
        try:
            case = numbered(recorded, live)
        except KeyError as gone:
            live["left_out"].append(f"case {recorded['id']}: the kernel no longer has {gone}")
            continue
        case |= TOLD[case["kind"]](case, live, verdicts)
        case["explanation"] = explanation_of(case, live, verdicts)
        found.append(case)
    found += hand_made_cases.cases(live, ROOT)
    return dict(live, cases=sorted(map(with_rule, found), key=place_in_order), verdicts=verdicts)


def with_rule(case):
    """By which rule an answer is judged, and the numbers of the right ones (breaks/judge.h): calls,
    or places among the choices."""
    rule, right = {
        "find": lambda: ("named", case["off"]),
        "predict": lambda: ("named", [case["choices"].index(case["answer"])]),
        "mend": lambda: ("repaired", [i for i, one in enumerate(case["choices"]) if one.get("right")]),
        "choose": lambda: (case["want"], []),
        "catch": lambda: ("caught", []),
    }[case["kind"]]()
    return dict(case, rule=rule, right=right)


def place_in_order(case):
    """By chapter; in a chapter a line to find comes first, and exercises last."""
    kinds = ("find", "predict", "choose", "mend", "catch")
    return case["chapter"], "text" in case, kinds.index(case["kind"]), "asks" not in case
