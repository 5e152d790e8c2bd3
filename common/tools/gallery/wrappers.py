"""wrappers.py: does the gallery break every line that synchronizes?

Every wrapper of common/hopper that a kernel calls must be in rules.SYNCHRONIZING, or here; and the
rules must reach every place that calls one of the former.
"""

import glob
import os
import re

import rules
from source import BLANKED

# These move or compute data, fetch a tensor map early, tell a thread who it is, or let the next
# launch begin, which orders nothing. Atomics and flags are not among them.
PLAIN = {
    "cluster_rank", "elect_one", "warp_index", "shared_address",
    "element_to_float", "float_to_element", "pack_elements", "pack_e4m3", "first_of_pair",
    "second_of_pair",
    "float_to_bits", "bits_to_float", "exp2_approx", "reciprocal_approx", "st_global_b8",
    "ld_global_element", "ld_global_b32", "ld_global_b128", "st_global_element",
    "st_global_b32", "st_global_b128", "ld_shared_b32", "ld_shared_b64", "ld_shared_b128", "st_shared_b32",
    "st_shared_b128", "ld_shared_cluster_b128", "cp_async_16", "ldmatrix_x4", "stmatrix_x4",
    "stmatrix_x2", "stmatrix_x4_trans", "w4_to_e4m3",
    "wgmma_m64nNk32_e4m3_rs", "wgmma_m64nNk32_e4m3", "wgmma_promote", "wgmma_promote_columns",
    "tensor_map_replace_address", "tensor_map_replace_dim",
    "tma_prefetch_map", "griddepcontrol_launch_dependents", "mma_m16n8k16", "wgmma_m64nNk16",
    "wgmma_m64nNk16_mn_major", "wgmma_m64nNk16_rs", "wgmma_m64nNk16_rs_mn_major",
    "wgmma_use_registers", "wgmma_use_fragments"}
# Of CUDA itself.
BARRIERS = {"__syncthreads", "__syncwarp"}
WRAPPER = re.compile(r"^(?:DEVICE\s[^;={]*?\b|#define )([a-z]\w*)\(", re.M)


def wrappers(root):
    """The names that common/hopper defines for kernels."""
    found = set(BARRIERS)
    for path in glob.glob(os.path.join(root, "common/hopper/*.h")):
        with open(path, encoding="ascii") as file:
            found |= set(WRAPPER.findall(file.read()))
    return found


def calls(code, names):
    return [match.start() for match in re.finditer(r"\b(\w+)\s*\(", code) if match.group(1) in names]


def in_macros(source, names):
    """The calls of these in lines of the preprocessor."""
    return calls("".join(match.group() for match in BLANKED.finditer(source.text)
                         if match.group().lstrip().startswith("#")), names)


def synchronizes(root, source):
    names = wrappers(root) & rules.SYNCHRONIZING
    return calls(source.code, names) or in_macros(source, names)


def unruled(root, sources, is_called):
    """What the gallery would miss: a line for each. `is_called`: whether a kernel calls that
    function of a header."""
    known, found = wrappers(root), []
    for source in sources:
        called = "".join(source.code[brace:end] for function, brace, end in source.functions()
                         if is_called(function))
        named = {name for name in re.findall(r"\b(\w+)\s*\(", called) if name in known}
        found += [f"rules.py: {source.name} calls {name}, for which there is no rule"
                  for name in sorted(named - rules.SYNCHRONIZING - PLAIN)]
        reached = {at for _, at, _ in rules.Finder(source).calls()}
        synchronizing = known & rules.SYNCHRONIZING
        found += [f"source.py: {source.name}:{source.line_of(at)} is in no function that is read"
                  for at in calls(source.code, synchronizing) if at not in reached]
        # What a macro calls is not broken.
        found += [f"source.py: a macro of {source.name} synchronizes"
                  for _ in in_macros(source, synchronizing)]
    return found
