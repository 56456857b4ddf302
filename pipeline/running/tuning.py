"""Sizes that decide how a level is cut up. None of them changes the result."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from storage.keys.cut import CUT, Cut


@dataclass(frozen=True)
class Tuning:
    """Sizes in keys, unless said otherwise. The defaults are right for levels of any size; tests make them small.

    Attributes
    ----------
    cut : Cut
        On disk.
    step : int
        Expanded between two reports.
    cache : int
        Neighbours that are sorted at once, unless a larger part of the buffer finds more duplicates.
    piece : int
        Smallest piece of a spill: more than ``cache`` is sorted at once where partitions are many.
    window : int
        Merged at once.
    tasks_for_each_worker : int
        Expand tasks of a level: enough to even out their times; each costs a few milliseconds of its own.
    smallest_task, largest_task : int
        Of the frontier.
    smallest_partition : int
    partition_fill : float
        Part of the buffer that a partition is planned to fill. They are cut at estimated places; one that comes out
        larger than the buffer is merged in ranges.
    sampled : int
        Of the frontier, expanded to plan the next level.
    smallest_buffer, largest_buffer : int
        Of a worker, while spills go to disk.
    largest_memory_buffer : int
        The same while spills stay in memory.
    largest_memory_spill : int
        Spilled keys that stay in memory.
    """

    cut: Cut = CUT
    step: int = 1 << 17
    cache: int = 1 << 18
    piece: int = 1 << 14
    window: int = 1 << 18
    tasks_for_each_worker: int = 6
    smallest_task: int = 1 << 15
    largest_task: int = 1 << 22
    smallest_partition: int = 1 << 18
    partition_fill: float = 0.6
    sampled: int = 1 << 14
    smallest_buffer: int = 1 << 20
    largest_buffer: int = 1 << 25
    largest_memory_buffer: int = 1 << 22
    largest_memory_spill: int = 1 << 62


DEFAULT = Tuning()
_wanted = [DEFAULT]


def wanted_tuning() -> Tuning:
    """The sizes that hold where none are given: the defaults, unless within :func:`tuned`."""
    return _wanted[-1]


@contextmanager
def tuned(tuning: Tuning) -> Iterator[None]:
    """While it lasts, all that is started in this process has other sizes unless it is given its own; for tests."""
    _wanted.append(tuning)
    try:
        yield
    finally:
        _wanted.remove(tuning)
