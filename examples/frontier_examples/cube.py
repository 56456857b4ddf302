"""The pocket cube (2x2x2) by hand, with one corner fixed: a numba kernel over tables of moves."""

from __future__ import annotations

import math

import numba
import numpy as np

from pipeline import StateSpace
from pipeline.packing import mixed_radix_digits, mixed_radix_ranks, permutation_ranks, permutations_of
from pipeline.spaces.contract import Expansion

# Quarter turns of U, R and F: which corner comes to each place, and how it is twisted. The corner 7 never moves.
TURNS = [
    ([3, 0, 1, 2, 4, 5, 6], [0] * 7),
    ([4, 1, 2, 0, 6, 5, 3], [2, 0, 0, 1, 1, 0, 2]),
    ([1, 5, 2, 3, 0, 4, 6], [1, 2, 0, 0, 2, 1, 0]),
]


def tables():
    """For each quarter turn the new order of the corners, and their new twists; key = order * 3**6 + twist."""
    orders, twists = permutations_of(np.arange(5040), 7), mixed_radix_digits(np.arange(729), [3] * 6)
    seven = np.c_[twists, -twists.sum(axis=1) % 3]
    order_after = [permutation_ranks(orders[:, source]) for source, _ in TURNS]
    twist_after = [mixed_radix_ranks((seven[:, source] + added) % 3, [3] * 6) for source, added in TURNS]
    # And the turns back.
    both = [np.array([*after, *map(np.argsort, after)], dtype=np.uint64) for after in (order_after, twist_after)]
    return both[0] * np.uint64(729), both[1]


@numba.njit(nogil=True, cache=True)
def expand_block(keys, out, order_after, twist_after):
    count = min(keys.size, out.size // 6)
    for i in range(count):
        order, twist = keys[i] // np.uint64(729), keys[i] % np.uint64(729)
        for turn in range(6):
            out[6 * i + turn] = order_after[turn, order] + twist_after[turn, twist]
    return count, 6 * count


class PocketCube(StateSpace):
    """The pocket cube in quarter turns, one corner fixed: 3674160 states."""

    max_neighbours = 6
    bipartite = True
    key_count = size = math.factorial(7) * 3**6

    def __init__(self) -> None:
        self._tables = tables()

    def roots(self):
        return [0]

    def expand(self, keys, out, exhaustive):
        return Expansion(*expand_block(keys, out, *self._tables))
