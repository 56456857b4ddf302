"""Lower bounds of the distance of a position from the start.

The Manhattan distance adds up the rows and columns between each tile and its goal. Two tiles in their goal row in the
wrong order cost two moves more, since one has to leave the row and come back (linear conflict: Hansson, Mayer and Yung,
"Criticizing solutions to relaxed models yields powerful admissible heuristics", 1992); likewise for columns. On 4x4
boards both are looked up for whole rows; other boards get the Manhattan distance alone.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from pipeline.spaces.contract import Keys
from pipeline.spaces.sliding.expansion import BLOCK, decode_words, parity_bits
from pipeline.spaces.sliding.ranking import rank_weights, reciprocals
from pipeline.spaces.sliding.symmetry import transpose_word
from storage.compiler.kernel import kernel

SIDE = 4


@kernel
def _conflict(row, line, home):
    """Moves that the order of a line of four goal cells costs more than their Manhattan distance."""
    best = 0
    inside = 0
    # Largest number of tiles of this row, in order, by trying every choice of places.
    for place in range(SIDE):
        goal = (line >> (4 * (SIDE - 1 - place))) & 15
        inside += goal != home and goal // SIDE == row
    for chosen in range(1 << SIDE):
        last = -1
        count = 0
        for place in range(SIDE):
            goal = (line >> (4 * (SIDE - 1 - place))) & 15
            if chosen >> place & 1:
                if goal == home or goal // SIDE != row or goal <= last:
                    count = -1
                    break
                last = goal
                count += 1
        best = max(best, count)
    return 2 * (inside - best)


@kernel
def _line_tables(home):
    """Costs of every line of four goal cells in each row.

    Returns
    -------
    both : ndarray of uint8, shape (4, 65536)
        Manhattan distances and conflicts.
    conflicts : ndarray of uint8, shape (4, 65536)
        Conflicts alone.
    """
    both = np.zeros((SIDE, 1 << 16), dtype=np.uint8)
    conflicts = np.zeros((SIDE, 1 << 16), dtype=np.uint8)
    for row in range(SIDE):
        for line in range(1 << 16):
            total = 0
            for place in range(SIDE):
                goal = (line >> (4 * (SIDE - 1 - place))) & 15
                if goal != home:
                    total += abs(goal // SIDE - row) + abs(goal % SIDE - place)
            extra = _conflict(row, line, home)
            conflicts[row, line] = extra
            both[row, line] = total + extra
    return both, conflicts


@cache
def _tables(home: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    mirrored = home % SIDE * SIDE + home // SIDE
    return _line_tables(home)[0], _line_tables(mirrored)[1]


@kernel
def _square_bounds(words, count, rows, columns, out):
    low = np.uint64(0xFFFF)
    for i in range(count):
        word = words[i]
        mirrored = transpose_word(word)
        total = np.int64(0)
        for row in range(SIDE):
            shift = np.uint64(48 - 16 * row)
            total += rows[row, (word >> shift) & low]
            total += columns[row, (mirrored >> shift) & low]
        out[i] = total


@kernel
def _manhattan(words, count, cells, cols, home, out):
    for i in range(count):
        total = np.int64(0)
        for cell in range(cells):
            goal = np.int64((words[i] >> np.uint64(60 - 4 * cell)) & np.uint64(15))
            if goal != home:
                total += abs(goal // cols - cell // cols) + abs(goal % cols - cell % cols)
        out[i] = total


@kernel
def _bounds(keys, cells, cols, home, weights, inverse, parities, square, rows, columns):
    out = np.empty(keys.size, dtype=np.uint8)
    words = np.empty(BLOCK, dtype=np.uint64)
    rest = np.empty(BLOCK, dtype=np.uint64)
    pool = np.empty(BLOCK, dtype=np.uint64)
    for start in range(0, keys.size, BLOCK):
        count = min(BLOCK, keys.size - start)
        block = keys[start : start + count]
        decode_words(block, count, rest, pool, words, home, cells - 1, weights, inverse, parities)
        if square:
            _square_bounds(words, count, rows, columns, out[start : start + count])
        else:
            _manhattan(words, count, cells, cols, home, out[start : start + count])
    return out


def lower_bounds(keys: Keys, rows: int, cols: int, blank: int) -> NDArray[np.uint8]:
    """Moves that positions are at least away from the start.

    Parameters
    ----------
    keys : ndarray of uint64, shape (n,)
    rows, cols : int
        Of the board.
    blank : int
        The cell where the blank starts.

    Returns
    -------
    ndarray of uint8, shape (n,)
    """
    weights = rank_weights(rows * cols - 1)
    square = rows == cols == SIDE
    empty = np.zeros((0, 0), dtype=np.uint8)
    lines, columns = _tables(blank) if square else (empty, empty)
    parities = np.uint64(parity_bits(rows, cols, blank))
    bounds: NDArray[np.uint8] = _bounds(
        keys, rows * cols, cols, blank, weights, reciprocals(weights), parities, square, lines, columns
    )
    return bounds
