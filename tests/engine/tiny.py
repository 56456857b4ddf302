"""Making everything small, so that small levels take the paths of large ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import pytest

from pipeline.running.memory import Budget

MODULES = [
    "storage.keys.partition",
    "storage.keys.spill_file",
    "pipeline.running.memory",
    "pipeline.level.plan",
    "pipeline.level.expand",
    "pipeline.level.merge",
    "pipeline.level.runs",
]

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
    chunk, frame, task, partition, step, window : int
        Of an array, of a spill file, smallest of an expand task and of a partition, expanded between two reports,
        merged at once.
    """

    buffer: int = 400
    memory: int = 0
    chunk: int = 64
    frame: int = 32
    task: int = 50
    partition: int = 100
    step: int = 40
    window: int = 90


def shrink(put: Setter, sizes: Sizes) -> None:
    """Replace the constants; ``put`` gets a module, a name in it and a value."""
    constants = {
        "CHUNK_KEYS": sizes.chunk,
        "FRAME_KEYS": sizes.frame,
        "STEP_KEYS": sizes.step,
        "SMALLEST_TASK": sizes.task,
        "LARGEST_TASK": 4 * sizes.task,
        "SMALLEST_PARTITION": sizes.partition,
        "SAMPLED_KEYS": 64,
        "SAMPLE_KEYS": 16,
        "CACHED_KEYS": sizes.buffer // 2,
        "SMALLEST_PIECE": 16,
        "WINDOW_KEYS": sizes.window,
    }
    for name, value in constants.items():
        # A constant is in the module that defines it and in those that import it.
        holders = [module for module in MODULES if hasattr(import_module(module), name)]
        assert holders, f"no module has {name}"
        for module in holders:
            put(module, name, value)

    def budget_for(memory: int | None, workers: int, **options: Any) -> Budget:
        return Budget(memory or 0, 0, workers, sizes.buffer, sizes.buffer, sizes.memory)

    # Nothing here outlives a loss of power, and flushing takes most of the time.
    put("os", "fsync", lambda descriptor: None)
    put("pipeline.search", "budget_for", budget_for)
    put("pipeline.audit.verification", "budget_for", budget_for)
    put("pipeline.audit.repair", "budget_for", budget_for)


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
