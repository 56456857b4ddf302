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
from pipeline.spaces.contract import Keys

# A piece of neighbours, and a window of the merge.
SIZES = (1 << 17, 1 << 19)
# numpy's widest vectors are slower than its narrower ones on some processors. What is not there is not switched off.
WIDEST = ("AVX512_ICL", "AVX512_SKX", "X86_V4")
NARROWER = """
import json, sys, time
import numpy as np
generator = np.random.default_rng(0)
figures = {}
for size in json.loads(sys.argv[1]):
    keys = generator.integers(0, 2**63, size, dtype=np.uint64)
    times = []
    for _ in range(6):
        work = keys.copy()
        started = time.thread_time()
        work.sort()
        times.append(time.thread_time() - started)
    figures[size] = min(times) / size * 1e9
print(json.dumps(figures))
"""


def sort_in_use(keys: Keys) -> None:
    """Sort as the passes do, in place."""
    keys.sort()


def time_sorts() -> dict[str, dict[str, float]]:
    """Nanoseconds a key on random keys, by size: ``in_use``, ``numpy``, and ``numpy_narrower`` with narrower vectors.

    The last is missing where numpy has none.
    """
    figures: dict[str, dict[str, float]] = {}
    narrower = _narrower()
    for size in SIZES:
        keys = np.random.default_rng(0).integers(0, 2**63, size, dtype=np.uint64)
        figures[str(size)] = {"in_use": _nanoseconds(sort_in_use, keys), "numpy": _nanoseconds(np.ndarray.sort, keys)}
        if str(size) in narrower:
            figures[str(size)]["numpy_narrower"] = narrower[str(size)]
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
