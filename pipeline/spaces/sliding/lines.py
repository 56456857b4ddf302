"""Positions as lines of text, a block of keys at once."""

from __future__ import annotations

import numpy as np

from pipeline.spaces.sliding.expansion import BLOCK, decode_words
from storage.compiler.kernel import kernel

ZERO, END_OF_LINE = ord("0"), ord("\n")


def line_length(cells: int) -> int:
    """Characters of a line: every number once, each with a separator or the end of the line behind it."""
    return sum(len(str(number)) + 1 for number in range(cells))


@kernel
def write_lines(keys, rows, cols, home, weights, inverse, parities, lines):
    """Write the position of every key, rows with slashes between them, and the end of the line.

    Parameters
    ----------
    keys : ndarray of uint64, shape (n,)
    rows, cols, home : int
        The board, and the cell of the blank in the root.
    weights : ndarray of int64, inverse : ndarray of float64, parities : uint64
        As for :func:`~pipeline.spaces.sliding.expansion.expand_block`.
    lines : ndarray of uint8, shape (n, line_length(rows * cols))
        Receives ASCII characters.
    """
    cells = rows * cols
    rest = np.empty(BLOCK, dtype=np.uint64)
    pool = np.empty(BLOCK, dtype=np.uint64)
    words = np.empty(BLOCK, dtype=np.uint64)
    for start in range(0, keys.size, BLOCK):
        count = min(BLOCK, keys.size - start)
        decode_words(keys[start : start + count], count, rest, pool, words, home, cells - 1, weights, inverse, parities)
        for place in range(count):
            line = start + place
            filled = 0
            for cell in range(cells):
                # A nibble is the cell where the tile belongs.
                goal = np.int64((words[place] >> np.uint64(60 - 4 * cell)) & np.uint64(15))
                number = 0 if goal == home else goal + (1 if goal < home else 0)
                if number >= 10:
                    lines[line, filled] = np.uint8(ZERO + 1)
                    filled += 1
                    number -= 10
                lines[line, filled] = np.uint8(ZERO + number)
                separator = ord("/") if (cell + 1) % cols == 0 else ord(" ")
                lines[line, filled + 1] = np.uint8(END_OF_LINE if cell == cells - 1 else separator)
                filled += 2
