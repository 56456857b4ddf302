"""How many shapes have how many bends, without generating them.

By Burnside's lemma shapes with b bends are a sixteenth of the walks with b bends that are left in place, summed over
the sixteen symmetries, because a symmetry keeps the number of bends. All walks are counted by a transfer matrix
(:mod:`~pipeline.census.boundary`), the symmetric ones are grown from the middle (:mod:`~pipeline.census.symmetric`).
``docs/census.md`` has the argument.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pipeline.census.boundary import EDGES_SHIFT, MOST_SUCCESSORS, PLACES, add_up, decide_vertex
from pipeline.census.counts import SYMMETRIES
from storage.errors import Mismatch

STRAIGHT_WALKS = 4


def heights(n: int) -> list[int]:
    """Rows of the rectangles that walks of n edges fill, in their shorter direction; those that take longest first."""
    return sorted(range(1, n // 2 + 2), key=lambda rows: abs(rows - 2 * n / 5))


def walks_of_height(n: int, rows: int) -> list[int]:
    """Walks of n edges whose bounding rectangle has so many rows in its shorter direction, by bends.

    Parameters
    ----------
    n : int
        1 to 40.
    rows : int
        Lattice points across, 1 to n // 2 + 1.

    Returns
    -------
    list of int
        For 0 to n - 1 bends, the walks from the origin, in all directions. There are fewer than 2 ** 62 walks, so that
        the sums in 64 bits are exact.
    """
    total = np.zeros(n, dtype=np.int64)
    boundaries = np.zeros(1, dtype=np.int64)
    counts = np.zeros((1, n), dtype=np.int64)
    counts[0, 0] = 1
    room = np.empty(MOST_SUCCESSORS, dtype=np.int64), np.empty(MOST_SUCCESSORS, dtype=np.uint8)
    for column in range(n + 1):
        for row in range(rows):
            size = MOST_SUCCESSORS * boundaries.size
            after, sources = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
            bent = np.empty(size, dtype=np.uint8)
            completing = np.empty(boundaries.size, dtype=np.uint8)
            found = decide_vertex(boundaries, rows, row, column, n, after, sources, bent, completing, room)
            if column + 1 >= rows:
                # Those that are longer than high stand for those that are higher than long, too.
                times = 2 if column + 1 > rows else 1
                whole = boundaries >> EDGES_SHIFT == n
                total += times * counts[whole & (completing == 1)].sum(axis=0)
                total[1:] += times * counts[whole & (completing == 2)].sum(axis=0)[:-1]
            after, sources, bent = after[:found], sources[:found], bent[:found]
            order = np.argsort(after, kind="stable")
            distinct = int(np.count_nonzero(np.diff(after[order]))) + min(found, 1)
            boundaries, before = np.empty(distinct, dtype=np.int64), counts
            counts = np.empty((distinct, n), dtype=np.int64)
            add_up(order, after, sources, bent, before, boundaries, counts)
        # No edge goes up from the highest row. A path that has not begun in the first column begins nowhere.
        begun = boundaries & PLACES != 0
        boundaries, counts = boundaries[begun], counts[begun]
        places = boundaries & PLACES
        boundaries = boundaries - places + (places << 2)
        if not boundaries.size:
            break
    # A path has two directions.
    return [2 * int(count) for count in total]


def shapes_by_bends(n: int, shapes: int, fixed: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Shapes for each number of bends, by Burnside's lemma.

    Parameters
    ----------
    n : int
        1 or more.
    shapes : int
        How many there are in all, for a check.
    fixed : sequence of sequences of int
        Walks that symmetries leave in place, by bends: those of all heights, and both kinds of symmetric ones.

    Raises
    ------
    Mismatch
        If the sums cannot be divided by sixteen, or do not add up to ``shapes``.
    """
    sums = [sum(column) for column in zip(*fixed, strict=True)]
    # A reflection along their own line leaves the straight walks in place.
    sums[0] += STRAIGHT_WALKS
    counted = tuple(count // SYMMETRIES for count in sums)
    if any(count % SYMMETRIES for count in sums) or sum(counted) != shapes:
        raise Mismatch(
            f"{sum(sums)} walks of {n} edges are left in place by symmetries, which does not make {shapes} shapes",
            "this is an error of the program; please report it",
        )
    return counted
