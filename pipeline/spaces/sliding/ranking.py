"""Keys of sliding-tile positions: the rank of the tile order, the blank, and the moves that lead back.

A position is written as the *order* of its tiles, read row by row with the blank left out, and the cell of the
blank. A horizontal move leaves the order alone; a vertical move takes one tile over ``cols - 1`` others. The order
is stored as its lexicographic rank, computed from its Lehmer code (D. H. Lehmer, 1960): digit ``i`` is the number of
smaller tiles to the right of place ``i``. The parity of the order follows from the row of the blank, so the last
digit that could vary is left out and the rank runs from 0 to ``tiles! / 2 - 1`` (0 if there are fewer than two tiles).

Key, from the high bits to the low ones::

    rank | self-symmetric (1) | blank cell (4) | back moves (4)

*Back moves* are the moves that lead to the previous level (frontier search, Korf 1999): bit 0 up, 1 down, 2 left,
3 right, named after the way the blank goes.
*Self-symmetric* marks a position that its transposition maps to itself; see :mod:`pipeline.spaces.sliding.symmetry`.
"""

from __future__ import annotations

import numpy as np

BLANK_SHIFT = 4
BLANK_BITS = 4
SYMMETRIC_SHIFT = 8
RANK_SHIFT = 9
MAX_TILES = 15


def rank_weights(tiles: int) -> np.ndarray:
    """Place values of the Lehmer digits.

    Parameters
    ----------
    tiles : int
        Number of tiles, 0 to 15.

    Returns
    -------
    ndarray of int64, shape (16,)
        ``(tiles - 1 - i)! / 2`` at place ``i``, and 0 at the last two places, which parity decides.
    """
    weights = np.zeros(MAX_TILES + 1, dtype=np.int64)
    value = 1
    for place in range(tiles - 3, -1, -1):
        weights[place] = value
        value *= tiles - place
    return weights


def reciprocals(weights: np.ndarray) -> np.ndarray:
    """Reciprocals of the positive place values.

    Returns
    -------
    ndarray of float64, shape (16,)
        0 where the place value is 0.
    """
    inverse = np.zeros(weights.size)
    np.divide(1.0, weights, out=inverse, where=weights > 0)
    return inverse


def rank_of(order: list[int], weights: np.ndarray) -> int:
    """Rank of an order of the tiles 0, 1, ... (its parity left out)."""
    return sum(
        int(weights[place]) * sum(later < tile for later in order[place + 1 :]) for place, tile in enumerate(order)
    )


def order_parity(blank: int, root_blank: int, cols: int) -> int:
    """Parity of the tile order: each vertical move is a cycle of ``cols`` tiles."""
    return (blank // cols - root_blank // cols) * (cols - 1) & 1


def order_of(rank: int, parity: int, tiles: int, weights: np.ndarray) -> list[int]:
    """Order of the tiles with the given rank and parity (the inverse of :func:`rank_of`)."""
    left = list(range(tiles))
    order = []
    odd = 0
    for place in range(tiles):
        if place < tiles - 2:
            digit, rank = divmod(rank, int(weights[place]))
        else:
            digit = odd ^ parity if place == tiles - 2 else 0
        odd ^= digit & 1
        order.append(left.pop(digit))
    return order
