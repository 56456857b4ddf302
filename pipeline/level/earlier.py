"""Which earlier levels are taken out of a level that is made.

Of an undirected graph a neighbour of level d is in level d - 1, d or d + 1; if it is bipartite too, not in level d
itself. Of a directed graph it may be in any level up to d + 1, so all of them are taken out. The small ones among these
are kept in memory, joined, so that a deep and narrow graph does not open a thousand arrays for each level.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pipeline.spaces.contract import Keys, StateSpace
from storage.jobs.job import Job
from storage.jobs.level import Level
from storage.keys.partition import Blocks

SMALL_KEYS = 1 << 16
JOINED_KEYS = 1 << 20
# Of a directed graph: levels that may be read at the same time, as far as the memory is planned.
PLANNED_LEVELS = 12


class JoinedLevels:
    """The states of several levels in memory; for those who read a :class:`Level` range by range."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    @property
    def size(self) -> int:
        """Number of keys."""
        return int(self._keys.size)

    def joined_with(self, keys: Keys) -> JoinedLevels:
        """These states and others."""
        both = np.concatenate([self._keys, keys])
        both.sort(kind="stable")
        return JoinedLevels(both)

    def read_range(self, low: int, high: int) -> Blocks:
        """Keys from ``low`` to ``high``, both included."""
        start = int(np.searchsorted(self._keys, np.uint64(low), side="left"))
        stop = int(np.searchsorted(self._keys, np.uint64(high), side="right"))
        if start < stop:
            yield self._keys[start:stop]


def levels_read(space: StateSpace) -> int:
    """Earlier levels that are read at the same time, for the division of the memory."""
    if not space.undirected:
        return PLANNED_LEVELS
    return 1 if space.bipartite else 2


class EarlierLevels:
    """The earlier levels of a job.

    Parameters
    ----------
    space : StateSpace
    job : Job
    in_memory : bool
        Whether small levels may be joined; not if tasks run in other processes.
    believing : bool
        Whether the claim that the graph is bipartite is believed.
    """

    def __init__(self, space: StateSpace, job: Job, in_memory: bool = True, believing: bool = True) -> None:
        self._space = space
        self._job = job
        self._in_memory = in_memory
        self._believing = believing
        self._depth = 0
        self._joined = JoinedLevels(np.empty(0, dtype=np.uint64))
        self._large: list[Level] = []

    def of(self, depth: int) -> Sequence[Level | JoinedLevels]:
        """Those that neighbours of level ``depth - 1`` can belong to."""
        if self._space.undirected:
            steps = (2,) if self._space.bipartite and self._believing else (1, 2)
            return [self._job.level(depth - step) for step in steps if depth >= step]
        for earlier in range(self._depth, depth):
            self._take(self._job.level(earlier))
        self._depth = max(self._depth, depth)
        return [*self._large, self._joined] if self._joined.size else list(self._large)

    def _take(self, level: Level) -> None:
        keys = level.manifest.keys
        if not self._in_memory or keys > SMALL_KEYS or self._joined.size + keys > JOINED_KEYS:
            self._large.append(level)
            return
        blocks = [block for partition in level.manifest.partitions for block in level.read(partition)]
        if blocks:
            self._joined = self._joined.joined_with(np.concatenate(blocks))
