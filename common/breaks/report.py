"""report.py: what a program of the simulator has said, taken apart; and as a page shows it."""

import re

HAZARD = re.compile(r"^hazard: ([\w-]+): ((?:.*)(?:\n {4}.*)*)", re.M)  # its kind, what it says
PLACE = re.compile(r"([\w.]+/[\w.]+\.(?:cu|h)):(\d+)")
VERIFIED, WRONG, FAILED = "verified", "wrong result", "exit code 1"
EXIT_VERIFIED, EXIT_WRONG, EXIT_HAZARD = 0, 1, 4

COLUMNS, SHOWN = 96, 10  # of a report on a page: their width, and the most lines
MORE = "more about "     # where to read on, behind the reports


def verdict_of(code, text):
    """Of a run, in one word or two; of several hazards the first."""
    if code == EXIT_VERIFIED:
        return VERIFIED
    found = HAZARD.search(text)
    if found:
        return found.group(1)
    return WRONG if WRONG in text or "wrote outside of" in text else FAILED


def places_of(report):
    return list(dict.fromkeys(f"{file.split('/')[-1]}:{line}"
                              for file, line in PLACE.findall(report)))


def places_in(text):
    """The lines that the first report names."""
    found = HAZARD.search(text)
    return places_of(found.group(2))[:4] if found else []


def looks_like(code, text):
    """What a reader can tell runs apart by: the verdicts, and the lines they name."""
    return code, [(kind, places_of(report)) for kind, report in HAZARD.findall(text)], (
        text if code == EXIT_WRONG else "")


def in_short(code, text):
    verdict, places = verdict_of(code, text), places_in(text)
    return f"{verdict} at {', '.join(places)}" if places else verdict


def cycles_of(text):
    """Of a run that was verified; under the schedules that have none, 0."""
    found = re.search(r"yes \| +(\d+)", text)
    return int(found.group(1)) if found else 0


def in_one_line(text):
    return " ".join(text.split())


def bytes_missing(text):
    return re.search(r"(\d+) bytes still missing", in_one_line(text)).group(1)


def waited_for(text):
    """The first barrier that a deadlock names, and the phase."""
    return "{1}, phase {0}".format(
        *re.search(r"phase (\d+) \(parity \d\) of the mbarrier (\S+)", in_one_line(text)).groups())


# ---- on a page ----

def wrapped(line):
    indent = len(line) - len(line.lstrip(" ")) + 4
    while len(line) > COLUMNS:
        cut = line.rfind(" ", 20, COLUMNS + 1)
        if cut < 0:
            break
        yield line[:cut]
        line = " " * indent + line[cut + 1:]
    yield line


def shown(log, code, every_cta=False):
    """What a program said, without the hazards behind the first; what a deadlock says about CTA 0
    stands for the other CTAs, unless every one is asked for."""
    hazards = lines = 0
    for line in filter(None, log.split("\n")):
        if line.startswith(MORE):
            continue
        hazards += line.startswith("hazard")
        if not (hazards == 1 or hazards == 0 and code) or lines == SHOWN:
            continue
        lines += 1
        cta = re.match(r"\s*CTA\s*(\d+)", line)
        if every_cta or not cta or int(cta.group(1)) == 0:
            yield from wrapped(line)
    yield f"exit code {code}"


def kind_shown(lines):
    """Of a report on a page: "deadlock"; without a hazard "wrong result"."""
    found = HAZARD.match("\n".join(lines))
    return found.group(1) if found else WRONG


def essence(lines, with_line=False):
    """What has to stay the same of a report: the first hazard's kind and file, if it is asked for the
    line, and the exit code."""
    text = "\n".join(lines)
    first = re.search(rf"^hazard: ([^:]+): ([^:]+{r':[0-9]+' * with_line}):", text, re.M)
    return (first.groups() if first else None), text[text.find("exit code"):]
