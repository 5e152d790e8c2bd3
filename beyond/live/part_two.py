"""part_two.py: what the page of part two has of its chapters besides their kernels, as
common/live/part_one.py has it of part one."""

# chapter: (name, what the page calls it, file, constants)
CHOICES = {
    "10": [("split_k", "split_k.cu: clusters share a tile's k", "split_k.cu", {}),
           ("split_reduce", "split_reduce.cu: parts added up in global memory", "split_reduce.cu", {})],
    "11": [("per_tensor", "per_tensor.cu: one scale for a matrix", "per_tensor.cu", {}),
           ("promoted", "promoted.cu: sums promoted, one scale", "promoted.cu", {})],
    "12": [("through_smem", "through_smem.cu: weights unpacked in shared memory",
            "through_smem.cu", {}),
           ("pairs", "pairs.cu: pairs of consumers", "pairs.cu", {})],
    "14": [("bias_gelu", "bias_gelu.cu: a bias and GELU", "bias_gelu.cu", {}),
           ("swiglu", "swiglu.cu: gates and values", "swiglu.cu", {}),
           ("quantize", "quantize.cu: D in e4m3, with its scales", "quantize.cu", {})],
    "15": [("one_map", "one_map.cu: one tensor map for all groups", "one_map.cu", {}),
           ("host_maps", "host_maps.cu: maps made by the host", "host_maps.cu", {}),
           ("fp8", "fp8.cu: e4m3 with scales", "fp8.cu", {})],
    "16": [("serial", "serial.cu: products and softmax in turn", "serial.cu", {}),
           ("pingpong", "pingpong.cu: two consumers in turn", "pingpong.cu", {}),
           ("free", "TURNS 0: no turns", "kernel.cu", {"TURNS": 0}),
           ("d64", "HEAD 64", "kernel.cu", {"HEAD": 64})],
}

# chapter: how its usual run differs from simulate.USUAL
RUNS = {
    "10": {"m": 256, "n": 768, "k": 1024},
    "11": {"m": 256, "n": 256, "k": 512},
    "12": {"m": 16, "n": 256, "k": 1024},
    "14": {"m": 256, "n": 256, "k": 256},
    "15": {"m": 512, "n": 200, "k": 100},
    "16": {"m": 256, "n": 512, "k": 128},
}

# chapter: options of its kind of problem, as its kind.c has them
OPTIONS = {
    "15": [{"name": "groups", "low": 1, "high": 64, "usual": 8},
           {"name": "router", "values": ["even", "skewed", "one", "empty"], "usual": "skewed"}],
    "16": [{"name": "heads", "low": 1, "high": 64, "usual": 2},
           {"name": "kv-heads", "low": 0, "high": 64, "usual": 0},
           {"name": "mask", "values": ["none", "causal"], "usual": "none"}],
}

# (chapter, choice): options without which the kernel cannot run; "": the chapter's own
NEEDS = {("16", ""): {"k": 128}, ("16", "d64"): {"k": 64}}

# chapter: (name, what the page calls it, kernel, the edited file, text, replacement)
BROKEN = {}
