"""Sizes that decide how a level is cut up. None of them changes the result."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """Sizes in keys, unless said otherwise. The defaults are right for levels of any size; tests make them small.

    Attributes
    ----------
    chunk : int
        Of an array on disk, at most 2**20.
    frame : int
        Of a spill file, at most 2**18.
    sample : int
        That the metadata of a partition repeat.
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

    chunk: int = 1 << 20
    frame: int = 1 << 18
    sample: int = 512
    step: int = 1 << 17
    cache: int = 1 << 18
    piece: int = 1 << 14
    window: int = 1 << 19
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
