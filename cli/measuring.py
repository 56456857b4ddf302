"""Rates and the time left, from counters that somebody else advances."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipeline.running.events import PassProgress

# What merge takes for each second of expand, until a level has shown it.
FIRST_GUESS = 0.4
WINDOW_SECONDS = 10.0
SHORTEST_PASS = 0.2


class Meter:
    """Measures the pass that is going on.

    Attributes
    ----------
    progress : PassProgress or None
        Its counters.
    """

    def __init__(self) -> None:
        self.progress: PassProgress | None = None
        self._ratio = FIRST_GUESS
        self._expand_seconds = 0.0
        self._started = 0.0
        self._samples: deque[tuple[float, int, int]] = deque()

    def start(self, progress: PassProgress) -> None:
        """A pass begins."""
        now = time.monotonic()
        if progress.name == "merge":
            self._expand_seconds = now - self._started
        self._started = now
        self._samples = deque([(now, progress.counters.keys, progress.counters.generated)])
        self.progress = progress

    def end(self) -> None:
        """The merge of a level has ended."""
        merge_seconds = time.monotonic() - self._started
        if self._expand_seconds > SHORTEST_PASS:
            self._ratio = merge_seconds / self._expand_seconds

    def _speeds(self) -> tuple[float, float]:
        """Keys gone through and neighbours generated in a second, lately."""
        progress = self.progress
        if progress is None:
            return 0.0, 0.0
        now = time.monotonic()
        samples = self._samples
        start = samples[0]
        if now - samples[-1][0] > 0.2:
            samples.append((now, progress.counters.keys, progress.counters.generated))
        while len(samples) > 2 and now - samples[1][0] > WINDOW_SECONDS:
            samples.popleft()
            start = samples[0]
        passed = now - start[0]
        if passed <= 0:
            return 0.0, 0.0
        return (progress.counters.keys - start[1]) / passed, (progress.counters.generated - start[2]) / passed

    def rate(self) -> float:
        """Neighbours generated (expand) or keys read (merge) in a second."""
        done, generated = self._speeds()
        return generated if self.progress is not None and self.progress.name == "expand" else done

    def percent(self) -> float:
        """Part of the pass that is done."""
        progress = self.progress
        if progress is None:
            return 0.0
        if not progress.total:
            return 100.0
        return min(100.0, 100.0 * progress.counters.keys / progress.total)

    def seconds_left(self) -> float | None:
        """Time left in the level; None while nothing has been done."""
        progress = self.progress
        if progress is None:
            return None
        speed, _ = self._speeds()
        if speed <= 0:
            return None
        left = max(0, progress.total - progress.counters.keys) / speed
        if progress.name == "expand":
            left += self._ratio * (time.monotonic() - self._started + left)
        return left
