"""hand_made_cases.py: the cases of predictions.py, choices.py and exercises.py, and of the breaks that
ask for something, in the form that cases.py has."""

import os
import re

import choices
import predictions
from simulate import number_of, run_text, usual_run
import exercises
import store
from report import VERIFIED
from more_kernels import run_of


def state_of(live, chapter, asked):
    """What runs: the kernel as it is, or the variant, the break or the call left out that is asked
    for."""
    name = next(one["name"] for one in live["chapters"] if one["name"].startswith(chapter))
    calls = {one["key"]: one["number"] for one in live["switches"]}
    return {"chapter": name, "run": dict(usual_run(live, name), **asked.get("run", {})),
            "kernel": number_of(live, name, asked),
            "off": [calls[asked["off"]]] if "off" in asked else []}


def in_order(choice):
    """Numbers by their size."""
    return int(choice) if choice.isdecimal() else 0, choice


def prediction(asked, live):
    state = state_of(live, asked["id"][:2], asked)
    answers = [choice for choice, wrong in asked["choices"].items() if not wrong]
    return {**state, "id": asked["id"], "kind": "predict", "asks": asked["asks"],
            "verdict": asked.get("verdict", VERIFIED), "choices": sorted(asked["choices"], key=in_order),
            "answer": answers[0], "reasons": asked["choices"],
            "title": f"Predict it, chapter {asked['id'][:2]}", "task": asked["task"],
            "hints": asked["hints"], "explanation": asked["why"]}


def break_of(broken, live):
    case = prediction({
        "id": f"{broken.chapter[:2]}-{broken.name}", "asks": ["verdict"], "break": broken.name,
        "run": run_of(broken.run.split()), "verdict": broken.reports, "task": "",
        "choices": {broken.reports: "", **broken.asks}, "why": broken.because,
        "hints": ["What does the changed line order or count, and for whom?",
                  "The report is shown now."]}, live)
    title = broken.title[:1].lower() + broken.title[1:]
    return dict(case, task=f"One thing is changed in this kernel: {title}. It runs with "
                           f"{run_text(case['run'])}. What does the simulator report?")


def choice_of(asked, live):
    state = state_of(live, asked["id"][:2], asked)
    line = live["switches"][state["off"][0]]["line"] if state["off"] else ""
    offered = []
    for choice in asked["choices"]:
        off = {"off": asked["off"]} if "off" in asked else {}
        what = {**off, **choice, "run": {**asked["run"], **choice.get("run", {})}}
        offered.append(dict(state_of(live, choice.get("chapter", asked["id"][:2]), what),
                            text=choice["text"], why=choice["why"]))
    return {**state, "id": asked["id"], "kind": "choose", "want": asked["want"], "choices": offered,
            "title": f"Choose, chapter {asked['id'][:2]}",
            "task": asked["task"].replace("LINE", str(line)), "hints": asked["hints"],
            "explanation": asked["why"]}


def exercise_of(asked, live):
    """The kernel is shown as it is; `asked` is the one that the question is about, `answer` the
    one that the edit makes."""
    if "bands" in asked:
        asked = {**asked, "choices": {text: wrong for text, _, _, wrong in asked["bands"]},
                 "asks": ["ratio"], "answer_asked": "variant" not in asked}
    number = int(asked["id"][4:])
    if asked.get("answer_asked"):
        asked = {**asked, "variant": f"exercise-{number}"}
    case = prediction({**asked, "task": asked["question"]}, live)
    for name in ("bands", "edit"):
        if name in asked:
            case[name] = asked[name]
    return dict(case, asked=case["kernel"], kernel=-1)


def exercise_text(root, chapter, number):
    """An exercise of the chapter's README; "": there is none of this number."""
    with open(os.path.join(root, chapter, "README.md"), encoding="utf-8") as file:
        section = re.search(r"^## Exercises\n(.*?)(?=^## |\Z)", file.read(), re.M | re.S)
    found = re.search(rf"^{number}\. (.*?)(?=^\d\. |\Z)", section.group(1) if section else "",
                      re.M | re.S)
    return found.group(1) if found else ""


def with_text(case, live, root):
    """An exercise has the README's words, and what its edit should come to."""
    if not re.fullmatch(r"\d\d-e\d", case["id"]):
        return case
    number = int(case["id"][4:])
    answers = [one["number"] for one in live["kernels"] if one["chapter"] == case["chapter"] and
               one["name"] == f"exercise-{number}"]
    text = exercise_text(root, case["chapter"], number)
    text = re.sub(r"\[As a case\]\([^)]*\)\.?", "", " ".join(text.split())).strip()
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return dict(case, text=re.sub(r"[`*]", "", text), **{"answered": answers[0]} if answers else {},
                title=f"Exercise {number}, chapter {case['chapter'][:2]}")


def cases(live, root):
    found = []
    here = {one["name"] for one in live["chapters"]}
    asking = [one for one in store.named(root).values() if one.asks and one.chapter in here]
    for make, asked_of in ((prediction, predictions.PREDICTIONS), (choice_of, choices.CHOICES),
                           (exercise_of, exercises.EXERCISES), (break_of, asking)):
        for asked in asked_of:
            try:
                found.append(with_text(make(asked, live), live, root))
            except KeyError as gone:
                name = asked.id if make is break_of else asked["id"]
                live["left_out"].append(f"case {name}: there is no {gone}")
    return found
