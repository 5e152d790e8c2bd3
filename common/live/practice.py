"""The practice: broken kernels of this book and of the museum, judged by the simulator.

    list [CHAPTER]       the cases, with an x at those that are solved
    next [CHAPTER]       the first that is not
    show CASE            what it asks
    hint CASE            a hint; asked again, the second, with the report
    check CASE ANSWER    find: kernel.cu:71, of the museum the line's number, and after it the rule;
                         predict: one of the choices; mend, choose: the number
                         of a choice; catch: the options of a run, such as
                         --m 256 --sms 1 --schedule late
    check CASE KERNEL.CU an exercise: the kernel with your edit, wherever the file lies
    watch CASE KERNEL.CU the same, whenever the file is saved
    answer CASE          an exercise: what the edit may come to
    reset [CHAPTER]      forgets what is solved

Exit code: 0, 1 for a wrong answer, 2 for a wrong command, or one that answers nothing.
"""

import argparse
import difflib
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import time

sys.dont_write_bytecode = True
import cases
import museum_cases
import simulate
import program as programs
import report
import hand_made_cases
import more_kernels


AROUND = 9   # lines shown before and behind a place that is to be mended
WATCH = 0.2  # seconds between looks at a file


class Practice:
    def __init__(self, book, linker, program, progress):
        self.book, self.linker = book, linker
        self.program, self.progress = [program], progress
        self.kept = cases.read_json(progress) if os.path.exists(progress) else {}

    def keep(self):
        with open(self.progress, "w", encoding="ascii") as file:
            json.dump(self.kept, file)

    def case(self, name):
        names = [case["id"] for case in self.book["cases"]]
        if name not in names:
            self.refuse_exercise(name)
            usage(f"there is no case {name}; {meant(name, names)}list shows them")
        return self.book["cases"][names.index(name)]

    def solved(self, case):
        return self.kept.get(case["id"]) == "solved"

    # ---- commands ----

    def refuse_exercise(self, name):
        found = re.fullmatch(r"(\d\d)-e(\d)", name)
        chapters = [one["name"] for one in self.book["chapters"] if one["name"][:2] == name[:2]]
        if found and chapters and hand_made_cases.exercise_text(self.linker.root, chapters[0], found[2]):
            refuse(f"{name}: no run decides exercise {found[2]} of {chapters[0]}: it is done on "
                   f"paper, or with build/sim/inspect ({chapters[0]}/README.md)")

    def cases_of(self, chapter):
        """5, 05 and 05_tma_mbarrier are the same chapter; "": all cases."""
        names = list(dict.fromkeys(case["chapter"] for case in self.book["cases"]))
        chosen = [name for name in names if name.startswith(chapter.zfill(2) if chapter.isdecimal()
                                                            else chapter)]
        if not chosen:
            usage(f"there is no chapter {chapter} here; {meant(chapter, names)}choose from "
                  f"{', '.join(names)}")
        return [case for case in self.book["cases"] if case["chapter"] in chosen]

    def list(self, chapter=""):
        found = self.cases_of(chapter)
        for case in found:
            print(f"{'x' if self.solved(case) else ' '} {case['id']:6} {case['title']}")
        print(f"{sum(map(self.solved, found))} of {len(found)} solved (x)")
        left_out = self.book["left_out"]
        if left_out:
            print(f"Left out, because a kernel is not the book's: {len(left_out)}, such as "
                  f"{left_out[0]}")

    def next(self, chapter=""):
        case = next((case for case in self.cases_of(chapter) if not self.solved(case)), None)
        if case:
            return self.show(case["id"])
        print("Every case is solved.")

    def show(self, name):
        case = self.case(name)
        print(f"{case['id']}: {case['title']}\n")
        for text in filter(None, (case.get("text"), case["task"])):
            print(textwrap.fill(text, 96) + "\n")
        if case["kind"] == "find":
            print(f"Read {', '.join(simulate.kernel_of(self.book, case['chapter'])['files'])}.")
        if case["kind"] == "mend":
            self.show_around(case)
            for i, choice in enumerate(case["choices"]):
                print(f"\n({i + 1}) " + choice["text"].replace("\n", "\n    "))
            print()
        if case["kind"] == "exhibit":
            print("\n".join(f"{i + 1:4} {line}".rstrip() for i, line in enumerate(case["lines"])) + "\n")
        if case["kind"] == "choose":
            for i, choice in enumerate(case["choices"]):
                print(f"({i + 1}) {choice['text']}")
            print(f"\n{simulate.run_text(case['run'])}\n")
        answer = {"find": "kernel.cu:LINE", "exhibit": "LINE", "predict": " | ".join(map(str, case.get("choices", []))),
                  "mend": "NUMBER", "choose": "NUMBER", "catch": "--m M --n N --k K --sms N --schedule ORDER"}[case["kind"]]
        print(f"Answer: check {case['id']} {answer}")
        if "edit" in case:
            print(f"Your edit: check {case['id']} {case['chapter']}/kernel.cu")

    def show_around(self, case):
        """The kernel's lines around those that the choices change."""
        lines = cases.lines_of(self.book, case["chapter"], case)
        changed = {int(line) - 1 for choice in case["choices"]
                   for line in re.findall(r"^line (\d+):", choice["text"], re.M)}
        near = {at + by for at in changed for by in range(-AROUND, AROUND + 1)}
        print(f"Of {case['chapter']}/kernel.cu, with the mistake:\n")
        last = min(near) - 1
        for at in sorted(near & set(range(len(lines)))):
            if at > last + 1:
                print("     ...")
            print(f"{at + 1:4} {lines[at]}".rstrip())
            last = at

    def answer(self, name):
        case = self.case(name)
        if "answered" not in case:
            usage(f"{name} has no edit to show")
        path = os.path.join(more_kernels.ANSWERS, f"{case['chapter'][:2]}-{case['id'][4:]}.diff")
        with open(path, encoding="ascii") as file:
            print(file.read().rstrip())

    def hint(self, name):
        case = self.case(name)
        given = int(self.kept.get(f"{name} hints", 0))
        for hint in case["hints"][:given + 1]:
            print(hint)
        if given == len(case["hints"]):
            more = f"; answer {name} shows an edit" if "answered" in case else ""
            print(f"There are no more hints{more}.")
        if case["kind"] not in ("catch", "choose") and given:
            print(self.run_exhibit(case) if case["kind"] == "exhibit" else
                  self.run(case["chapter"], case["run"], case["off"], case["kernel"])[1])
        self.kept[f"{name} hints"] = min(given + 1, len(case["hints"]))
        self.keep()

    def check(self, name, *answer):
        case = self.case(name)
        if not answer:
            usage("check: the answer is missing")
        if "edit" in case and answer[0].endswith(".cu"):
            wrong = self.check_edit(case, answer[0])
        else:
            wrong = getattr(self, f"check_{case['kind']}")(case, answer)
        if wrong:
            print(f"No. {wrong}")
            sys.exit(1)
        self.kept[name] = "solved"
        self.keep()
        print(f"Yes. {case['explanation']}")

    def watch(self, name, kernel):
        """Checks the kernel now, and whenever it is saved, until it is right."""
        if "edit" not in self.case(name):
            usage(f"{name} asks for no edit")
        seen = None
        while True:
            saved = os.path.exists(kernel) and os.stat(kernel).st_mtime_ns
            if saved != seen:
                try:
                    return self.check(name, kernel)
                except SystemExit as wrong:
                    if wrong.code != 1:
                        raise
                print(f"Save {kernel} again, or end with Ctrl-C.\n", flush=True)
                seen = saved
            time.sleep(WATCH)

    def reset(self, chapter=""):
        """Forgets what is solved, and hints that were given."""
        for case in self.cases_of(chapter):
            for kept in (case["id"], f"{case['id']} hints"):
                self.kept.pop(kept, None)
        self.keep()
        self.list(chapter)

    # ---- None, or what is wrong with the answer ----

    def judged(self, case, given, results=(), right=None):
        return simulate.judged(self.program, case["rule"], given,
                               case["right"] if right is None else right, results)

    def run(self, chapter, run, off, kernel=-1):
        return simulate.run_case(self.program, chapter, run, off, kernel)

    def run_exhibit(self, case):
        command = [os.path.join(os.path.dirname(*self.program), "museum"), case["exhibit"], "broken"]
        done = subprocess.run([*command, *case["options"]], capture_output=True, text=True, check=False)
        return museum_cases.as_shown(case, done.stderr)

    def check_exhibit(self, case, answer):
        line, *rule = answer
        number = int(line) - 1 if line.isdecimal() else -1
        if not 0 <= number < len(case["lines"]) or case["says"][number] is None:
            return f"{line} is no line of code: name one from 1 to {len(case['lines'])}."
        if not self.judged(case, number):
            return case["says"][number]
        if not rule:
            print(f"Line {line} it is. And what does the simulator report?\n"
                  f"Answer: check {case['id']} {line} {' | '.join(case['rules'])}")
            sys.exit(1)
        given = choose_from(rule[0], list(case["rules"]))
        if not self.judged(case, given, right=case["right_rule"]):
            return case["rules"][rule[0]]
        options = " ".join(case["options"])
        print("\n".join([*case["diff"], "", f"build/sim/museum {case['exhibit']} broken {options}", ""]))
        return None

    def check_edit(self, case, kernel):
        if not os.path.exists(kernel):
            usage(f"there is no {kernel}")
        with open(kernel, encoding="utf-8", errors="replace") as file:
            named = re.search(r'\.name = "(\d\d_\w+)"', file.read())
        if named and named[1] != case["chapter"]:
            refuse(f"{kernel} is a kernel of {named[1]}, and {case['id']} is about "
                   f"{case['chapter']}")
        with tempfile.TemporaryDirectory() as directory:
            try:
                program = self.link(case["chapter"], kernel, directory, True)
            except subprocess.CalledProcessError:
                return "It does not compile."
            code, text = simulate.run_case([program], case["chapter"], case["run"], [])
            wrong = report.in_short(code, text) if code else simulate.not_edited(
                self.program, case, (self.program, -1), ([program], -1))
            if wrong:
                return f"With it: {wrong}."
            print("It does what it should. Now --check\u2026", flush=True)
            program = self.link(case["chapter"], kernel, directory, False)
            # Its progress and its report are on stderr.
            done = subprocess.run([program, "--check"], stdout=subprocess.PIPE, text=True, check=False)
            print(done.stdout.replace(program, self.own_program(case)), end="", flush=True)
            return f"--check fails.{self.way_there(case, kernel)}" if done.returncode else None

    def link(self, chapter, kernel, directory, tour):
        """A CalledProcessError: the compiler's words have been shown."""
        program = os.path.join(directory, "live")
        subprocess.run(self.linker.command(chapter, kernel, program, tour=tour), check=True)
        return program

    def own_program(self, case):
        return os.path.relpath(os.path.join(os.path.dirname(*self.program), case["chapter"]))

    def way_there(self, case, kernel):
        """How the reader's build makes the program of this kernel."""
        book = os.path.relpath(os.path.join(self.linker.root, case["chapter"], "kernel.cu"))
        copy = "" if os.path.realpath(kernel) == os.path.realpath(book) else f"cp {kernel} {book}; "
        build = os.path.relpath(os.path.join(os.path.dirname(*self.program), ".."))
        return (f"\nTo make that run yourself: {copy}cmake --build {build} --target "
                f"sim_{case['chapter']}")

    def check_find(self, case, answer):
        named = [switch for switch in cases.switches_of(self.book, case["chapter"])
                 if cases.place_of(switch) == answer[0]]
        if not named:
            return f"{answer[0]} has no call that synchronizes: name the line where one begins."
        if any(self.judged(case, switch["number"]) for switch in named):
            return None
        off = [named[0]["number"]]
        return (f"Without {named[0]['call']} it is another case: "
                f"{report.in_short(*self.run(case['chapter'], case['run'], off))}.")

    def check_predict(self, case, answer):
        given = choose_from(" ".join(answer), case["choices"])
        if self.judged(case, given):
            return None
        return case["reasons"].get(case["choices"][given]) or "The report is another one."

    def check_choose(self, case, answer):
        chosen = chosen_of(case, answer)
        results = [self.run(one["chapter"], one["run"], one["off"], one["kernel"])
                   for one in case["choices"]]
        says = [f"{one['text']}: {outcome_of(*result)}. {one['why']}"
                for one, result in zip(case["choices"], results)]
        if not self.judged(case, chosen, results):
            return says[chosen]
        print("\n".join(says))
        return None

    def check_mend(self, case, answer):
        chosen = chosen_of(case, answer)
        choice = case["choices"][chosen]
        result = self.run(case["chapter"], choice["run"], choice["off"], choice["kernel"])
        if self.judged(case, chosen, [result]):
            return None
        return f"With it: {report.in_short(*result)} ({simulate.run_text(choice['run'])})."

    def check_catch(self, case, answer):
        parser = argparse.ArgumentParser(prog="check", add_help=False)
        for name in ("m", "n", "k", "sms", "seed"):
            parser.add_argument(f"--{name}", type=int, default=case["run"][name])
        parser.add_argument("--schedule", default=case["run"]["schedule"],
                            choices=["time", "early", "late", "random"])
        run = dict(case["run"], **vars(parser.parse_args(answer)))
        if self.run(case["chapter"], run, [])[0]:
            return "The kernel as it is does not pass this run either."
        if self.judged(case, 0, [self.run(case["chapter"], run, case["off"])]):
            return None
        return "This run passes. What could come in another order, or more often?"


