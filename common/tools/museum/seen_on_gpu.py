"""seen_on_gpu.py: reads a recorded table of docs/results, such as museum.tsv."""

import json
import os


def read_table(path):
    """(what the first line says of how it was made, the rows as dictionaries)"""
    with open(path, encoding="utf-8") as file:
        made, names, *rows = [line.rstrip("\n") for line in file]
    return json.loads(made.lstrip("# ")), [dict(zip(names.split("\t"), row.split("\t"), strict=True))
                                          for row in rows]


def measured(made, path):
    """The sentence of a page of docs that says where and how the record at `path` was made."""
    return (f"Measured: {made['gpu']}, driver {made['driver']}, CUDA {made['toolkit']}, {made['date']}, "
            f"commit {made['commit']}; `{made['command']}` "
            f"([record](results/{os.path.basename(path)})).")
