"""Shortest paths from a root to a state, backward through the levels of a job.

A neighbour of a state at depth d lies at depth d - 1 exactly if a shortest path leads through it, so a path is found
with a few look-ups for each step, and the number of shortest paths is the sum of those of these neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pipeline.answers.lookup import Lookup
from pipeline.spaces.contract import State, StateSpace
from pipeline.spaces.guards import expand_safely
from storage.errors import CorruptJob

# Keys that are expanded at once to find one whose move leads to a state of a directed graph.
BLOCK_KEYS = 1 << 14


@dataclass(frozen=True)
class ShortestPath:
    """A shortest path.

    Attributes
    ----------
    states : tuple of ndarray of uint8
        From a root to the state that was asked for, both included.
    moves : tuple of str
        Names of the moves in between.
    """

    states: tuple[State, ...]
    moves: tuple[str, ...]

    @property
    def length(self) -> int:
        """Number of moves."""
        return len(self.moves)

    @classmethod
    def through(cls, space: StateSpace, states: list[State]) -> ShortestPath:
        """The path along states of which each has the next one, or an equivalent one, for a neighbour.

        Raises
        ------
        CorruptJob
            If two that follow each other are no neighbours.
        """
        walked, names = [states[0]], []
        for following in states[1:]:
            key = space.key_of(following)
            moves = [move for move in space.moves(walked[-1]) if space.key_of(move[1]) == key]
            if not moves:
                raise CorruptJob(f"no move leads from {space.format(walked[-1])} to {space.format(following)}")
            name, state = next((move for move in moves if np.array_equal(move[1], following)), moves[0])
            walked.append(state)
            names.append(name)
        return cls(tuple(walked), tuple(names))


class ShortestPaths:
    """Shortest paths to states that are in a job.

    Parameters
    ----------
    lookup : Lookup
    """

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._space = lookup.space
        self._counts: dict[int, int] = {}

    def path(self, state: State, depth: int) -> ShortestPath:
        """A shortest path to a state at a depth.

        Raises
        ------
        JobError
            If a level on the way was deleted.
        CorruptJob
            If no neighbour is one level up, which cannot be in a job that is whole.
        """
        states = [state]
        for above in reversed(range(depth)):
            before = next(self._one_up(states[-1], above), None)
            if before is None:
                raise CorruptJob(
                    f"no state of level {above} of {self._lookup.job.path} leads to {self._space.format(states[-1])}",
                    "'pipeline verify --deep' says more",
                )
            states.append(before)
        return ShortestPath.through(self._space, states[::-1])

    def count(self, state: State, depth: int) -> int:
        """Number of shortest paths to a state at a depth, as sequences of states that begin at a root."""
        if depth == 0:
            return 1
        key = self._space.key_of(state)
        if key not in self._counts:
            self._counts[key] = sum(self.count(above, depth - 1) for above in self._one_up(state, depth - 1))
        return self._counts[key]

    def _one_up(self, state: State, depth: int) -> Iterator[State]:
        """States of a level from which a move leads to ``state``."""
        if not self._space.undirected:
            yield from self._origins(state, depth)
            return
        for _, neighbour in self._space.moves(state):
            if self._lookup.holds(depth, self._space.key_of(neighbour)):
                yield neighbour

    def _origins(self, state: State, depth: int) -> Iterator[State]:
        """As :meth:`_one_up` where moves cannot be undone: the level is expanded to see what leads to the state."""
        key = np.uint64(self._space.key_of(state))
        level = self._lookup.level(depth)
        out = np.empty((BLOCK_KEYS + 1) * self._space.max_neighbours, dtype=np.uint64)
        for partition in level.manifest.partitions:
            for block in level.read(partition):
                for start in range(0, block.size, BLOCK_KEYS):
                    yield from (
                        self._space.state_of(origin)
                        for origin in self._leading_to(key, block[start:][:BLOCK_KEYS], out)
                    )

    def _leading_to(self, key: np.uint64, keys: np.ndarray, out: np.ndarray) -> list[int]:
        """Those of some keys that have ``key`` for a neighbour."""
        step = expand_safely(self._space, keys, out, True)
        if not (out[: step.written] == key).any():
            return []
        if keys.size == 1:
            return [int(keys[0])]
        half = keys.size // 2
        return self._leading_to(key, keys[:half], out) + self._leading_to(key, keys[half:], out)
