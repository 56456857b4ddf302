"""Transposition of the 4x4 board when its blank starts on the diagonal.

Reflecting the board in its main diagonal and renaming every tile after the reflected goal cell maps the root to
itself and moves to moves, so positions come in pairs with equal depth. One of the two is the canonical one; a search
stores that one alone, and the number of positions is twice the keys less the positions that are their own partner.

A position is a *board word*: 16 nibbles, the highest for cell 0, each holding the goal cell of the tile that lies
there; the blank holds the cell where it starts. Only the 4x4 board is treated so: smaller ones have too few positions
to gain from it.
Transposing a 4x4 matrix of nibbles takes two delta swaps (Warren, Hacker's Delight, 7-3).
"""

from __future__ import annotations

import numpy as np

from pipeline.spaces.sliding.ranking import SYMMETRIC_SHIFT
from storage.compiler.kernel import kernel


@kernel(inline="always")
def transpose_word(word):
    """Board word of the transposed position (uint64 to uint64)."""
    swap = (word ^ (word >> np.uint64(12))) & np.uint64(0x0000F0F00000F0F0)
    word = word ^ swap ^ (swap << np.uint64(12))
    swap = (word ^ (word >> np.uint64(24))) & np.uint64(0x00000000FF00FF00)
    word = word ^ swap ^ (swap << np.uint64(24))
    low = np.uint64(0x3333333333333333)
    return ((word & low) << np.uint64(2)) | ((word >> np.uint64(2)) & low)


@kernel(inline="always")
def transpose_cells_and_moves(fields):
    """Low key fields of the transposed position: the cell of the blank, and the move mask, each a nibble.

    A cell is row * 4 + column, and a mask has up and down in its low half and left and right in the high one; both
    swap their halves.
    """
    half = np.uint64(0x33)
    return ((fields & half) << np.uint64(2)) | ((fields >> np.uint64(2)) & half)


@kernel
def count_positions(keys):
    """Positions that canonical keys stand for: two each, but one if the position is its own partner."""
    single = np.uint64(0)
    for i in range(keys.size):
        single += (keys[i] >> np.uint64(SYMMETRIC_SHIFT)) & np.uint64(1)
    return 2 * keys.size - np.int64(single)
