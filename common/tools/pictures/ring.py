"""Chapter 07's ring of stages at a moment of a simulated run, with its full and empty barriers."""
import rings
from data import constants, told, trace
from edit import Replace
from picture import Picture

KERNEL, PROGRAM = "07_warp_specialized/kernel.cu", "07_warp_specialized"
SIZE = ("--m", "128", "--n", "256", "--k", "1024")
FROM, TO = 1100, 10400  # cycles of the timeline
CX, CY, R0, R1 = 280, 206, 62, 128
STRIP_X, STRIP_Y, STRIP_R = 100, 494, 544
EDITS = [(KERNEL, Replace("#define STAGES 4", "#define STAGES 3")),
         (KERNEL, Replace("#define WAIT 1", "#define WAIT 0"))]


class Life:
    """What happens to the ring when, from the trace of one CTA."""

    def __init__(self):
        c = constants(KERNEL)
        self.stages, self.wait, self.consumers = c["STAGES"], c["WAIT"], c["CONSUMERS"]
        self.asked, self.landed, self.issue, self.release = {}, {}, {}, {}
        self.waits, self.first = [], {}  # (who, k-tile, begin, end); the producer's k-tiles
        for track, name, begin, cycles, args in trace(PROGRAM, *SIZE):
            k = args.get("k_tile")
            if name == "load in flight":
                self.asked[k], self.landed[k] = begin, begin + cycles
            elif name == "wait for a free stage":
                self.first[k] = begin
                self.waits.append(("producer", k, begin, begin + cycles))
            elif name == "wait for data":
                c = int(track[-1])
                self.waits.append((c, k, begin, begin + cycles))
                # After the wait for group k - WAIT come its release and the wait for this k-tile.
                self.release[c, k - 1 - self.wait] = begin
            elif name == "issue wgmma":
                self.issue[int(track[-1]), k] = begin
        self.tiles = sorted(self.asked)
        self.check()

    def done(self, k):
        """When both consumers have released the k-tile's stage."""
        return max(self.release.get((c, k), TO + 1) for c in range(self.consumers))

    def check(self):
        """The barriers flip when --explain says so."""
        for barrier, when in ((0, lambda k: self.landed[k]), (1, self.done)):
            flips = [event.cycle for event in told(PROGRAM, *SIZE, barrier=barrier)
                     if event.name == "flip"]
            assert flips[:2] == [when(0), when(self.stages)], (barrier, flips)

    def complete(self, k, when, now):
        """Has the barrier's phase of this k-tile, the last in its stage, been completed?"""
        flips = sum(1 for j in self.tiles if j % self.stages == k % self.stages and when(j) <= now)
        assert flips in (k // self.stages, k // self.stages + 1)
        return flips > k // self.stages


def moment(life):
    """The cycle that is shown: the first at which the producer waits for `empty` beside a load in
    flight and a stage that is full, while both consumers have as many k-tiles in flight as they
    may."""
    for _, k, begin, end in sorted(w for w in life.waits if w[0] == "producer"):
        now = (3 * begin + end) // 4
        loads = [j for j in life.tiles if life.asked[j] <= now < life.landed[j]]
        reading = [j for j in life.tiles if all(life.issue.get((c, j), TO) <= now < life.done(j)
                                                for c in range(life.consumers))]
        if end - begin > 100 and loads and len(reading) > life.wait:
            return now, k
    raise AssertionError("the producer never waits beside a load in flight")


def draw():
    life = Life()
    assert life.stages == 4 and life.consumers == 2  # the drawing's own numbers
    now, waited = moment(life)
    assert all(life.issue[c, waited - life.stages] < now < life.release[c, waited - life.stages]
               for c in range(life.consumers)), "not both consumers read the stage"
    state = []
    for s in range(life.stages):  # the stage's k-tile, and how far it is
        k = max(k for k in life.tiles if k % life.stages == s and life.asked[k] <= now)
        state.append((k, "load" if now < life.landed[k] else
                      "free" if now >= life.done(k) else "full"))
    loading = [k for k, what in state if what == "load"]
    full = [k for k, what in state if what == "full"]
    p = Picture("The ring: who fills, who waits",
                f"""One moment, marked by the line in the lanes below: of {life.stages} stages
                {len(loading)} is being filled and {len(full)} are full, and the producer waits for
                `empty` of stage {waited % life.stages}, which both consumers still read. A stage's
                `full` is complete when its k-tile has landed, its `empty` when both consumers have
                released it (simulated, one CTA of chapter 07, k = {SIZE[-1]}).""",
                f"A ring of {life.stages} stages at one moment. The TMA fills the stage of k-tile "
                f"{', '.join(map(str, loading))}; stages with k-tiles "
                f"{', '.join(map(str, full))} are full. The producer's hand is at stage "
                f"{waited % life.stages} and waits for its empty barrier. A stage's full barrier "
                "is complete when its bytes have landed, its empty barrier when both consumers "
                "have released it. Below, the same over time, with the time for which each "
                "consumer reads a stage.", 676)
    for s, (k, what) in enumerate(state):
        p.path(rings.sector(CX, CY, s, 4, R0, R1),
               {"load": "load", "full": "held", "free": "lane"}[what])
        for c, (r0, r1) in enumerate(((R0, R0 + 9), (R0 + 11, R0 + 20))):
            if life.issue.get((c, k), TO) <= now < life.release.get((c, k), TO):
                p.path(rings.sector(CX, CY, s, 4, r0, r1), ("mma", "mma1")[c])
        rings.k_tile(p, CX, CY, s, 4, 106, k)
        # the barriers, in the corners
        x, y = ((402, 58), (402, 306), (24, 306), (24, 58))[s]
        p.text(x, y + 14, f"stage {s}", "head")
        for row, (name, when, who) in enumerate((("full", lambda k: life.landed[k], (0, 1)),
                                                 ("empty", life.done, ("producer",)))):
            yy = y + 24 + 27 * row
            waited_for = any(w in who and k % life.stages == s and b <= now < e and e - b > 100
                             for w, k, b, e in life.waits)
            if waited_for:
                p.rect(x - 8, yy - 1, 160, 24, "wait", rx=4)
            dark = " onbright" if waited_for else ""
            p.text(x, yy + 16, name, "num" + dark)
            p.text(x + 50, yy + 16, "complete" if life.complete(k, when, now) else "incomplete",
                   "text" + dark)
    # hands: where each role is
    hand = max(k for k, t in life.first.items() if t <= now)
    rings.hand(p, CX, CY, hand % life.stages, 4, R1, "load", True)
    for c in range(life.consumers):
        at = max(k for k in life.tiles if life.issue.get((c, k), TO) <= now)
        rings.hand(p, CX, CY, at % life.stages, 4, R0, ("mma", "mma1")[c], False, 20 * c - 10)
    p.text(CX, CY - 2, "cycle", "text soft", "middle")
    p.text(CX, CY + 18, now, "head", "middle")
    y = 406
    p.legend(20, y, (("load", "load in flight", 150), ("held", "full", 90), ("mma", "", 20),
                     ("mma1", "read by consumers 0, 1", 0)))
    p.legend(20, y + 26, (("wait", "waited for", 0),))
    for x, cls, word in ((170, "load", "producer"), (284, "mma", ""),
                         (306, "mma1", "consumers 0 and 1")):
        p.path(f"M{x} {y + 27}l9 -16l9 16z", cls)
        p.text(x + 25, y + 26, word)

    rings.over_time(p, STRIP_Y, STRIP_X, STRIP_R, FROM, TO, [
        [(k, life.asked[k], life.landed[k], life.done(k)) for k in life.tiles
         if k % life.stages == s] for s in range(life.stages)], now, readers=[
             (("mma", "mma1")[c], [[(life.issue[c, k], life.release.get((c, k), TO))
                                    for k in life.tiles if k % life.stages == s]
                                   for s in range(life.stages)])
             for c in range(life.consumers)])
    return p.svg()
