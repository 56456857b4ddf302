"""The expand kernel of the sliding puzzles: a sorted block of keys in, the keys of the next level out.

Keys arrive in ascending order, so neighbouring keys share most of their Lehmer digits and only the digits that
changed are decoded. A vertical move takes one tile over ``cols - 1`` others, which changes the Lehmer digits of
those places alone: the rank of a neighbour is the rank of the position plus at most four products.
"""

from __future__ import annotations

import numba
import numpy as np

from pipeline.spaces.sliding.ranking import (
    BLANK_SHIFT,
    DOWN,
    LEFT,
    RANK_SHIFT,
    RIGHT,
    SYMMETRIC_SHIFT,
    UP,
    bit_count16,
)
from pipeline.spaces.sliding.symmetry import transpose_cell, transpose_moves, transpose_word

MAX_NEIGHBOURS = 4


@numba.njit(nogil=True, cache=True, inline="always")
def decode_order(rank, parity, first, tiles, weights, inverse, digits, sums, odd, pools, order):
    """Decode the order from place ``first`` on; what the places before it hold stays.

    ``sums[i]`` is the part of the rank in places 0 .. i, ``odd[i]`` the parity of their digits, and ``pools[i]`` the
    tiles that are left before place i as a list of nibbles, lowest tile first.
    """
    rest = rank
    parity_so_far = np.int64(0)
    if first > 0:
        rest -= sums[first - 1]
        parity_so_far = odd[first - 1]
    pool = pools[first]
    for place in range(first, tiles):
        digit = np.int64(0)
        if place < tiles - 2:
            # rest + 1/2 stays away from every multiple of the weight, so the floor is exact.
            digit = np.int64((np.float64(rest) + 0.5) * inverse[place])
            rest -= digit * weights[place]
            sums[place] = rank - rest
        elif place == tiles - 2:
            digit = parity_so_far ^ parity
        parity_so_far ^= digit & 1
        odd[place] = parity_so_far
        digits[place] = digit
        shift = np.uint64(4 * digit)
        order[place] = np.int64((pool >> shift) & np.uint64(15))
        below = (np.uint64(1) << shift) - np.uint64(1)
        pool = (pool & below) | ((pool >> np.uint64(4)) & ~below)
        pools[place + 1] = pool


@numba.njit(nogil=True, cache=True, inline="always")
def board_word(order_word, blank_cell, root_cell):
    """Board word of a 4x4 position: the blank put into the word of its order (15 nibbles, highest first)."""
    shift = np.uint64(4 * (15 - blank_cell))
    below = (np.uint64(1) << shift) - np.uint64(1)
    # The order word ends in an unused nibble, so the tiles behind the blank move down by one.
    return (
        (order_word & ~((below << np.uint64(4)) | np.uint64(15)))
        | ((order_word >> np.uint64(4)) & below)
        | (np.uint64(root_cell) << shift)
    )


@numba.njit(nogil=True, cache=True, inline="always")
def small_board_word(order, blank, root_blank, tiles, word_cells):
    """Board word of a position on a square board with fewer than four rows."""
    word = np.uint64(word_cells[root_blank]) << np.uint64(60 - 4 * word_cells[blank])
    for place in range(tiles):
        goal = word_cells[order[place] + (order[place] >= root_blank)]
        cell = word_cells[place + (place >= blank)]
        word |= np.uint64(goal) << np.uint64(60 - 4 * cell)
    return word


@numba.njit(nogil=True, cache=True)
def rank_of_word(word, blank, root_blank, tiles, word_cells, board_cells, weights):
    """Rank of the order in a board word whose blank is at cell ``blank``."""
    left = np.int64((1 << tiles) - 1)
    rank = np.int64(0)
    for place in range(tiles - 2):
        cell = word_cells[place + (place >= blank)]
        goal = board_cells[np.int64((word >> np.uint64(60 - 4 * cell)) & np.uint64(15))]
        below = (np.int64(1) << (goal - (goal > root_blank))) - 1
        rank += weights[place] * bit_count16(left & below)
        left &= ~(below + 1)
    return rank


