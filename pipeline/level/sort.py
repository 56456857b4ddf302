"""Sorting keys: numpy's sort or our own, whichever is faster on this processor.

numpy sorts with vector instructions where it finds some, and believes that the widest are the fastest. That is not so
everywhere: on AMD processors of the Zen 4 generation the instruction that its AVX-512 sort rests on (compress and
store) is microcode, and the sort takes four times as long as without it. So its sort is timed once in every process, on
a few keys, and ours too unless numpy's is so fast that ours can hardly be faster. Sorted keys are the same either way.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable

import numpy as np

from pipeline.level.radix import COUNTS, ENDS, LARGEST_SCRATCH, radix_sort
from pipeline.spaces.contract import Keys

NUMPY = "numpy"
RADIX = "radix"
# Timing takes a few milliseconds at most.
TIMED_KEYS = 1 << 14
TIMED_RUNS = 5
# A sort of so many nanoseconds a key has vector instructions that work.
FAST = 8.0

_local = threading.local()
_choice = threading.Lock()
_chosen: str | None = None


def _sort_by_radix(keys: Keys) -> None:
    scratch: tuple[Keys, np.ndarray, np.ndarray] | None = getattr(_local, "scratch", None)
    if scratch is None:
        scratch = np.empty(LARGEST_SCRATCH, np.uint64), np.empty(COUNTS, np.uint32), np.empty(ENDS, np.uint32)
        _local.scratch = scratch
    radix_sort(keys, *scratch)


def _sort_by_numpy(keys: Keys) -> None:
    keys.sort()


SORTS: dict[str, Callable[[Keys], None]] = {RADIX: _sort_by_radix, NUMPY: _sort_by_numpy}


def sort_keys(keys: Keys) -> None:
    """Sort keys in place, the faster way.

    Parameters
    ----------
    keys : ndarray of uint64, shape (n,)
        Contiguous. The result is the same whichever way is taken.
    """
    SORTS[sort_in_use()](keys)


def sort_in_use() -> str:
    """The way of sorting that was found to be the faster one: a key of ``SORTS``."""
    global _chosen
    if _chosen is None:
        with _choice:
            if _chosen is None:
                speeds = sort_speeds(TIMED_KEYS, names=(NUMPY,))
                if speeds[NUMPY] > FAST:
                    speeds = sort_speeds(TIMED_KEYS)
                _chosen = min(speeds, key=speeds.__getitem__)
    return _chosen


def sort_speeds(keys: int = LARGEST_SCRATCH, names: Iterable[str] = SORTS) -> dict[str, float]:
    """Nanoseconds a key that each way of sorting takes, the best of several runs.

    Parameters
    ----------
    keys : int
        Number of keys to sort.
    names : iterable of str
        Of ``SORTS``.

    Returns
    -------
    dict
        From names to nanoseconds.
    """
    unsorted = _clustered_keys(keys)
    work = unsorted.copy()
    best = dict.fromkeys(names, float("inf"))
    for name in best:
        SORTS[name](work)  # loads or compiles it
    for _ in range(TIMED_RUNS):
        for name in best:
            work[:] = unsorted
            started = time.perf_counter_ns()
            SORTS[name](work)
            best[name] = min(best[name], (time.perf_counter_ns() - started) / keys)
    return best


def _clustered_keys(keys: int) -> Keys:
    """Keys like those of neighbours: short runs of near ones that lie anywhere in 40 bits, always the same."""
    numbers = np.arange(keys, dtype=np.uint64)
    places = numbers >> np.uint64(3)
    for word in (numbers, places):
        # The finaliser of SplitMix64, as in storage.keys.digest.
        word += np.uint64(0x9E3779B97F4A7C15)
        word ^= word >> np.uint64(30)
        word *= np.uint64(0xBF58476D1CE4E5B9)
        word ^= word >> np.uint64(27)
        word *= np.uint64(0x94D049BB133111EB)
        word ^= word >> np.uint64(31)
    return ((places >> np.uint64(24)) & ~np.uint64(0xFFFFF)) | (numbers & np.uint64(0xFFFFF))
