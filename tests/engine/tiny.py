"""Making everything small, so that small levels take the paths of large ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import pytest

from pipeline.running.tuning import Tuning, tuned
from storage.keys.cut import Cut

_to_the_end: list[AbstractContextManager[None]] = []


@dataclass(frozen=True)
class Sizes:
    """Sizes in keys.

    Attributes
    ----------
    buffer : int
        Of each worker; partitions that are larger are merged in ranges.
    memory : int
        Spilled keys that may stay in memory.
    chunk, frame, task, partition, step, window : int
        Of an array, of a spill file, smallest of an expand task and of a partition, expanded between two reports,
        merged at once.
    fill : float
        Part of the buffer that a partition is planned to fill.
    """

    buffer: int = 400
    memory: int = 0
    chunk: int = 64
    frame: int = 32
    task: int = 50
    partition: int = 100
    step: int = 40
    window: int = 90
    fill: float = 0.6


def tuning_of(sizes: Sizes) -> Tuning:
    """All sizes, as a search takes them."""
    return Tuning(
        cut=Cut(sizes.chunk, sizes.frame, sample=16),
        step=sizes.step,
        cache=sizes.buffer // 2,
        piece=16,
        window=sizes.window,
        smallest_task=sizes.task,
        largest_task=4 * sizes.task,
        smallest_partition=sizes.partition,
        partition_fill=sizes.fill,
        sampled=64,
        smallest_buffer=sizes.buffer,
        largest_buffer=sizes.buffer,
        largest_memory_buffer=sizes.buffer,
        largest_memory_spill=sizes.memory,
    )


def shrink(sizes: Sizes) -> None:
    """Make everything small to the end of this process."""
    small = tuned(tuning_of(sizes))
    small.__enter__()
    _to_the_end.append(small)
    assign("os", "fsync", lambda descriptor: None)


def assign(module: str, name: str, value: Any) -> None:
    """A setter for good."""
    assert hasattr(import_module(module), name)
    setattr(import_module(module), name, value)


@contextmanager
def everything_small(sizes: Sizes | None = None) -> Iterator[None]:
    """Make everything small for a while."""
    with pytest.MonkeyPatch.context() as patch, tuned(tuning_of(sizes or Sizes())):
        # Nothing here outlives a loss of power, and flushing takes most of the time.
        patch.setattr("os.fsync", lambda descriptor: None)
        yield
