"""part_one.py: what the live page has of chapters 01 to 09 besides their kernels; of part two's,
beyond/live/part_two.py has the same."""

# chapter: (name, what the page calls it, file, constants)
VARIANTS = {
    "03": [("stages2", "STAGES 2", "kernel.cu", {"STAGES": 2}),
           ("stages5", "STAGES 5, one CTA per SM", "kernel.cu", {"STAGES": 5, "CTAS_PER_SM": 1}),
           ("mbarrier", "mbarriers instead of groups", "mbarrier.cu", {})],
    "04": [("stages2", "STAGES 2", "kernel.cu", {"STAGES": 2}),
           ("stages4", "STAGES 4, one CTA per SM", "kernel.cu", {"STAGES": 4, "CTAS_PER_SM": 1}),
           ("one_cta", "one CTA per SM", "kernel.cu", {"CTAS_PER_SM": 1})],
    "05": [("stages2", "STAGES 2", "kernel.cu", {"STAGES": 2}),
           ("stages5", "STAGES 5, one CTA per SM", "kernel.cu", {"STAGES": 5, "CTAS_PER_SM": 1})],
    "06": [("wait0", "WAIT 0: no multiplication stays in flight", "kernel.cu", {"WAIT": 0}),
           ("stages2", "STAGES 2", "kernel.cu", {"STAGES": 2}),
           ("narrow", "narrow stores", "kernel.cu", {"WIDE_STORES": 0}),
           ("two_warpgroups", "two warpgroups", "two_warpgroups.cu", {}),
           ("two_wait0", "two warpgroups, WAIT 0", "two_warpgroups.cu", {"WAIT": 0}),
           ("rs", "A from registers", "rs.cu", {})],
    "07": [("wait0", "WAIT 0: no multiplication stays in flight", "kernel.cu", {"WAIT": 0}),
           ("stages2", "STAGES 2", "kernel.cu", {"STAGES": 2})],
    "08": [("stages2", "STAGES 2", "kernel.cu", {"STAGES": 2}),
           ("persistent", "persistent, without ping-pong", "persistent.cu", {})],
    "09": [("stages2", "STAGES 2", "kernel.cu", {"STAGES": 2}),
           ("unicast", "MULTICAST 0: each CTA loads its B", "kernel.cu", {"MULTICAST": 0})],
}

# chapter: how its usual run differs from simulate.USUAL. 01 calls the simulator for every element.
RUNS = {"01": {"m": 32, "n": 64, "k": 64}}

# Of part two alone: a chapter's further options; what its kernel, or a variant, asks for besides.
OPTIONS, NEEDS = {}, {}
