"""compile_kernels.py SOURCES ARCHIVE AR CHUNK COMPILER OPTION...: compiles SOURCES/*.c into an
archive, CHUNK files in a call of the compiler, and two calls at a time."""

import concurrent.futures
import glob
import os
import subprocess
import sys
import tempfile


def main():
    folder, archive, ar, chunk, *compiler = sys.argv[1:]
    # In the order of their chapters: what is alike lies side by side, and packs well.
    sources = sorted(glob.glob(os.path.join(os.path.abspath(folder), "*.c")),
                     key=lambda path: int(os.path.basename(path)[:-2]))
    size = int(chunk)
    with tempfile.TemporaryDirectory() as directory:
        def compile_some(some):
            return subprocess.run([*compiler, "-c", *some], cwd=directory, check=False).returncode

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            codes = list(pool.map(compile_some,
                                  [sources[i:i + size] for i in range(0, len(sources), size)]))
        if any(codes):
            return 1
        if os.path.exists(archive):
            os.remove(archive)
        objects = [os.path.basename(source)[:-1] + "o" for source in sources]
        return subprocess.run([ar, "rcs", os.path.abspath(archive), *objects], cwd=directory,
                              check=False).returncode


sys.exit(main())
