"""When the Tensor Core of each SM multiplies, in one run of one kernel.

It is read from a trace (--trace) or from a record, which has less: of each SM the stretches in
which it multiplies. A record's numbers of idle time are for readers; they are worked out again from
the rest:

    kernel 10_stream_k coop256, measured: 2816 x 2304 x 4096, 143144 cycles; idle ...
    SM 0: 124000 cycles of multiplication: 1200-70000 71000-130000
"""
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

    def write(self, file):
        m, n, k = self.shape
        print(f"kernel {self.name}, {self.source()}: {m} x {n} x {k}, {self.end} cycles; idle "
              f"{self.idle_at_end():.1f} % after the last multiplication, "
              f"{self.idle_in_all():.1f} % in all", file=file)
        for lane in self.lanes:
            spans = " ".join(f"{begin}-{end}" for begin, end in lane.spans)
            print(f"SM {lane.sm}: {lane.busy} cycles of multiplication: {spans}", file=file)


# ---- traces ----

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
    return [wave]


# ---- records ----

HEADING = re.compile(r"kernel ([^,]+), ([a-z]+): (\d+) x (\d+) x (\d+), ([1-9]\d*) cycles;")
LANE = re.compile(r"SM (\d+): (\d+) cycles of multiplication:((?: \d+-\d+)+) *")


def read_lane(line, wave):
    """The lane of a line; None if it is none."""
    found = LANE.fullmatch(line)
    if not found:
        return None
    lane = Lane(int(found.group(1)))
    lane.busy, lane.inferred = int(found.group(2)), wave.measured
    last = 0
    for span in found.group(3).split():
        begin, end = map(int, span.split("-"))
        if begin < last or end <= begin or end > wave.end:
            return None
        lane.spans.append((begin, end))
        last = end
    return lane


def read_record(text):
    """Lines that begin with # are about the record."""
    waves = []
    for number, line in enumerate(text.split("\n"), 1):
        heading = HEADING.match(line)
        lane = read_lane(line, waves[-1]) if waves else None
        if heading:
            name, source, m, n, k, cycles = heading.groups()
            waves.append(Wave(name, (int(m), int(n), int(k)), source == "measured", int(cycles)))
        elif lane:
            waves[-1].lanes.append(lane)
        elif line and not line.startswith("#"):
            raise Mistake(f"line {number} is not of a record of waves")
    if not waves or not all(wave.lanes for wave in waves):
        raise Mistake("has no SM")
    return waves


def read(path):
    """One kernel of a trace, or all of a record."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError:
        raise Mistake("cannot be read") from None
    return read_trace(text) if text.startswith("{") else read_record(text)
