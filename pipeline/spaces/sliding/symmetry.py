"""Transposition of square boards whose blank starts on the diagonal.

Reflecting the board in its main diagonal and renaming every tile after the reflected goal cell maps the root to
itself and moves to moves, so positions come in pairs with equal depth. One of the two is the canonical one; a search
stores that one alone, and the number of positions is twice the keys less the positions that are their own partner.

A position is a *board word*: 16 nibbles, the highest for cell (0, 0), four to a row whatever the side of the board,
each holding the goal cell of the tile that lies there (row * 4 + column; the blank holds the cell where it starts).
Transposing a 4x4 matrix of nibbles takes two delta swaps (Warren, Hacker's Delight, 7-3).
"""

from __future__ import annotations

import numba
import numpy as np

from pipeline.spaces.sliding.ranking import SYMMETRIC_SHIFT


@numba.njit(nogil=True, cache=True, inline="always")
def transpose_word(word):
    """Board word of the transposed position (uint64 to uint64)."""
    swap = (word ^ (word >> np.uint64(12))) & np.uint64(0x0000F0F00000F0F0)
    word = word ^ swap ^ (swap << np.uint64(12))
    swap = (word ^ (word >> np.uint64(24))) & np.uint64(0x00000000FF00FF00)
    word = word ^ swap ^ (swap << np.uint64(24))
    low = np.uint64(0x3333333333333333)
    return ((word & low) << np.uint64(2)) | ((word >> np.uint64(2)) & low)


@numba.njit(nogil=True, cache=True, inline="always")
def transpose_cell(cell):
    """Index (row * 4 + column) of the transposed cell."""
    return ((cell & 3) << 2) | (cell >> 2)


@numba.njit(nogil=True, cache=True, inline="always")
def transpose_moves(moves):
    """Move mask with up and left, and down and right, exchanged."""
    return ((moves & 3) << 2) | (moves >> 2)


@numba.njit(nogil=True, cache=True)
def count_positions(keys):
    """Positions that canonical keys stand for: two each, but one if the position is its own partner."""
    single = np.uint64(0)
    for key in keys:
        single += (key >> np.uint64(SYMMETRIC_SHIFT)) & np.uint64(1)
    return 2 * keys.size - np.int64(single)
