"""The towers of Hanoi in plain numpy."""

from __future__ import annotations

import numpy as np

from pipeline import StateSpace


class Hanoi(StateSpace):
    """Towers of Hanoi with three pegs; two bits of a key say on which peg a disc is, the smallest one's lowest."""

    name = "hanoi"
    max_neighbours = 3
    example = {"discs": 8}  # noqa: RUF012

    def __init__(self, discs: int = 8) -> None:
        self.discs = discs

    def roots(self):
        return [0]

    def neighbour_keys(self, keys):
        pegs = keys[:, None] >> np.arange(0, 2 * self.discs, 2, dtype=np.uint64) & np.uint64(3)
        # The uppermost disc of each peg; as many as there are if it is empty.
        tops = np.stack([np.argmax(np.c_[pegs == peg, np.ones(len(keys), bool)], axis=1) for peg in range(3)])
        neighbours, possible = [], []
        for one, other in ((0, 1), (0, 2), (1, 2)):
            disc = np.minimum(tops[one], tops[other])
            change = np.uint64(one ^ other) << (2 * disc).astype(np.uint64)
            neighbours.append(keys ^ change)
            possible.append(disc < self.discs)
        possible = np.stack(possible, axis=1)
        return np.stack(neighbours, axis=1)[possible], possible.sum(axis=1)
