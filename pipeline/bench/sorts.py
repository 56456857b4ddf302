"""The sort that the passes use, beside those that numpy has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module

import numpy as np

from pipeline.bench.timing import shortest
from pipeline.level.sort import SORTS, sort_in_use
from pipeline.spaces.contract import Keys

# A piece of neighbours, and a window of the merge.
SIZES = (1 << 17, 1 << 19)
# Of the keys of the fifteen puzzle.
KEY_BITS = 48
# numpy's widest vectors are slower than its narrower ones on some processors. What is not there is not switched off.
WIDEST = ("AVX512_ICL", "AVX512_SKX", "X86_V4")
NARROWER = """
import json, sys, time
import numpy as np
generator = np.random.default_rng(0)
figures = {}
for size in json.loads(sys.argv[1]):
    keys = generator.integers(0, 2**48, size, dtype=np.uint64)
    times = []
    for _ in range(6):
        work = keys.copy()
        started = time.thread_time()
        work.sort()
        times.append(time.thread_time() - started)
    figures[size] = min(times) / size * 1e9
print(json.dumps(figures))
"""


def time_sorts() -> dict[str, dict[str, float]]:
    """Nanoseconds a key on random keys, by size and by the way of sorting.

    The ways are those of :data:`pipeline.level.sort.SORTS`, ``in_use`` for the one of them that the passes use, and
    ``numpy_narrower`` for numpy with narrower vectors, which is missing where numpy has none.
    """
    figures: dict[str, dict[str, float]] = {}
    narrower = _narrower()
    for size in SIZES:
        keys = np.random.default_rng(0).integers(0, 2**KEY_BITS, size, dtype=np.uint64)
        row = {name: _nanoseconds(sort, keys) for name, sort in SORTS.items()}
        row["in_use"] = row[sort_in_use()]
        if str(size) in narrower:
            row["numpy_narrower"] = narrower[str(size)]
        figures[str(size)] = row
    return figures


def _nanoseconds(sort: Callable[[Keys], object], keys: Keys) -> float:
    work = keys.copy()

    def refill() -> None:
        work[:] = keys

    return shortest(lambda: sort(work), refill) / keys.size * 1e9


def _narrower() -> dict[str, float]:
    """Of numpy without its widest vectors, which can be chosen only before it is imported."""
    try:
        internals = import_module("numpy._core._multiarray_umath")
        dispatched, there = internals.__cpu_dispatch__, internals.__cpu_features__
    except (ImportError, AttributeError):
        return {}
    found = [name for name in WIDEST if name in dispatched and there.get(name)]
    if not found:
        return {}
    environment = {**os.environ, "NPY_DISABLE_CPU_FEATURES": " ".join(found)}
    command = [sys.executable, "-W", "ignore", "-c", NARROWER, json.dumps(SIZES)]
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    if done.returncode:
        return {}
    figures: dict[str, float] = json.loads(done.stdout)
    return figures
