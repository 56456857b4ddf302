"""The expand kernel of the sliding puzzles: a block of keys in, the keys of the next level out.

The work is done on *board words* (:mod:`pipeline.spaces.sliding.symmetry`), in stages: decode the ranks of a block of
keys, move the blank, choose the canonical one of each transposed pair, rank the new orders. Within a stage every key
takes the same steps without a branch, so that the compiler can work on several keys with one instruction; the loops
touch few arrays at a time, or it would not.
"""

from __future__ import annotations

import numpy as np

from pipeline.spaces.sliding.ranking import BLANK_SHIFT, RANK_SHIFT, SYMMETRIC_SHIFT, order_parity
from pipeline.spaces.sliding.symmetry import transpose_cells_and_moves, transpose_word
from storage.compiler.kernel import kernel

MAX_NEIGHBOURS = 4
# Positions that are worked on together: their arrays stay in the first-level cache.
BLOCK = 256


def blank_moves(rows: int, cols: int) -> np.ndarray:
    """Where the blank can go.

    Returns
    -------
    ndarray of uint64, shape (16,)
        For every cell a mask of moves: bit 0 up, 1 down, 2 left, 3 right.
    """
    moves = np.zeros(16, dtype=np.uint64)
    for cell in range(rows * cols):
        row, col = divmod(cell, cols)
        moves[cell] = (row > 0) | (row < rows - 1) << 1 | (col > 0) << 2 | (col < cols - 1) << 3
    return moves


def parity_bits(rows: int, cols: int, root_blank: int) -> int:
    """Parity of the tile order for every cell of the blank, the bit of cell 0 lowest."""
    return sum(order_parity(cell, root_blank, cols) << cell for cell in range(rows * cols))


@kernel(inline="always")
def _bit_count(bits):
    """Set bits of a 64-bit integer, in the form that compilers turn into one instruction where there is one."""
    bits = bits - ((bits >> np.uint64(1)) & np.uint64(0x5555555555555555))
    bits = (bits & np.uint64(0x3333333333333333)) + ((bits >> np.uint64(2)) & np.uint64(0x3333333333333333))
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (bits * np.uint64(0x0101010101010101)) >> np.uint64(56)


@kernel(inline="always")
def _digit_of(rest, scale):
    """Lehmer digit: the integer part of ``rest`` times the reciprocal of the place value."""
    # rest + 1/2, by the place value w, stays 0.5 / w >= 1.1e-11 away from every integer, and rounding changes it by
    # less than 3.5e-15, so the floor is exact (docs/proofs.md, P5).
    return np.uint64(np.int32((np.float64(np.int64(rest)) + 0.5) * scale))


@kernel(inline="always")
def _take_tile(pool, digit):
    """The tile number ``digit`` of a pool (a list of nibbles, lowest tile lowest), and the pool without it."""
    shift = digit << np.uint64(2)
    below = (np.uint64(1) << shift) - np.uint64(1)
    return (pool >> shift) & np.uint64(15), (pool & below) | ((pool >> np.uint64(4)) & ~below)


