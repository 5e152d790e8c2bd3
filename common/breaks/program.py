"""program.py: how an edited kernel becomes a program, linked as its chapter's own, or a shared object
for the gallery's runner (gallery_run.c). Commands only: those who ask run them."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "tools", "book"))
import pages

ONE_KERNEL = os.path.join(HERE, "one_kernel.c")
# Compiled with every kernel of the gallery.
LOADED_BOUNDS = os.path.join(HERE, "loaded_bounds.c")
LANGUAGE = ("-std=gnu11", "-DGEMM_BF16_ELEMENTS=1")
QUICK = ("-O1", "-w", "-Wno-psabi")


class Linker:
    """root: of the repository; compiler, linked: words, those that begin and those that end a
    command."""

    def __init__(self, root, compiler, linked):
        self.root, self.compiler, self.linked = root, compiler, linked

    def command(self, chapter, kernel, program, *options, before=(), kind="bf16", tour=False,
                trace=False):
        """Makes the program of this kernel. chapter: from the root; before: directories whose headers
        come before the book's; kind: the elements' type. As a tour the program has the option
        --chapters, else --check."""
        root, house = self.root, pages.house_of(chapter)
        directories = [*before, *(f"{root}/{folder}" for folder in (
            "common", "common/hopper", chapter, house.rstrip("/")) if folder)]
        return [*self.compiler, *LANGUAGE, f"-DGEMM_KERNEL=kernel_{os.path.basename(chapter)}",
                f"-DTRACE={int(trace)}", f"-DONE_TYPE=GEMM_{kind.upper()}",
                f"-DONE_TOUR={str(tour).lower()}", *options,
                *(f"-I{directory}" for directory in directories), "-x", "c", kernel, ONE_KERNEL,
                *pages.kinds_of(root, chapter), "-x", "none", "-o", program, *self.linked]


def quick_linker(root, compiler, libraries):
    """compiler, libraries: words separated by commas."""
    return Linker(root, [*compiler.split(","), *QUICK],
                  ["-Wl,--start-group", *libraries.split(","), "-Wl,--end-group", "-lm", "-lpthread"])


def shared_object(compiler, macros, directories, more, kernel, path):
    """Makes the shared object `path`, whose kernel is called kernel_broken, of `kernel`, an edited
    copy of a kernel. more: further arguments."""
    # What the compiler's options would link it with, too, the runner has.
    return [*compiler, *LANGUAGE, "-O0", "-w", "-fPIC", "-shared", "-nodefaultlibs",
            "-DGEMM_KERNEL=kernel_broken", "-DTRACE=0", *(f"-D{macro}" for macro in macros),
            *(f"-I{directory}" for directory in directories), "-x", "c", kernel, LOADED_BOUNDS,
            *more, "-o", path]