@numba.njit(nogil=True, cache=True)
def expand_block(keys, out, rows, cols, root_blank, symmetric, weights, inverse, all_moves):
    """Write the neighbours of a sorted block of keys.

    Parameters
    ----------
    keys : ndarray of uint64, shape (n,)
        Ascending keys of one level.
    out : ndarray of uint64, shape (m,)
        Receives neighbour keys, unsorted, with the move that leads back in their mask; ``m`` at least 4.
    rows, cols, root_blank : int64
        The board, and the cell where the blank starts.
    symmetric : bool
        Store one of each transposed pair (square board, blank starting on the diagonal).
    weights : ndarray of int64, shape (16,)
        From :func:`~pipeline.spaces.sliding.ranking.rank_weights`.
    inverse : ndarray of float64, shape (16,)
        Reciprocals of the positive weights.
    all_moves : bool
        Generate the moves that lead back too.

    Returns
    -------
    consumed, written : int
        Keys expanded (fewer than ``n`` when ``out`` is full) and neighbours written.
    """
    tiles = rows * cols - 1
    window = cols - 1
    digits = np.zeros(16, dtype=np.int64)
    sums = np.zeros(16, dtype=np.int64)
    odd = np.zeros(16, dtype=np.int64)
    pools = np.zeros(17, dtype=np.uint64)
    order = np.zeros(16, dtype=np.int64)
    for tile in range(tiles):
        pools[0] |= np.uint64(tile) << np.uint64(4 * tile)
    # Cells of the board in a word of rows of four, and back.
    row_of = np.zeros(16, dtype=np.int64)
    word_cells = np.zeros(16, dtype=np.int64)
    board_cells = np.zeros(16, dtype=np.int64)
    for cell in range(rows * cols):
        row_of[cell] = cell // cols
        word_cells[cell] = (cell // cols) * 4 + cell % cols if symmetric else cell
        board_cells[word_cells[cell]] = cell
    root_row = root_blank // cols
    order_words = np.zeros(17, dtype=np.uint64)
    last_rank = np.int64(-1)
    last_parity = np.int64(-1)
    home = np.uint64(word_cells[root_blank])
    written = 0
    consumed = 0
    for key in keys:
        if written + MAX_NEIGHBOURS > out.size:
            break
        consumed += 1
        rank = np.int64(key >> np.uint64(RANK_SHIFT))
        blank = np.int64(key >> np.uint64(BLANK_SHIFT)) & 15
        closed = np.int64(key) & 15
        if all_moves:
            closed = np.int64(0)
        row = row_of[blank]
        col = blank - row * cols
        parity = ((row - root_row) * (cols - 1)) & 1
        if rank != last_rank or parity != last_parity:
            first = np.int64(0)
            if last_rank >= 0 and tiles > 2:
                first = tiles - 2
                while first > 0:
                    rest = rank - sums[first - 1]
                    if rest >= 0 and rest < weights[first - 1]:
                        break
                    first -= 1
            decode_order(rank, parity, first, tiles, weights, inverse, digits, sums, odd, pools, order)
            if symmetric and cols == 4:
                order_word = order_words[first]
                for place in range(first, tiles):
                    goal = order[place] + (order[place] >= root_blank)
                    order_word |= np.uint64(goal) << np.uint64(60 - 4 * place)
                    order_words[place + 1] = order_word
            last_rank = rank
            last_parity = parity
        word = np.uint64(0)
        if symmetric:
            if cols == 4:
                word = board_word(order_words[tiles], blank, root_blank)
            else:
                word = small_board_word(order, blank, root_blank, tiles, word_cells)
        for move in (UP, DOWN, LEFT, RIGHT):
            if closed & move:
                continue
            if move == UP:
                if row == 0:
                    continue
                target = blank - cols
                back = DOWN
            elif move == DOWN:
                if row == rows - 1:
                    continue
                target = blank + cols
                back = UP
            elif move == LEFT:
                if col == 0:
                    continue
                target = blank - 1
                back = RIGHT
            else:
                if col == cols - 1:
                    continue
                target = blank + 1
                back = LEFT
            new_rank = rank
            if move == UP:
                # The tile at place ``target`` goes behind the next ``window`` tiles.
                tile = order[target]
                smaller = np.int64(0)
                for place in range(target, target + window):
                    gain = np.int64(tile < order[place + 1])
                    smaller += 1 - gain
                    new_rank += (digits[place + 1] + gain - digits[place]) * weights[place]
                new_rank += (digits[target] - smaller - digits[target + window]) * weights[target + window]
            elif move == DOWN:
                # The tile at place ``last`` goes before the ``window`` tiles ahead of it.
                last = blank + window
                tile = order[last]
                smaller = np.int64(0)
                for place in range(blank, last):
                    loss = np.int64(tile < order[place])
                    smaller += 1 - loss
                    new_rank += (digits[place] - loss - digits[place + 1]) * weights[place + 1]
                new_rank += (digits[last] + smaller - digits[blank]) * weights[blank]
            mirror = np.int64(0)
            if symmetric:
                here = np.uint64(60 - 4 * word_cells[blank])
                there = np.uint64(60 - 4 * word_cells[target])
                change = ((word >> there) & np.uint64(15)) ^ home
                neighbour = word ^ (change << here) ^ (change << there)
                mirrored = transpose_word(neighbour)
                if mirrored < neighbour:
                    target = board_cells[transpose_cell(word_cells[target])]
                    new_rank = rank_of_word(mirrored, target, root_blank, tiles, word_cells, board_cells, weights)
                    back = transpose_moves(back)
                elif mirrored == neighbour:
                    mirror = np.int64(1)
                    # Each way back has a mirrored twin, and only one of the twins is generated.
                    back |= transpose_moves(back)
            out[written] = np.uint64(
                (new_rank << RANK_SHIFT) | (mirror << SYMMETRIC_SHIFT) | (target << BLANK_SHIFT) | back
            )
            written += 1
    return consumed, written
