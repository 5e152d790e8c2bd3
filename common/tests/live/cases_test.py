"""cases_test.py LIVE.JSON CASES.JSON PROGRAM MUSEUM COMPILER LIBRARIES [--sample N]: every
case fails as told, and its solution passes.

Of each: the kernel as it is passes the case's run; without the case's line the verdict and the lines
are those that the case tells. find: no other line of the chapter looks the same. predict: the answer
is one of the choices; if it is a number, it is what the simulator says. choose: one choice is right, and
far enough from the others. catch: the run passes, the witness does not. mend: one choice is right, and
every other fails in its run, which the kernel as it is passes. exercise: the answer passes RUNS, and the
checker tells it from the kernel as it is. exhibit: the fixed form passes; what is missing helps at no
place but those that the case tells, of which the last is right; a line that is wrong is the only one
that the fix changes, and to leave out another does not help (museum_places.py). And each has its texts.
"""

import os
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "live"))
import cases
import museum_cases
import simulate
import report
from live_runs import check_all
from museum_places import Places

FEWEST = 60
RUNS = [{"m": 130, "n": 70, "k": 67, "schedule": "late"},
        {"m": 70, "n": 300, "k": 136, "schedule": "random", "seed": 3},
        {"m": 1, "n": 7, "k": 3, "schedule": "early"}]


class Judge:
    def __init__(self, book, command, museum, places):
        self.book, self.command, self.museum, self.places = book, command, museum, places

    def run(self, case, run, off, kernel=-1):
        return simulate.run_case(self.command, case["chapter"], run, off, kernel)

    def judge(self, case):
        wrong = self.wrong_with(case)
        return f"{case['id']} ({case['kind']}, {case.get('off')}): {wrong}" if wrong else None

    def wrong_with(self, case):
        if len(case["hints"]) != 2 or not all([case["task"], case["explanation"], *case["hints"]]):
            return "a text is missing"
        if "edit" in case and self.wrong_answer(case):
            return self.wrong_answer(case)
        if case["kind"] == "exhibit":
            return self.wrong_exhibit(case) or self.second_place(case)
        if case["kind"] == "choose":
            return self.second_choice(case)
        told = case.get("witness", case["run"])
        for run in {id(run): run for run in (case["run"], told)}.values():
            if self.run(case, run, [])[0] != report.EXIT_VERIFIED:
                return f"the kernel as it is does not pass {run}"
        broken = self.run(case, told, case["off"], case.get("asked", case["kernel"]))
        if report.verdict_of(*broken) != case["verdict"]:
            return f"{report.verdict_of(*broken)}, not {case['verdict']}"
        if case["kind"] == "predict":
            return self.wrong_prediction(case)
        if broken[0] == report.EXIT_VERIFIED:
            return "it passes"
        if case["kind"] == "catch" and self.run(case, case["run"], case["off"])[0]:
            return "its first run does not pass"
        if case["kind"] == "mend":
            return self.second_repair(case)
        if case["kind"] == "find":
            return self.second_answer(case, report.looks_like(*broken))
        return None

    def wrong_prediction(self, case):
        if case["choices"].count(case["answer"]) != 1:
            return "the answer is not among the choices"
        if any(not case["reasons"].get(choice) for choice in case["choices"]
               if "asks" in case and choice != case["answer"]):
            return "a wrong answer has no reason"
        told = case["verdict"]
        if "bands" in case:
            ratio = simulate.compared(case["run"], case["chapter"], (self.command, -1),
                                      (self.command, case["asked"]))
            told = " and ".join(text for text, low, high, _ in case["bands"] if low <= ratio <= high)
        elif "asks" in case:
            told = simulate.measured(case["asks"], *simulate.report_of(self.command, case))
        return None if told == case["answer"] else f"it is {told}, not {case['answer']}"

    def wrong_answer(self, case):
        before, after = (self.command, -1), (self.command, case["answered"])
        if not simulate.not_edited(self.command, case, before, before):
            return "the kernel as it is counts as edited"
        for run in RUNS:
            run = dict(case["run"], **run)
            if self.run(case, run, [], case["answered"])[0]:
                return f"its answer does not pass {run}"
        return simulate.not_edited(self.command, case, before, after)

    def second_choice(self, case):
        results = [self.run(one, one["run"], one["off"], one["kernel"])
                   for one in case["choices"]]
        if simulate.judged(self.command, case["rule"], 0, case["right"], results) is None:
            cycles = [report.cycles_of(text) or report.verdict_of(code, text) for code, text in results]
            return f"not one choice is right: {cycles}"
        return None if all(one["text"] and one["why"] for one in case["choices"]) else "no reason"

    def second_repair(self, case):
        if len(case["right"]) != 1:
            return "not one choice is right"
        for i, choice in enumerate(case["choices"]):
            if not choice["text"]:
                return "a choice changes nothing"
            result = self.run(case, choice["run"], choice["off"], choice["kernel"])
            if bool(result[0]) == simulate.judged(self.command, case["rule"], i, case["right"], [result]):
                return f"{choice['text']}: {'fails' if result[0] else 'passes'}"
            if self.run(case, choice["run"], [])[0]:
                return f"the kernel as it is does not pass {choice['run']}"
        return None

    def wrong_exhibit(self, case):
        def run(form):
            done = subprocess.run([self.museum, case["exhibit"], form, *case["options"]],
                                  capture_output=True, text=True, check=False)
            return (report.verdict_of(done.returncode, done.stderr),
                    museum_cases.as_shown(case, done.stderr))

        (verdict, said), (fixed, _) = run("broken"), run("fixed")
        if verdict != case["verdict"] or fixed != report.VERIFIED:
            return f"{verdict}, not {case['verdict']}; the fixed form: {fixed}"
        named = [int(line) for _, line in report.PLACE.findall(report.HAZARD.search(said).group(2))]
        if not all(0 < line <= len(case["lines"]) for line in named):
            return f"the report names lines that are not shown: {named}"
        if [says for says in case["says"] if says == ""] != [""] or "" not in case["rules"].values():
            return "not one line and one rule are right"
        return None

    def second_place(self, case):
        right, tried = self.places.right(case)
        told = sorted([*case["early"], *case["right"]]) if case["asked"] == "missing" else []
        if right != told or right and case["right"] != right[-1:]:
            return f"right are lines {[place + 1 for place in right]}, not {[place + 1 for place in told]}"
        return None if len(tried) >= 6 else f"{len(tried)} lines tried"

    def second_answer(self, case, looks):
        for switch in cases.switches_of(self.book, case["chapter"]):
            off = [switch["number"]]
            if off != case["off"] and report.looks_like(*self.run(case, case["run"], off)) == looks:
                return f"{cases.place_of(switch)} is right, too"
        return None


def main():
    every = int(sys.argv[8]) if "--sample" in sys.argv else 1
    seed = int(subprocess.run([os.path.join(HERE, "..", "support", "seed.sh")],
                              capture_output=True, text=True, check=True).stdout)
    book = cases.load(*sys.argv[1:3])
    if book["left_out"]:
        sys.exit("\n".join(["the practice lacks:", *book["left_out"]]))
    book["cases"] += museum_cases.load(cases.ROOT)[0]
    if len(book["cases"]) < FEWEST or len({case["id"] for case in book["cases"]}) < FEWEST:
        sys.exit(f"{len(book['cases'])} cases")
    judge = Judge(book, [sys.argv[3]], sys.argv[4], Places(cases.ROOT, *sys.argv[5:7]))
    chosen = book["cases"][seed % every::every]
    return 1 if check_all([(case,) for case in chosen], judge.judge) else 0


sys.exit(main())
