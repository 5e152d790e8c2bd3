"""written.py: the cases of questions.py, in the form that cases.py has."""

import questions
from simulate import VERIFIED, usual_run


def state_of(live, chapter, asked):
    """What runs: the kernel as it is, or the version or the call left out that are asked for."""
    name = next(one["name"] for one in live["chapters"] if one["name"].startswith(chapter))
    versions = {one["name"]: one["number"] for one in live["versions"] if one["chapter"] == name}
    calls = {one["key"]: one["number"] for one in live["switches"]}
    return {"chapter": name, "run": dict(usual_run(name), **asked.get("run", {})),
            "version": versions[asked["version"]] if "version" in asked else -1,
            "off": [calls[asked["off"]]] if "off" in asked else []}


def prediction(asked, live):
    state = state_of(live, asked["id"][:2], asked)
    answers = [choice for choice, wrong in asked["choices"].items() if not wrong]
    return {**state, "id": asked["id"], "kind": "predict", "asks": asked["asks"],
            "verdict": asked.get("verdict", VERIFIED), "choices": sorted(asked["choices"]),
            "answer": answers[0], "reasons": asked["choices"],
            "title": f"Predict it, chapter {asked['id'][:2]}", "task": asked["task"],
            "hints": asked["hints"], "explanation": asked["why"]}


def choice_of(asked, live):
    state = state_of(live, asked["id"][:2], asked)
    line = live["switches"][state["off"][0]]["line"] if state["off"] else ""
    choices = []
    for choice in asked["choices"]:
        off = {"off": asked["off"]} if "off" in asked else {}
        what = {**off, **choice, "run": {**asked["run"], **choice.get("run", {})}}
        choices.append(dict(state_of(live, choice.get("chapter", asked["id"][:2]), what),
                            text=choice["text"], why=choice["why"]))
    return {**state, "id": asked["id"], "kind": "choose", "want": asked["want"], "choices": choices,
            "title": f"Choose, chapter {asked['id'][:2]}",
            "task": asked["task"].replace("LINE", str(line)), "hints": asked["hints"],
            "explanation": asked["why"]}


def cases(live):
    return [*(prediction(asked, live) for asked in questions.PREDICTIONS),
            *(choice_of(asked, live) for asked in questions.CHOICES)]