@kernel
def decode_words(keys, count, rest, pool, words, home, tiles, weights, inverse, parities):
    """Board words of ``count`` keys; ``rest`` and ``pool`` are scratch of the same size."""
    all_tiles = np.uint64(0)
    end = np.uint64(0)
    for tile in range(tiles + 1):
        if tile != home:
            all_tiles |= np.uint64(tile) << end
            end += np.uint64(4)
    # The nibble of the last cell is free until the blank comes in; its lowest bit collects the parity.
    for i in range(count):
        rest[i] = keys[i] >> np.uint64(RANK_SHIFT)
        pool[i] = all_tiles
        words[i] = (parities >> ((keys[i] >> np.uint64(BLANK_SHIFT)) & np.uint64(15))) & np.uint64(1)
    ranked = max(tiles - 2, 0)
    # Two places at a time: the arrays are read and written half as often.
    for place in range(0, ranked - 1, 2):
        position = np.uint64(60 - 4 * place)
        weight, scale = np.uint64(weights[place]), inverse[place]
        next_weight, next_scale = np.uint64(weights[place + 1]), inverse[place + 1]
        for i in range(count):
            digit = _digit_of(rest[i], scale)
            tile, smaller_pool = _take_tile(pool[i], digit)
            left = rest[i] - digit * weight
            next_digit = _digit_of(left, next_scale)
            rest[i] = left - next_digit * next_weight
            next_tile, pool[i] = _take_tile(smaller_pool, next_digit)
            tiles_here = (tile << position) | (next_tile << (position - np.uint64(4)))
            words[i] = (words[i] ^ ((digit ^ next_digit) & np.uint64(1))) | tiles_here
    if ranked & 1:
        position = np.uint64(60 - 4 * (ranked - 1))
        for i in range(count):
            digit = rest[i]
            tile, pool[i] = _take_tile(pool[i], digit)
            words[i] = (words[i] ^ (digit & np.uint64(1))) | (tile << position)
    for place in range(ranked, tiles):
        position = np.uint64(60 - 4 * place)
        last = np.uint64(place == tiles - 1)
        for i in range(count):
            digit = words[i] & (np.uint64(1) - last)
            tile, pool[i] = _take_tile(pool[i], digit)
            words[i] |= tile << position
    for i in range(count):
        blank = (keys[i] >> np.uint64(BLANK_SHIFT)) & np.uint64(15)
        shift = np.uint64(60) - (blank << np.uint64(2))
        below = (np.uint64(1) << shift) - np.uint64(1)
        word = words[i] & ~np.uint64(1)
        before = word & ~((below << np.uint64(4)) | np.uint64(15))
        words[i] = before | ((word >> np.uint64(4)) & below) | (np.uint64(home) << shift)


@kernel
def _move(keys, count, words, cols, home, moves, all_moves, new_words, fields):
    """Words and low key fields of the positions one move away; returns how many there are."""
    keep = np.uint64(0) if all_moves else np.uint64(15)
    width = np.uint64(4 * cols)
    written = np.int64(0)
    for i in range(count):
        key = keys[i]
        word = words[i]
        blank = (key >> np.uint64(BLANK_SHIFT)) & np.uint64(15)
        open_moves = moves[blank] & ~(key & keep)
        here = np.uint64(60) - (blank << np.uint64(2))
        # Every move is written; the place advances past those that are legal.
        there = here + width
        change = ((word >> (there & np.uint64(63))) & np.uint64(15)) ^ np.uint64(home)
        new_words[written] = word ^ (change << here) ^ (change << (there & np.uint64(63)))
        fields[written] = ((blank - np.uint64(cols)) << np.uint64(4)) | np.uint64(2)
        written += np.int64(open_moves & np.uint64(1))
        there = here - width
        change = ((word >> (there & np.uint64(63))) & np.uint64(15)) ^ np.uint64(home)
        new_words[written] = word ^ (change << here) ^ (change << (there & np.uint64(63)))
        fields[written] = ((blank + np.uint64(cols)) << np.uint64(4)) | np.uint64(1)
        written += np.int64((open_moves >> np.uint64(1)) & np.uint64(1))
        there = here + np.uint64(4)
        change = ((word >> (there & np.uint64(63))) & np.uint64(15)) ^ np.uint64(home)
        new_words[written] = word ^ (change << here) ^ (change << (there & np.uint64(63)))
        fields[written] = ((blank - np.uint64(1)) << np.uint64(4)) | np.uint64(8)
        written += np.int64((open_moves >> np.uint64(2)) & np.uint64(1))
        there = here - np.uint64(4)
        change = ((word >> (there & np.uint64(63))) & np.uint64(15)) ^ np.uint64(home)
        new_words[written] = word ^ (change << here) ^ (change << (there & np.uint64(63)))
        fields[written] = ((blank + np.uint64(1)) << np.uint64(4)) | np.uint64(4)
        written += np.int64((open_moves >> np.uint64(3)) & np.uint64(1))
    return written


@kernel
def _choose_canonical(words, fields, count):
    """Put the smaller word of each transposed pair in place, and mark positions that are their own partner."""
    for i in range(count):
        word = words[i]
        field = fields[i]
        mirrored = transpose_word(word)
        mirrored_field = transpose_cells_and_moves(field)
        symmetric = np.uint64(mirrored == word)
        words[i] = min(word, mirrored)
        # Each way back of a position that is its own partner has a twin, of which only one is generated.
        field |= mirrored_field & (np.uint64(0) - symmetric)
        fields[i] = (mirrored_field if mirrored < word else field) | (symmetric << np.uint64(SYMMETRIC_SHIFT))


