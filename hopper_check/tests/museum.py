"""museum.py ROOT HOPPER_CHECK NVCC WORK [EXHIBIT...]: the museum, as a reader's program would be.

Each exhibit of Hopper's becomes a CUDA program in both forms (programs/museum.cu), which
hopper_check runs. The fixed form is clean under every schedule. The first finding of the broken one
has a kind that is accused, and that line is one of the two that are named. Skipped (77) where there
is no nvcc.
"""

import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = sys.argv[1]
sys.path.insert(0, os.path.join(ROOT, "common/breaks"))
import exhibits

MARK = re.compile(r"/\* accused[^:]*: (.*?) \*/")
FINDING = re.compile(r"^hazard: ([\w-]+): (.*?)^    in launch ", re.M | re.S)
CLEAN, FINDINGS = 0, 4
SECONDS = 300
REST = ("hopper_check/tests/programs/museum.cu", "common/tests/museum/museum_run.c",
        "common/gpu/cuda_call.c", "common/gpu/encode_tensor_map.c", "common/gpu/launch.c")


def accused(name):
    """{(kind, line)}, as museum_test.c reads them."""
    found = set()
    for number, text in enumerate(exhibits.source_of(ROOT, name).splitlines(), 1):
        for kinds in MARK.findall(text):
            alone = text.strip().startswith("/*")
            found |= {(kind, number + alone) for kind in kinds.split(", ")}
    return found


def nvcc_runs(nvcc, *options):
    subprocess.run([nvcc, "-std=c++17", "-lineinfo", "-w", "-gencode",
                    "arch=compute_90a,code=compute_90a", "-cudart", "shared", f"-I{ROOT}/common",
                    "-DGEMM_BF16_ELEMENTS=1", "-DMUSEUM_FORM=museum_form_of_exhibit", *options],
                   check=True)


def object_of(path, work):
    return os.path.join(work, os.path.basename(path) + ".o")


def compile_rest(nvcc, work):
    """The objects that all programs have."""
    for path in REST:
        nvcc_runs(nvcc, "-c", os.path.join(ROOT, path), "-o", object_of(path, work))


def compile_form(name, fixed, nvcc, work):
    program = os.path.join(work, f"{name}_{fixed}")
    nvcc_runs(nvcc, f"-DFIXED={fixed}", "-o", program, exhibits.path_of(ROOT, name),
              *(object_of(path, work) for path in REST))
    return program


def check(name, hopper_check, nvcc, work):
    """What is not as it should be, or None."""
    for fixed in (1, 0):
        program = compile_form(name, fixed, nvcc, work)
        done = subprocess.run([hopper_check, "--jobs", "1", program], capture_output=True,
                              text=True, check=False, timeout=SECONDS)
        if done.returncode != (CLEAN if fixed else FINDINGS):
            return f"fixed {fixed}, exit code {done.returncode}: {done.stdout}{done.stderr}"
    kind, text = FINDING.search(done.stdout + done.stderr).groups()
    lines = re.findall(rf"{name}\.cu:(\d+)", text)
    return None if any((kind, int(line)) in accused(name) for line in lines) else f"{kind}: {text}"


def main():
    hopper_check, nvcc, work, *chosen = sys.argv[2:]
    if not shutil.which(nvcc):
        print("there is no nvcc")
        return 77
    os.makedirs(work, exist_ok=True)
    compile_rest(nvcc, work)
    names = [name for name in chosen or exhibits.names(ROOT)
             if "\nBLACKWELL_EXHIBIT" not in exhibits.source_of(ROOT, name)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda name: check(name, hopper_check, nvcc, work), names))
    for name, wrong in zip(names, results):
        if wrong:
            print(f"{name}: {wrong}")
    print(f"{len(names)} exhibits, {sum(map(bool, results))} not as in the C build")
    return 1 if any(results) or not names else 0


sys.exit(main())
