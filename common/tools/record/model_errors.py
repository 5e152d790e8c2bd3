#!/usr/bin/env python3
"""model_errors.py BUILD RESULTS: what the timing model predicts, beside what was measured.

BUILD/sim has the simulator's programs, RESULTS the recorded runs (docs/results). For each chapter
and variant the simulator runs eight output tiles per SM on 4 SMs with k = 512 and with k = 1024:
two numbers, the cycles of a k-tile and those of a tile besides. They predict every recorded shape:

    cycles = ceil(tiles / 132) * (tile + k / 64 * k-tile)

A row is "seen" if the fitted constants of timing_model.h were chosen with a measurement of that
kernel at that shape in view.
"""
import json
import math
import subprocess
import sys

SMS = 132
CHAPTERS = ["02_smem_tiled", "03_cp_async_multistage", "04_rf_double_buffer", "05_tma_mbarrier",
            "06_wgmma", "07_warp_specialized", "08_persistent_pingpong", "09_cluster_multicast"]
# (rows, columns) of a tile, where it is not 128 x 128. A chapter's own kernel has the variant None.
WIDE = (128, 256)
TILES = {("06_wgmma", "two_warpgroups"): WIDE, ("06_wgmma", "two_wait0"): WIDE,
         ("07_warp_specialized", None): WIDE, ("07_warp_specialized", "wait0"): WIDE,
         ("08_persistent_pingpong", "persistent"): WIDE,
         ("08_persistent_pingpong", None): (128, 192),
         ("09_cluster_multicast", None): WIDE, ("09_cluster_multicast", "unicast"): WIDE}
SEEN = {(8192, 8192, 8192), (4096, 4096, 4096), (8192, 8192, 512)}
SEEN_KERNELS = {("02_smem_tiled", None), ("03_cp_async_multistage", None),
                ("04_rf_double_buffer", None), ("05_tma_mbarrier", None), ("06_wgmma", None),
                ("06_wgmma", "narrow"), ("06_wgmma", "wait0"), ("07_warp_specialized", None),
                ("08_persistent_pingpong", "persistent"), ("09_cluster_multicast", None)}


def tile_of(chapter, variant):
    return TILES.get((chapter, variant), (128, 128))


def simulate(build, chapter, variant, k):
    """Cycles of a tile: 32 tiles on the simulator's 4 SMs."""
    tile_m, tile_n = tile_of(chapter, variant)
    command = [f"{build}/sim/{chapter}", "--json", "--input", "zeros", "--sms", "4",
               "--m", str(8 * tile_m), "--n", str(4 * tile_n), "--k", str(k)]
    if variant:
        command += ["--variant", variant]
    run = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(run.stdout)["cycles"] / 8


def main():
    build, results = sys.argv[1:]
    measured = {}
    for name in "h200-tour", "h200-steps", "h200-stages":
        for line in open(f"{results}/{name}.jsonl"):
            row = json.loads(line)
            if row.get("chapter") not in CHAPTERS or not row["cycles"] or row["dtype"] != "bf16":
                continue
            key = row["chapter"], row["variant"], row["m"], row["n"], row["k"]
            measured.setdefault(key, []).append(row["cycles"])
    model = {}
    errors = {True: [], False: []}
    print(f"{'chapter':24}{'variant':15}{'m':>6}{'n':>6}{'k':>6}{'predicted':>12}{'measured':>12}"
          f"{'error':>8}")
    for key in sorted(measured, key=lambda k: (k[0], k[1] or "", k[2:])):
        chapter, variant, m, n, k = key
        if (chapter, variant) not in model:
            short, long = (simulate(build, chapter, variant, k) for k in (512, 1024))
            model[chapter, variant] = (long - short) / 8, 2 * short - long
        k_tile, tile = model[chapter, variant]
        tile_m, tile_n = tile_of(chapter, variant)
        tiles = math.ceil(m / tile_m) * math.ceil(n / tile_n)
        predicted = math.ceil(tiles / SMS) * (tile + math.ceil(k / 64) * k_tile)
        values = sorted(measured[key])
        median = values[len(values) // 2]
        error = predicted / median - 1
        seen = (m, n, k) in SEEN and (chapter, variant) in SEEN_KERNELS
        errors[seen].append(abs(error))
        print(f"{chapter:24}{variant or '':15}{m:6}{n:6}{k:6}{predicted:12.0f}{median:12.0f}"
              f"{100 * error:+7.1f}%{'' if seen else '  not seen before'}")
    print()
    for (chapter, variant), (k_tile, tile) in model.items():
        print(f"{chapter:24}{variant or '':15} a k-tile {k_tile:6.0f} cycles, "
              f"a tile {tile:6.0f} more")
    print()
    for seen, what in (True, "seen"), (False, "not seen"):
        print(f"mean error of {len(errors[seen])} rows {what}: "
              f"{100 * sum(errors[seen]) / max(1, len(errors[seen])):.1f} %")


if __name__ == "__main__":
    main()
