#!/usr/bin/env python3
"""model_errors.py BUILD RESULTS: what the timing model predicts, beside what was measured.

BUILD/sim has the simulator's programs, RESULTS the recorded runs (docs/results). For each chapter and
variant the simulator runs eight output tiles per SM on 4 SMs with k = 512 and with k = 1024: two
numbers, the cycles of a k-tile and those of a tile besides. They predict every recorded shape:

    cycles = ceil(tiles / 132) * (tile + k / 64 * k-tile)

with 128 x 128 tiles, 128 x 256 for coop256; variants of another tile, and those that differ in the
order of tiles, are left out.

A row is "seen" if the fitted constants of timing_model.h were chosen with that measurement in view.
"""
import json
import math
import subprocess
import sys

SMS = 132
CHAPTERS = ["02_smem_tiled", "03_cp_async_multistage", "04_rf_double_buffer", "05_tma_mbarrier",
            "06_wgmma", "07_warp_specialized", "08_persistent_pingpong", "09_cluster_multicast"]
SEEN = {(8192, 8192, 8192), (4096, 4096, 4096), (8192, 8192, 512)}
SEEN_VARIANTS = {None, "wait0"}
NOT_MODELLED = {"static", "group16", "static_group16", "cooperative", "pp192"}


def simulate(build, chapter, variant, k):
    wide = chapter.startswith("09")
    command = [f"{build}/sim/{chapter}", "--json", "--input", "zeros", "--n", "1024", "--k", str(k),
               "--m", "1024" if wide else "512"]
    if variant:
        command += ["--variant", variant]
    run = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(run.stdout)["cycles"] / 8


def main():
    build, results = sys.argv[1:]
    measured = {}
    for name in "h200-tour", "h200-stages", "h200-k-sweep":
        for line in open(f"{results}/{name}.jsonl"):
            row = json.loads(line)
            row.setdefault("chapter", row.get("stage"))  # the key of older records
            if row["chapter"] not in CHAPTERS or not row["cycles"] or row["dtype"] != "bf16":
                continue
            key = row["chapter"], row["variant"], row["m"], row["n"], row["k"]
            if row["selected"] is None and key[1] not in NOT_MODELLED:
                measured.setdefault(key, []).append(row["cycles"])
    model = {}
    errors = {True: [], False: []}
    print(f"{'chapter':24}{'variant':10}{'m':>6}{'n':>6}{'k':>6}{'predicted':>12}{'measured':>12}"
          f"{'error':>8}")
    for key in sorted(measured, key=lambda k: (k[0], k[1] or "", k[2:])):
        chapter, variant, m, n, k = key
        if (chapter, variant) not in model:
            short, long = (simulate(build, chapter, variant, k) for k in (512, 1024))
            model[chapter, variant] = (long - short) / 8, 2 * short - long
        k_tile, tile = model[chapter, variant]
        tiles = math.ceil(m / 128) * math.ceil(n / (256 if chapter.startswith("09") else 128))
        predicted = math.ceil(tiles / SMS) * (tile + math.ceil(k / 64) * k_tile)
        values = sorted(measured[key])
        median = values[len(values) // 2]
        error = predicted / median - 1
        seen = (m, n, k) in SEEN and (variant in SEEN_VARIANTS or variant == "coop256")
        seen &= not (chapter.startswith("07") and variant == "wait0")
        errors[seen].append(abs(error))
        print(f"{chapter:24}{variant or '':10}{m:6}{n:6}{k:6}{predicted:12.0f}{median:12.0f}"
              f"{100 * error:+7.1f}%{'' if seen else '  not seen before'}")
    print()
    for (chapter, variant), (k_tile, tile) in model.items():
        print(f"{chapter:24}{variant or '':10} a k-tile {k_tile:6.0f} cycles, "
              f"a tile {tile:6.0f} more")
    print()
    for seen, what in (True, "seen"), (False, "not seen"):
        print(f"mean error of {len(errors[seen])} rows {what}: "
              f"{100 * sum(errors[seen]) / max(1, len(errors[seen])):.1f} %")


if __name__ == "__main__":
    main()
