"""Calling the expand kernels with room to spare."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pipeline.spaces.contract import Expansion, StateSpace


def expanded(space: StateSpace, keys: Iterable[int], exhaustive: bool) -> tuple[list[int], Expansion]:
    """Neighbour keys of all keys, ascending, and what the kernel counted."""
    block = np.array(sorted(keys), dtype=np.uint64)
    out = np.zeros((block.size + 1) * space.max_neighbours, dtype=np.uint64)
    step = space.expand(block, out, exhaustive)
    assert step.consumed == block.size
    return sorted(out[: step.written].tolist()), step
