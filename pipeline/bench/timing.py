"""Shortest time of an action: what else the machine does makes others longer, and nothing makes one shorter.

Time is that of the processor for this thread, which does not count while others have it.
"""

from __future__ import annotations

import time
from collections.abc import Callable


def _nothing() -> None:
    return


def shortest(
    action: Callable[[], object], prepare: Callable[[], object] = _nothing, repetitions: int = 5, seconds: float = 0.5
) -> float:
    """Time an action.

    Parameters
    ----------
    action : callable
        What is timed; its first call, which may compile, does not count unless it is the only one.
    prepare : callable
        Called before each, not timed.
    repetitions : int
        How often at most.
    seconds : float
        After so much time, waiting included, it is not repeated any more.

    Returns
    -------
    float
        Processor seconds of this thread.
    """
    end = time.perf_counter() + seconds
    times: list[float] = []
    for _ in range(repetitions + 1):
        prepare()
        started = time.thread_time()
        action()
        times.append(time.thread_time() - started)
        if time.perf_counter() > end:
            break
    return min(times[1:] or times)
