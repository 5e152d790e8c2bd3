"""cases_test.py LIVE.JSON CASES.JSON DEBUGGING.MD PROGRAM [--sample N]: every case fails as told, and
its solution passes.

Of each: the kernel as it is passes the case's run; without the case's line the verdict and the lines
are those that the case tells. find: no other line of the chapter looks the same. predict: the answer
is one of the choices. catch: the run passes, the witness does not. mend: one choice is right, and every
other fails in its run, which the kernel as it is passes. And each has its texts.
"""

import os
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "live"))
import cases
from live_runs import check_all

FEWEST = 60


class Judge:
    def __init__(self, book, command):
        self.book, self.command = book, command

    def run(self, case, run, off, version=-1):
        return cases.run_case(self.command, case["chapter"], run, off, version)

    def judge(self, case):
        wrong = self.wrong_with(case)
        return f"{case['id']} ({case['kind']}, {case['off']}): {wrong}" if wrong else None

    def wrong_with(self, case):
        if len(case["hints"]) != 2 or not all([case["task"], case["explanation"], *case["hints"]]):
            return "a text is missing"
        told = case.get("witness", case["run"])
        for run in {id(run): run for run in (case["run"], told)}.values():
            if self.run(case, run, [])[0] != cases.EXIT_VERIFIED:
                return f"the kernel as it is does not pass {run}"
        broken = self.run(case, told, case["off"], case["version"])
        if cases.verdict_of(*broken) != case["verdict"] or broken[0] == cases.EXIT_VERIFIED:
            return f"{cases.verdict_of(*broken)}, not {case['verdict']}"
        if case["kind"] == "predict" and case["choices"].count(case["verdict"]) != 1:
            return "the answer is not among the choices"
        if case["kind"] == "catch" and self.run(case, case["run"], case["off"])[0]:
            return "its first run does not pass"
        if case["kind"] == "mend":
            return self.second_repair(case)
        if case["kind"] == "find":
            return self.second_answer(case, cases.looks_like(*broken))
        return None

    def second_repair(self, case):
        if [choice.get("right") for choice in case["choices"]].count(True) != 1:
            return "not one choice is right"
        for choice in case["choices"]:
            if not choice["text"]:
                return "a choice changes nothing"
            passes = not self.run(case, choice["run"], choice["off"], choice["version"])[0]
            if passes != choice.get("right", False):
                return f"{choice['text']}: {'passes' if passes else 'fails'}"
            if self.run(case, choice["run"], [])[0]:
                return f"the kernel as it is does not pass {choice['run']}"
        return None

    def second_answer(self, case, looks):
        for switch in cases.switches_of(self.book, case["chapter"]):
            off = [switch["number"]]
            if off != case["off"] and cases.looks_like(*self.run(case, case["run"], off)) == looks:
                return f"{cases.place_of(switch)} is right, too"
        return None


def main():
    every = int(sys.argv[6]) if "--sample" in sys.argv else 1
    seed = int(subprocess.run([os.path.join(HERE, "..", "support", "seed.sh")],
                              capture_output=True, text=True, check=True).stdout)
    book = cases.load(*sys.argv[1:4])
    if len(book["cases"]) < FEWEST or len({case["id"] for case in book["cases"]}) < FEWEST:
        sys.exit(f"{len(book['cases'])} cases")
    judge = Judge(book, [sys.argv[4]])
    chosen = book["cases"][seed % every::every]
    return 1 if check_all([(case,) for case in chosen], judge.judge) else 0


sys.exit(main())
