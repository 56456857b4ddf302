"""Processor time of levels to come, from the steps and from levels that were made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.estimate.lines import Line
from pipeline.estimate.trial import TELLING_KEYS, Measured
from storage.records import Manifest

TELLING_LEVELS = 4


@dataclass(frozen=True)
class LevelSize:
    """What the work on a level depends on.

    Attributes
    ----------
    frontier, generated, spilled, keys : float
        Keys expanded, neighbours, keys for the merge, keys stored.
    on_disk : bool
        Whether the spills go to the disk.
    """

    frontier: float
    generated: float
    spilled: float
    keys: float
    on_disk: bool

    @classmethod
    def of(cls, frontier: Manifest, level: Manifest) -> LevelSize:
        """Of a level that was made from a frontier."""
        on_disk = level.peak_spill_bytes > 0
        return cls(frontier.keys, level.generated, level.spilled, level.keys, on_disk)


class Speed:
    """Seconds of one processor that levels take.

    A level takes longer than its steps, which are timed alone: there is the operating system, Python, and workers that
    share caches and memory. How much longer is measured on the largest levels that were made.

    Attributes
    ----------
    factor : float
        Work on a large level by the work of its steps.
    """

    def __init__(self, measured: Measured) -> None:
        self._steps = measured.steps
        levels = [level for level in measured.manifests[1:] if level.depth in measured.work]
        telling = [level for level in levels if level.keys >= TELLING_KEYS] or levels
        before = {manifest.depth + 1: manifest for manifest in measured.manifests}
        telling = sorted(telling, key=lambda level: level.keys)[-TELLING_LEVELS:]
        points = [
            (self._steps_seconds(LevelSize.of(before[level.depth], level)), measured.work[level.depth])
            for level in telling
        ]
        self.factor = _factor(points)

    def work(self, level: LevelSize) -> float:
        """Seconds of one processor for a level."""
        return self.factor * self._steps_seconds(level)

    def _steps_seconds(self, level: LevelSize) -> float:
        steps = self._steps
        sorting = steps.sort + steps.join
        nanoseconds = (
            (steps.decode + steps.expand) * level.frontier
            + sorting * (level.generated + level.spilled)
            + (steps.count + steps.digest + steps.encode) * level.keys
        )
        if level.on_disk:
            nanoseconds += (steps.encode + steps.decode) * level.spilled
        return nanoseconds / 1e9


def _factor(points: Sequence[tuple[float, float]]) -> float:
    """Work for each second of the steps; what levels take whatever their size is left out, as far as that shows."""
    steps = sum(expected for expected, _ in points)
    if not steps:
        return 1.0
    ratio = sum(work for _, work in points) / steps
    return min(max(Line.through(points).slope, ratio / 2), ratio) if len(points) > 2 else ratio