@kernel
def _rank(words, fields, count, left, out, home, tiles, weights):
    """Keys of ``count`` board words with the given fields."""
    all_tiles = (np.uint64(1) << np.uint64(tiles + 1)) - np.uint64(1) - (np.uint64(1) << np.uint64(home))
    for i in range(count):
        blank = (fields[i] >> np.uint64(4)) & np.uint64(15)
        below = (np.uint64(1) << (np.uint64(60) - (blank << np.uint64(2)))) - np.uint64(1)
        before = words[i] & ~((below << np.uint64(4)) | np.uint64(15))
        words[i] = before | ((words[i] & below) << np.uint64(4))
        left[i] = all_tiles
        out[i] = 0
    # Two places at a time, as above; a place too many has the value 0.
    for place in range(0, tiles - 2, 2):
        position = np.uint64(60 - 4 * place)
        weight, next_weight = np.uint64(weights[place]), np.uint64(weights[place + 1])
        for i in range(count):
            word = words[i]
            now = left[i]
            tile = np.uint64(1) << ((word >> position) & np.uint64(15))
            rank = weight * _bit_count(now & (tile - np.uint64(1)))
            now &= ~tile
            tile = np.uint64(1) << ((word >> (position - np.uint64(4))) & np.uint64(15))
            out[i] += rank + next_weight * _bit_count(now & (tile - np.uint64(1)))
            left[i] = now & ~tile
    for i in range(count):
        out[i] = (out[i] << np.uint64(RANK_SHIFT)) | fields[i]


@kernel
def expand_block(keys, out, rows, cols, root_blank, symmetric, weights, inverse, moves, parities, all_moves):
    """Write the neighbours of a block of keys.

    Parameters
    ----------
    keys : ndarray of uint64, shape (n,)
        Keys of one level.
    out : ndarray of uint64, shape (m,)
        Receives neighbour keys, unsorted, with the move that leads back in their mask; ``m`` at least 4.
    rows, cols, root_blank : int64
        The board, and the cell where the blank starts.
    symmetric : bool
        Store one of each transposed pair (4x4 board, blank starting on the diagonal).
    weights : ndarray of int64, shape (16,)
        From :func:`~pipeline.spaces.sliding.ranking.rank_weights`.
    inverse : ndarray of float64, shape (16,)
        Reciprocals of the positive weights.
    moves : ndarray of uint64, shape (16,)
        From :func:`blank_moves`.
    parities : uint64
        From :func:`parity_bits`.
    all_moves : bool
        Generate the moves that lead back too.

    Returns
    -------
    consumed, written : int
        Keys expanded (fewer than ``n`` when ``out`` is full) and neighbours written.
    """
    tiles = rows * cols - 1
    words = np.empty(BLOCK, dtype=np.uint64)
    rest = np.empty(BLOCK, dtype=np.uint64)
    pool = np.empty(BLOCK, dtype=np.uint64)
    new_words = np.empty(MAX_NEIGHBOURS * BLOCK + 1, dtype=np.uint64)
    fields = np.empty(MAX_NEIGHBOURS * BLOCK + 1, dtype=np.uint64)
    left = np.empty(MAX_NEIGHBOURS * BLOCK + 1, dtype=np.uint64)
    consumed = 0
    written = 0
    while consumed < keys.size:
        count = min(BLOCK, keys.size - consumed, (out.size - written) // MAX_NEIGHBOURS)
        if count == 0:
            break
        block = keys[consumed : consumed + count]
        decode_words(block, count, rest, pool, words, root_blank, tiles, weights, inverse, parities)
        found = _move(block, count, words, cols, root_blank, moves, all_moves, new_words, fields)
        if symmetric:
            _choose_canonical(new_words, fields, found)
        _rank(new_words, fields, found, left, out[written : written + found], root_blank, tiles, weights)
        consumed += count
        written += found
    return consumed, written
