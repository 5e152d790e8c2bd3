"""How a ring of stages is drawn, in every picture that has one."""
import math


def sector(cx, cy, s, parts, r0, r1, gap=2.2):
    """The path of one of `parts` sectors; stage 0 begins at the top, the stages go clockwise."""
    def at(r, degrees):
        a = math.radians(degrees)
        return f"{cx + r * math.sin(a):.1f} {cy - r * math.cos(a):.1f}"
    b, e = 360 / parts * s, 360 / parts * (s + 1)
    g0, g1 = math.degrees(gap / r0), math.degrees(gap / r1)
    return (f"M{at(r1, b + g1)}A{r1} {r1} 0 0 1 {at(r1, e - g1)}L{at(r0, e - g0)}"
            f"A{r0} {r0} 0 0 0 {at(r0, b + g0)}z")


def middle(cx, cy, s, parts, r):
    """The middle of a sector, at a radius."""
    a = math.radians(360 / parts * (s + .5))
    return round(cx + r * math.sin(a)), round(cy - r * math.cos(a))


def k_tile(p, cx, cy, s, parts, r, k):
    """The number of the k-tile in a stage."""
    x, y = middle(cx, cy, s, parts, r)
    p.add(f'<circle cx="{x}" cy="{y}" r="16" class="bg"/>')
    p.text(x, y + 5.5, k, "head", "middle")


def hand(p, cx, cy, s, parts, r, cls, outside, shift=0):
    """A triangle that points at a stage: outwards from radius r, or from outside inwards."""
    turn = f"rotate({360 / parts * (s + .5):g} {cx} {cy})"
    p.path(f"M{cx} {cy - r - 4}l-11 -18h22z" if outside else
           f"M{cx + shift} {cy - r + 3}l-9 19h18z", cls, transform=turn)


def over_time(p, y, left, right, begin, end, lanes, now, cls="held", readers=()):
    """The stages' lanes: [[(k-tile, asked, landed, done)] ...] in cycles, and a cursor at `now`.
    `cls` is the look of a stage that has landed. `readers` have a strip each below every stage's
    lane: (class, [[(begin, end)] ...])."""
    step = 26 + (6 * len(readers) + 4 if readers else 0)
    def px(t):
        return round(left + (right - left) * (min(max(t, begin), end) - begin) / (end - begin), 1)
    p.text(20, y - 16, "The same over time; number: k-tile", "text soft")
    for s, lane in enumerate(lanes):
        top = y + step * s
        p.text(left - 12, top + 16, f"stage {s}", "text", "end")
        p.rect(left, top, right - left, 22, "lane")
        for k, asked, landed, done in lane:
            if asked >= end:
                continue
            p.rect(px(asked), top, px(landed) - px(asked), 22, "load")
            if done > landed and landed < end:
                p.rect(px(landed), top, px(done) - px(landed), 22, cls)
            if px(landed) - px(asked) > 20:
                p.text((px(asked) + px(landed)) / 2, top + 16, k, "num ink b", "middle")
        for i, (reader, spans) in enumerate(readers):
            p.cells([(px(b), top + 23 + 6 * i, round(px(e) - px(b), 1), 5)
                     for b, e in spans[s] if b < end], reader)
    p.path(f"M{px(now)} {y - 5}v{step * len(lanes) + 4}", "now")
    p.css.append(".now{stroke:var(--fg);stroke-width:2}")
