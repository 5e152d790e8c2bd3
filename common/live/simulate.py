"""simulate.py: runs of the live book's program."""

import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "breaks"))
import report

USUAL = {"m": 128, "n": 256, "k": 256, "sms": 4, "schedule": "time", "seed": 1,
         "input": "uniform", "iseed": 1}
OPTIONS = {"seed": "schedule-seed", "iseed": "seed"}  # the others have their names


def kernel_of(live, chapter, number=-1):
    """What live.json says of the kernel that runs; -1: the chapter's own."""
    if number >= 0:
        return live["kernels"][number]
    return next(one for one in live["chapters"] if one["name"] == chapter)


def number_of(live, chapter, asked):
    """Of the variant or the break that is asked for; -1: of neither."""
    numbers = {(one["kind"], one["name"]): one["number"] for one in live["kernels"]
               if one["chapter"] == chapter}
    return next((numbers[kind, asked[kind]] for kind in ("variant", "break") if asked.get(kind)), -1)


def usual_run(live, chapter):
    return kernel_of(live, chapter)["run"]


def options_of(chapter, run):
    return ["--chapters", str(int(chapter[:2])),
            *(word for name, value in run.items()
              for word in (f"--{OPTIONS.get(name, name)}", str(value))),
            "--step-limit", str(step_limit(run))]


def step_limit(run):
    """Many times what a run needs; a kernel that never ends has it soon where the problem is
    small. page/address.js has the same."""
    return 5000000 + run["m"] * run["n"] * run["k"] // 4


def run_case(command, chapter, run, off, kernel=-1):
    """(exit code, what it says)"""
    chosen = {"LIVE_OFF": ",".join(map(str, off)), "LIVE_KERNEL": str(kernel)}
    done = subprocess.run([*command, *options_of(chapter, run)], capture_output=True, text=True,
                          env=os.environ | chosen, check=False)
    return done.returncode, done.stdout + done.stderr


def run_text(run):
    seed = f", seed {run['seed']}" if run["schedule"] == "random" else ""
    return (f"m {run['m']}, n {run['n']}, k {run['k']}, {run['sms']} SM{'s'[:run['sms'] != 1]}, "
            f"schedule {run['schedule']}{seed}")


# ---- answers and numbers ----

def judged(command, rule, given, right=(), results=()):
    """Whether an answer is right: breaks/judge.h. None: it cannot be decided. right: numbers of answers;
    results: (exit code, what it says) of runs."""
    judge = os.path.join(os.path.dirname(command[0]), "judge")
    runs = [number for code, text in results for number in (code, report.cycles_of(text))]
    words = map(str, [judge, rule, given, *right, "--", *runs])
    return {0: True, 1: False, 3: None}[subprocess.run(list(words), check=False).returncode]


def report_of(command, case):
    """(what the run says, the data of its report page)"""
    kernel = case.get("asked", case["kernel"])
    with tempfile.TemporaryDirectory() as directory:
        _, text = run_case([*command, "--report", directory], case["chapter"], case["run"],
                           case["off"], kernel)
        with open(os.path.join(directory, "index.html"), encoding="utf-8") as file:
            data = re.search(r'<script type="application/json" id="data">(.*?)</script>',
                             file.read(), re.S).group(1)
    return text, json.loads(data)


# Of a barrier's events: which kind, and which number. timeline/page/barriers.js has the fields.
EVENT_FIELDS, KIND, BY_THREAD, AMOUNT = 10, 1, 3, 4
INIT, EXPECT_TX, COMPLETE_TX, FLIP = 0, 2, 3, 4


def measured(asks, text, data):
    """What the simulator says of this, as text. Of barriers that of CTA 0 whose name begins so."""
    what = asks[0]
    if what == "verdict":
        return report.HAZARD.search(text).group(1)
    if what == "smem":
        return str(data["rows"][0]["smem_bytes"])
    if what == "missing":
        return report.bytes_missing(text)
    if what == "waits":
        return report.waited_for(text)
    barriers = [[one["events"][i:i + EVENT_FIELDS]
                 for i in range(0, len(one["events"]), EVENT_FIELDS)]
                for one in data["timelines"][0]["barriers"]
                if one["cta"] == 0 and one["name"].startswith((*asks, "")[1])]
    if what == "last_thread":
        return str(max(event[BY_THREAD] for events in barriers for event in events))
    events = barriers[0]
    if what == "phases":
        return str(sum(event[KIND] == FLIP for event in events))
    kind = {"announced": EXPECT_TX, "delivers": COMPLETE_TX, "arrivals": INIT}[what]
    return str(next(event[AMOUNT] for event in events if event[KIND] == kind))


def compared(run, chapter, before, after):
    """The simulated cycles of `after` for one of `before`, both (command, kernel)."""
    cycles = [report.cycles_of(run_case(command, chapter, run, [], kernel)[1])
              for command, kernel in (before, after)]
    return cycles[1] / cycles[0]


def not_edited(command, case, before, after):
    """None if `after` differs from the kernel as it was by what the exercise's edit makes of it, or
    what does not fit."""
    edit = case["edit"]
    if "says" in edit:
        asks, wanted = edit["says"]
        told = measured(asks, *report_of(after[0], dict(case, asked=after[1])))
        if not judged(command, "named", told, wanted):
            return f"{' '.join(asks).strip()}: {told}, not {' or '.join(wanted[:2])}"
    if "ratio" in edit or "differs" in edit:
        ratio = compared(case["run"], case["chapter"], before, after)
        low, high = edit.get("ratio", (0.5, 2))
        if "differs" in edit and judged(command, "named", ratio, [1]):
            return f"as many simulated cycles as before ({run_text(case['run'])})"
        if not judged(command, "between", ratio, (low, high)):
            return (f"{ratio:.3f} of the simulated cycles ({run_text(case['run'])}), not {low} to "
                    f"{high}")
    return None