def outcome_of(code, text):
    cycles = report.cycles_of(text)
    return f"{cycles:,} simulated cycles" if cycles else report.in_short(code, text)


def chosen_of(case, answer):
    """The index of a choice."""
    return choose_from(answer[0], [str(i + 1) for i in range(len(case["choices"]))])


def choose_from(given, choices):
    if given not in choices:
        refuse(f"'{given}' is none of the choices: {' | '.join(choices)}")
    return choices.index(given)


def meant(word, words):
    near = difflib.get_close_matches(word, words, 1)
    return f"did you mean {near[0]}? " if near else ""


def refuse(what):
    print(f"practice: {what}", file=sys.stderr)
    sys.exit(2)


def usage(what):
    refuse(f"{what}\n{__doc__}")


COMMANDS = {"list": (0, 1), "answer": (1, 1), "next": (0, 1), "show": (1, 1), "hint": (1, 1),
            "check": (1, 99), "watch": (2, 2), "reset": (0, 1)}


def main():
    live, recorded, compiler, libraries, program, progress, *words = sys.argv[1:]
    command, *arguments = words or [""]
    least, most = COMMANDS.get(command, (0, -1))
    if not least <= len(arguments) <= most:
        usage(f"{meant(command, COMMANDS)}choose a command" if command not in COMMANDS else
              f"{command}: too few or too many words behind it")
    book = cases.load(live, recorded)
    book["cases"] += museum_cases.load(cases.ROOT)[0]
    practice = Practice(book, programs.quick_linker(cases.ROOT, compiler, libraries), program, progress)
    try:
        getattr(practice, command)(*arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        sys.exit(1)
    except BrokenPipeError:  # the reader of a pipe has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
