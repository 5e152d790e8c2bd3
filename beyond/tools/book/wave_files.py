"""When the Tensor Core of each SM multiplies, in the trace (--trace) of one run of one kernel."""
import json
import re

FEW_SMS = 16  # with more, pauses of less than a k-tile do not show


class Mistake(Exception):
    """What a file is not."""


class Lane:
    """One SM. The track of a trace is that of its first CTA; it has the other CTAs'
    multiplications, too."""

    def __init__(self, sm, process=None):
        self.sm, self.process, self.thread = sm, process, None
        self.spans = []  # begin, end
        self.busy = 0
        self.inferred = False

    def last(self):
        return self.spans[-1][1]

    def join(self, pause):
        """Multiplications with a shorter pause between them become one."""
        joined = []
        for begin, end in self.spans:
            if joined and begin - joined[-1][1] < pause:
                joined[-1] = (joined[-1][0], end)
            else:
                joined.append((begin, end))
        self.spans = joined


class Wave:
    def __init__(self, name, shape, measured, end):
        self.name, self.shape, self.measured, self.end = name, shape, measured, end
        self.lanes = []

    def source(self):
        return "measured" if self.measured else "simulated"

    def share(self, idle):
        """Of the SMs' time in percent."""
        return 100 * sum(idle) / (len(self.lanes) * self.end)

    def idle_at_end(self):
        return self.share(self.end - lane.last() for lane in self.lanes)

    def idle_in_all(self):
        return self.share(self.end - lane.busy for lane in self.lanes)


def read_events(wave, events):
    lanes = {}  # of a process
    known = set()
    for event in events:
        name, arguments = event.get("name"), event.get("args") or {}
        process, thread = event.get("pid"), event.get("tid")
        if name == "process_name":
            place = re.search(r", SM (\d+)", arguments.get("name", ""))
            if place and place.group(1) not in known:
                known.add(place.group(1))
                lanes[process] = Lane(int(place.group(1)), process)
                wave.lanes.append(lanes[process])
        lane = lanes.get(process)
        if lane and name == "thread_name" and arguments.get("name") == "Tensor Core":
            lane.thread = thread
        if event.get("ph") != "X":
            continue
        begin = int(arguments.get("cycle") or 0)
        end = begin + int(arguments.get("cycles") or 0)
        wave.end = max(wave.end, end)
        if lane and lane.thread is not None and lane.thread == thread:
            lane.busy += end - begin
            lane.inferred |= not lane.spans and event.get("cat") == "inferred"
            lane.spans.append((begin, end))


def read_trace(text):
    """The one kernel of a trace."""
    try:
        trace = json.loads(text)
    except ValueError as error:
        raise Mistake(error) from None
    about = trace.get("otherData")
    if "traceEvents" not in trace or not about or len(about) != 1:
        raise Mistake("is no trace of one kernel")
    (name, kernel), = about.items()
    wave = Wave(name, tuple(kernel.get(key) or 0 for key in "mnk"),
                kernel.get("source") == "measured", int(kernel.get("cycles") or 0))
    read_events(wave, trace["traceEvents"])
    if not wave.lanes:
        raise Mistake("has no SM")
    period = int(kernel.get("k_tile_period") or 0)
    for lane in wave.lanes:
        if not lane.busy:
            raise Mistake("has an SM without a multiplication in cycles")
        lane.join(period // 4 if len(wave.lanes) <= FEW_SMS else period)
    return wave


def read(path):
    """The one kernel of a trace."""
    try:
        with open(path, encoding="utf-8") as file:
            return read_trace(file.read())
    except OSError:
        raise Mistake("cannot be read") from None
