#!/usr/bin/env python3
"""turns.py TRACE.json: do the two consumers of a kernel promote in turns?

TRACE.json is what `11_fp8_scaling --trace` writes. Prints what a promotion takes, and how far the
other consumer's nearest one begins from it: a minus sign if that one begins first.
"""
import bisect
import collections
import json
import statistics
import sys

SETTLED = 16  # promotions of a consumer before its pace is that of the main loop
NEAR = 100    # cycles: both promote at once
BIN = 64      # cycles of the histogram


def spans(path):
    """By consumer of a CTA, its promotions and its issues of wgmmas: (begin, cycles), in order."""
    found = collections.defaultdict(lambda: {"promotion": [], "issue wgmma": []})
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    for event in events:
        name = event["name"].rstrip("0123456789 ")
        role = event.get("args", {}).get("role", "")
        if name in ("promotion", "issue wgmma") and role.startswith("consumer"):
            span = event["args"]["cycle"], event["args"]["cycles"]
            found[event["pid"], int(role.split()[1])][name].append(span)
    for consumer in found.values():
        for name, list_of_spans in consumer.items():
            consumer[name] = sorted(list_of_spans)[SETTLED:]
    return found


def nearest(begins, begin):
    """How far the nearest of `begins`, in order, is from `begin`."""
    at = bisect.bisect(begins, begin)
    return min((b - begin for b in begins[max(at - 1, 0):at + 1]), key=abs)


def main(path):
    found = spans(path)
    took, until_issued, period, apart = [], [], [], []
    for (cta, consumer), of in found.items():
        begins = [begin for begin, _ in of["promotion"]]
        issued = [begin + cycles for begin, cycles in of["issue wgmma"]]
        took += [cycles for _, cycles in of["promotion"]]
        for begin, cycles in of["promotion"]:
            at = bisect.bisect(issued, begin)
            until_issued += [issued[at] - begin - cycles] if at < len(issued) else []
        period += [after - begin for begin, after in zip(begins, begins[2:])]
        if consumer == 0 and (cta, 1) in found:
            others = [begin for begin, _ in found[cta, 1]["promotion"]]
            apart += [nearest(others, begin) for begin in begins] if others else []
    if not apart:
        sys.exit(f"turns.py: {path} has no promotions of two consumers")
    print(f"promotions of consumer 0                     {len(apart)}")
    print(f"a promotion, median                          {statistics.median(took):.0f} cycles")
    print(f"from its end until the next group is issued  {statistics.median(until_issued):.0f} cycles")
    print(f"two promotions of a consumer, median         {statistics.median(period):.0f} cycles")
    near = sum(abs(cycles) < NEAR for cycles in apart)
    print(f"begin less than {NEAR} cycles apart             {100 * near / len(apart):.2f} %")
    bins = collections.Counter(cycles // BIN * BIN for cycles in apart)
    for begin in range(-6 * BIN, 6 * BIN, BIN):
        share = 100 * bins[begin] / len(apart)
        print(f"the other's begins at {begin:4} to {begin + BIN - 1:4}            {share:5.1f} %  "
              + "#" * round(share))


if len(sys.argv) != 2:
    sys.exit(__doc__)
main(sys.argv[1])
