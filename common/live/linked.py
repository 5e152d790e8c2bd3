"""linked.py: a program of one kernel, compiled and linked as the chapter's own."""

import os
import subprocess

REGISTRY = """#include "harness/registry.h"
extern const struct gemm_kernel kernel_NAME;
const struct kernel_entry kernel_registry[] = {{{[GEMM_TYPE] = &kernel_NAME}, 1, true, NULL, 0}};
const struct kernel_entry kernel_trace_registry[] = {{{NULL}, 1, true, NULL, 0}};
const char *const kernel_sources[] = {NULL};
const char *const program_target = NULL;
const int kernel_registry_count = 1;
const bool program_is_tour = TOUR;
"""


class Linker:
    """root: of the repository; compiler, libraries: words separated by commas."""

    def __init__(self, root, compiler, libraries):
        self.root, self.compiler, self.libraries = root, compiler.split(","), libraries.split(",")

    def link(self, chapter, kernel, directory, tour, kind="bf16", more=()):
        """Makes the program in this directory; headers that are there come before the book's. As a
        tour it has the option --chapters, else --check. kind: the elements' type; more: options and
        sources. A CalledProcessError: the compiler's words have been shown."""
        registry = os.path.join(directory, "registry.c")
        with open(registry, "w", encoding="ascii") as file:
            file.write(REGISTRY.replace("NAME", chapter).replace("TOUR", str(tour).lower())
                       .replace("TYPE", kind.upper()))
        program = os.path.join(directory, "live")
        subprocess.run([*self.compiler, "-std=gnu11", "-O1", "-w", "-Wno-psabi", f"-I{directory}",
                        f"-I{self.root}/common", f"-DGEMM_KERNEL=kernel_{chapter}",
                        "-DGEMM_BF16_ELEMENTS=1", "-DTRACE=0", "-x", "c", kernel, registry, *more,
                        "-x", "none", "-Wl,--start-group", *self.libraries, "-Wl,--end-group", "-lm",
                        "-lpthread", "-o", program], check=True)
        return program
