"""Small graphs as state spaces, and breadth-first search on them with sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import permutations

import numpy as np
from pydantic import BaseModel

from pipeline.spaces.contract import Detection, Expansion, KeyLayout, Keys, State, StateSpace

Neighbours = Callable[[int], Iterable[int]]


class NoParameters(BaseModel):
    """A toy has none."""


class Toy(StateSpace):
    """A graph on integers.

    Parameters
    ----------
    neighbours : callable
        Neighbours of a node.
    roots : iterable of int
    most : int
        Most neighbours of a node.
    detection : Detection
    bipartite : bool
    height : callable, optional
        For ``Detection.ONE_SIDED``: edges lead from height h to h + 1, and those that go up are generated.
    """

    name = "toy"
    Parameters = NoParameters
    layout = KeyLayout(version=1)

    def __init__(
        self,
        neighbours: Neighbours,
        roots: Iterable[int],
        most: int,
        detection: Detection,
        bipartite: bool,
        height: Callable[[int], int] | None = None,
    ) -> None:
        self.parameters = NoParameters()
        self.detection = detection
        self.bipartite = bipartite
        self.max_neighbours = most
        self._neighbours = neighbours
        self._roots = sorted(roots)
        self._height = height
        self.expanded_with_all = 0

    def roots(self) -> Keys:
        return np.array(self._roots, dtype=np.uint64)

    def expand(self, keys: Keys, out: Keys, exhaustive: bool) -> Expansion:
        consumed = written = forward = backward = 0
        for key in keys.tolist():
            if written + self.max_neighbours > out.size:
                break
            consumed += 1
            for other in self._neighbours(key):
                up = self._height is None or self._height(other) > self._height(key)
                forward += up
                backward += not up
                if up or exhaustive:
                    out[written] = other
                    written += 1
        self.expanded_with_all += exhaustive
        return Expansion(consumed, written, forward, backward)

    def key_of(self, state: State) -> int:
        return int.from_bytes(state.astype(np.uint8).tobytes(), "little")

    def state_of(self, key: int) -> State:
        return np.frombuffer(int(key).to_bytes(8, "little"), dtype=np.uint8)

    def neighbours(self, state: State) -> list[State]:
        return [self.state_of(other) for other in sorted(self._neighbours(self.key_of(state)))]

    def parse(self, text: str) -> State:
        return self.state_of(int(text))

    def format(self, state: State) -> str:
        return str(self.key_of(state))

    def draw_text(self, state: State) -> str:
        return self.format(state)

    def draw_svg(self, state: State) -> str:
        return self.format(state)

    def draw_png(self, state: State) -> bytes:
        return self.format(state).encode()


def breadth_first(neighbours: Neighbours, roots: Iterable[int]) -> list[set[int]]:
    """Nodes at each depth."""
    level = set(roots)
    seen = set(level)
    found = []
    while level:
        found.append(level)
        level = {other for node in level for other in neighbours(node)} - seen
        seen |= level
    return found


def permutation_graph(size: int, moves: list[list[int]]) -> tuple[Neighbours, int]:
    """Cayley graph of permutations; a move says which place each place takes its item from.

    Returns
    -------
    neighbours, root
        Nodes are the items as decimal digits.
    """

    def number(items: Iterable[int]) -> int:
        return int("".join(map(str, items)))

    table = {
        number(items): [number(items[place] for place in move) for move in moves]
        for items in permutations(range(1, size + 1))
    }
    return table.__getitem__, number(range(1, size + 1))


def pancakes(size: int) -> tuple[Neighbours, int]:
    """Turning over the upper part of a stack."""
    return permutation_graph(size, [[*range(count - 1, -1, -1), *range(count, size)] for count in range(2, size + 1)])


def three_cycles(size: int) -> tuple[Neighbours, int]:
    """Rotating three neighbours, either way."""
    moves = []
    for first in range(size - 2):
        for turned in ([1, 2, 0], [2, 0, 1]):
            moves.append([*range(first), *(first + step for step in turned), *range(first + 3, size)])
    return permutation_graph(size, moves)
