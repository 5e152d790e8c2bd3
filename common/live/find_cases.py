"""find_cases.py LIVE.JSON CASES.JSON PROGRAM: writes the cases of the practice anew.

Runs every chapter without each of its calls that have a switch. A line becomes a case if its absence
is caught: "find" if no other line looks the same, "predict" once for each verdict of a chapter,
"catch" if the usual run passes and one of LATER does not. "mend": the calls of breaks/repairs.py,
with those of their edits that are caught.
"""

import concurrent.futures
import json
import sys

sys.dont_write_bytecode = True
import cases
import simulate
import report

# Where the usual run passes: tiles after one another on one SM, everything as late as can be.
LATER = [dict(simulate.USUAL, m=256, n=512, k=512, sms=1, schedule="late"),
         dict(simulate.USUAL, m=256, n=512, k=512, sms=2, schedule="late"),
         dict(simulate.USUAL, m=256, n=512, k=512, sms=2, schedule="random", seed=3),
         dict(simulate.USUAL, m=200, n=264, k=330, sms=1, schedule="early")]


def first_failing(results, runs):
    return next((run for run, (code, _) in zip(runs, results) if code != report.EXIT_VERIFIED), None)


def candidates(live, command, chapter):
    """Of each switch of the chapter: the first run that fails, and the results of all."""
    runs = [simulate.usual_run(live, chapter), *([] if chapter.startswith("01") else LATER)]
    runs = [run for run in runs if not simulate.run_case(command, chapter, run, [])[0]]
    switches = cases.switches_of(live, chapter)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(
            lambda pair: simulate.run_case(command, chapter, pair[1], [pair[0]["number"]]),
            [(switch, run) for switch in switches for run in runs]))
    return [(switch, runs, answers[i * len(runs):(i + 1) * len(runs)])
            for i, switch in enumerate(switches)]


def choices_of(verdict, all_verdicts):
    """The verdict among three others that lines of the same chapter lead to."""
    usual = ["deadlock", "data-race", report.VERIFIED, report.WRONG]
    others = [one for one in dict.fromkeys(all_verdicts + usual) if one != verdict]
    return sorted([verdict, *others[:3]])


def cases_of(live, command, chapter, known):
    """known: (kind, switch) that earlier chapters have had; this chapter's are added."""
    most_predictions = 5
    found = []
    tried = candidates(live, command, chapter)
    failing = [report.verdict_of(*results[0]) for _, _, results in tried]
    for switch, runs, results in tried:
        run = first_failing(results, runs)
        if run is None:
            continue
        result = results[runs.index(run)]
        base = {"chapter": chapter, "run": run, "off": [switch["key"]],
                "verdict": report.verdict_of(*result)}
        place = runs.index(run)
        same = [other for other, _, answers in tried
                if report.looks_like(*answers[place]) == report.looks_like(*result)]
        if len(same) == 1:
            found.append(dict(base, kind="find"))
        if place > 0:
            found.append(dict(base, kind="catch", run=runs[0], witness=run))
        elif not any(case["kind"] == "predict" and case["verdict"] == base["verdict"]
                     for case in found):
            found.append(dict(base, kind="predict", choices=choices_of(base["verdict"], failing)))
    order = ("predict", "find", "catch")
    fresh = [case for case in found if (case["kind"], case["off"][0]) not in known]
    known.update((case["kind"], case["off"][0]) for case in found)
    predictions = [case for case in fresh if case["kind"] == "predict"]
    kept = predictions[:most_predictions] + [case for case in fresh if case["kind"] != "predict"]
    return sorted(kept, key=lambda case: order.index(case["kind"]))


def mends_of(live, command, chapter):
    """The first edit of each is the broken kernel; the others, and the call left out, are offered."""
    keys = {switch["key"]: switch["number"] for switch in live["switches"]}
    runs = [run for run in (simulate.usual_run(live, chapter), *LATER)
            if not simulate.run_case(command, chapter, run, [])[0]]

    def failing(choice):
        off = [keys[key] for key in choice["off"]]
        number = simulate.number_of(live, chapter, choice)
        for run in runs:
            result = simulate.run_case(command, chapter, run, off, number)
            if result[0] != report.EXIT_VERIFIED:
                return dict(choice, run=run), report.verdict_of(*result)
        return None

    for repair in live["repairs"]:
        if repair["chapter"] != chapter:
            continue
        broken, *wrong = [failing({"break": name, "off": []}) for name in repair["breaks"]]
        if not broken:
            continue
        wrong.append(failing({"break": "", "off": [repair["call"]]}))
        choices = [found[0] for found in wrong if found]
        choices.append({"break": "", "off": [], "run": broken[0]["run"], "right": True})
        if len(choices) > 2:
            yield {"chapter": chapter, **broken[0], "verdict": broken[1], "kind": "mend",
                   "call": repair["call"], "choices": choices}


def record(live_path, path, command):
    live = cases.read_json(live_path)
    found, known = [], set()
    for chapter in live["chapters"]:
        name = chapter["name"]
        for i, case in enumerate([*cases_of(live, command, name, known),
                                  *mends_of(live, command, name)]):
            found.append({"id": f"{name[:2]}-{i + 1}", **case})
    with open(path, "w", encoding="ascii") as file:
        file.write("[\n" + ",\n".join(json.dumps(case) for case in found) + "\n]\n")
    print(f"{len(found)} cases")


if __name__ == "__main__":
    record(sys.argv[1], sys.argv[2], sys.argv[3:])
