"""workshop.py: compiles edited kernels of a house, each thread in a directory of its own."""

import itertools
import os
import shutil
import subprocess
import threading

import program
from store import BLOCKS


class Workshop:
    """root: of the tree that the kernels are compiled with."""

    def __init__(self, options, house, root):
        self.options, self.house, self.root = options, house, root
        self.local = threading.local()
        self.workers = itertools.count()

    def directory(self):
        if not hasattr(self.local, "path"):
            self.local.path = os.path.join(self.options.work, f"worker{next(self.workers)}")
            shutil.rmtree(self.local.path, ignore_errors=True)
            for blocks in self.house.blocks:
                shutil.copytree(os.path.join(self.root, blocks),
                                os.path.join(self.local.path, BLOCKS), dirs_exist_ok=True)
        return self.local.path

    def compile(self, file, macros, texts):
        """The path of a shared object, or None, and what the compiler said. texts: of the kernel
        `file`, and of headers that are edited or lie beside it."""
        work = self.directory()
        places = {name: os.path.join(work, name if name.startswith(BLOCKS) else "kernel.cu"
                                     if name == file else os.path.basename(name)) for name in texts}
        for name, text in texts.items():
            with open(places[name], "w", encoding="ascii") as made:
                made.write(("" if name.startswith(BLOCKS) else f'#line 1 "{name}"\n') + text)
        path = os.path.join(work, "kernel.so")
        compiled = subprocess.run(program.shared_object(
            self.options.compiler.split(","), macros,
            (work, *self.house.directories(self.root),
             os.path.join(self.root, os.path.dirname(file))),
            self.house.compiled_with.get(file, ()), places[file], path),
            capture_output=True, text=True, check=False)
        for name, place in places.items():
            if name.startswith(BLOCKS):
                shutil.copy(os.path.join(self.root, self.house.path_of(name)), place)
            elif name != file:  # another chapter's may have the same name
                os.remove(place)
        return (path if compiled.returncode == 0 else None), compiled.stderr

    def run(self, *arguments):
        """The runner's process, and of each run of a shared object the words in which it is told."""
        run = subprocess.run([self.options.runner, *arguments], capture_output=True, text=True,
                             errors="replace", check=False)
        return run, [line.split() for line in run.stdout.splitlines() if line.startswith("run ")]
