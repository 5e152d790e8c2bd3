"""part_two.py: what the pages of part two have of its chapters besides their kernels, as
common/live/part_one.py has it of part one."""

# chapter: (name, what the page calls it, file, constants)
VARIANTS = {
    "10": [("equal_parts", "equal_parts.cu: every tile in two parts", "equal_parts.cu", {}),
           ("split_k", "split_k.cu: clusters share a tile's k", "split_k.cu", {}),
           ("whole", "split_k.cu, SPLITS 1: nothing is split", "split_k.cu", {"SPLITS": 1}),
           ("split_reduce", "split_reduce.cu: parts added up in global memory", "split_reduce.cu", {})],
    "11": [("per_tensor", "per_tensor.cu: one scale for each operand", "per_tensor.cu", {}),
           ("promoted", "promoted.cu: a scale for every 128 of k", "promoted.cu", {}),
           ("rows16", "few_rows.cu: 16 rows of A", "few_rows.cu", {})],
    "12": [("through_smem", "through_smem.cu: weights unpacked in shared memory",
            "through_smem.cu", {}),
           ("pairs", "pairs.cu: two k-tiles at a time", "pairs.cu", {})],
    "13": [("serial", "serial.cu: the sum in a launch of its own", "serial.cu", {}),
           ("through_tma", "through_tma.cu: the TMA sends", "through_tma.cu", {}),
           ("copy_warps", "copy_warps.cu: warps send, as fast as they can", "copy_warps.cu", {}),
           ("all_gather", "all_gather.cu: A is fetched while the kernel runs", "all_gather.cu", {})],
    "14": [("bias_gelu", "bias_gelu.cu: a bias and GELU", "bias_gelu.cu", {}),
           ("swiglu", "swiglu.cu: gates and values", "swiglu.cu", {}),
           ("quantize", "quantize.cu: D in e4m3, with its scales", "quantize.cu", {})],
    "15": [("one_map", "one_map.cu: one tensor map for all groups", "one_map.cu", {}),
           ("host_maps", "host_maps.cu: maps made by the host", "host_maps.cu", {}),
           ("fp8", "fp8.cu: e4m3 with scales", "fp8.cu", {})],
    "16": [("serial", "serial.cu: products and softmax in turn", "serial.cu", {}),
           ("pingpong", "pingpong.cu: two consumers in turn", "pingpong.cu", {}),
           ("d64", "HEAD 64", "kernel.cu", {"HEAD": 64})],
    "17": [("one_set", "SUMS 1: one set of sums", "kernel.cu", {"SUMS": 1})],
    "18": [("one_set", "SUMS 1: one set of sums", "kernel.cu", {"SUMS": 1})],
    "19": [("two_ctas", "two CTAs per SM, a set each", "kernel.cu", {"STAGES": 1, "SUMS": 1, "CTAS": 2}),
           ("two_wait", "two CTAs per SM, and the second waits for columns", "kernel.cu",
            {"STAGES": 1, "CTAS": 2})],
}

# chapter: how its usual run differs from simulate.USUAL
RUNS = {
    "10": {"m": 256, "n": 768, "k": 1024},
    "11": {"m": 256, "n": 256, "k": 512},
    "12": {"m": 16, "n": 256, "k": 1024},
    "13": {"m": 256, "n": 512, "k": 512},
    "14": {"m": 256, "n": 256, "k": 256},
    "15": {"m": 512, "n": 200, "k": 100},
    "16": {"m": 256, "n": 512, "k": 128},
    "17": {"m": 512, "n": 768, "k": 384, "sms": 2},
    "18": {"m": 512, "n": 768, "k": 384, "sms": 2},
    "19": {"m": 640, "n": 1100, "k": 200, "sms": 2},
}

# chapter: options of its kind of problem, as its kind.c has them
OPTIONS = {
    "13": [{"name": "launches", "low": 1, "high": 8, "usual": 1}],
    "15": [{"name": "groups", "low": 1, "high": 64, "usual": 8},
           {"name": "router", "values": ["even", "skewed", "one", "empty"], "usual": "skewed"}],
    "16": [{"name": "heads", "low": 1, "high": 64, "usual": 2},
           {"name": "kv-heads", "low": 0, "high": 64, "usual": 0},
           {"name": "mask", "values": ["none", "causal"], "usual": "none"},
           {"name": "scale", "values": ["input", "usual", "one", "steep"], "usual": "input"}],
}

# (chapter, variant): options without which the kernel cannot run; "": the chapter's own
NEEDS = {("16", ""): {"k": 128}, ("16", "d64"): {"k": 64}}
