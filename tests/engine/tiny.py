"""Making everything small, so that small levels take the paths of large ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import pytest

from pipeline.budget import Budget

Setter = Callable[[str, str, Any], object]


@dataclass(frozen=True)
class Sizes:
    """Sizes in keys.

    Attributes
    ----------
    buffer : int
        Of each worker; partitions that are larger are merged in ranges.
    memory : int
        Spilled keys that may stay in memory.
    chunk, frame, task, partition, step : int
        Of an array, of a spill file, smallest of an expand task and of a partition, expanded between two reports.
    """

    buffer: int = 400
    memory: int = 0
    chunk: int = 64
    frame: int = 32
    task: int = 50
    partition: int = 100
    step: int = 40


def shrink(put: Setter, sizes: Sizes) -> None:
    """Replace the constants; ``put`` gets a module, a name in it and a value."""
    put("storage.level", "CHUNK_KEYS", sizes.chunk)
    put("pipeline.plan", "CHUNK_KEYS", sizes.chunk)
    put("storage.spill", "FRAME_KEYS", sizes.frame)
    put("pipeline.passes.merge", "FRAME_KEYS", sizes.frame)
    put("pipeline.passes.expand", "STEP_KEYS", sizes.step)
    put("pipeline.plan", "SMALLEST_TASK", sizes.task)
    put("pipeline.plan", "LARGEST_TASK", 4 * sizes.task)
    put("pipeline.plan", "SMALLEST_PARTITION", sizes.partition)
    put("pipeline.plan", "SAMPLED_KEYS", 64)
    put("pipeline.passes.expand", "CACHED_KEYS", sizes.buffer // 2)
    put("storage.level", "SAMPLE_KEYS", 16)

    def divide(total: int, base: int, workers: int) -> Budget:
        return Budget(total, base, workers, sizes.buffer, sizes.memory)

    # Nothing here outlives a loss of power, and flushing takes most of the time.
    put("os", "fsync", lambda descriptor: None)
    put("pipeline.search", "divide", divide)
    put("pipeline.verification", "divide", divide)


def assign(module: str, name: str, value: Any) -> None:
    """A setter for good."""
    assert hasattr(import_module(module), name)
    setattr(import_module(module), name, value)


@contextmanager
def everything_small(sizes: Sizes | None = None) -> Iterator[None]:
    """Replace the constants for a while."""
    with pytest.MonkeyPatch.context() as patch:

        def put(module: str, name: str, value: Any) -> None:
            patch.setattr(import_module(module), name, value)

        shrink(put, sizes or Sizes())
        yield
