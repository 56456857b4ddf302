"""Moves on ranks, for boards without a symmetry: neighbours without ever writing down a board.

A horizontal move leaves the order of the tiles alone. A vertical one takes a tile over the next ``cols - 1``, so it
changes ``cols`` digits of the Lehmer code and no other: whether a tile is smaller than one further right depends on
these two alone. Exchanging two neighbours turns their digits ``a, b`` into ``b + 1, a`` if ``b >= a`` and into
``b, a - 1`` otherwise. So for every place where the tile can start there is a table from the number that the changing
digits form to the difference that the move makes to it.

The last two places have no digit in the rank. The digit of the last but one is 0 or 1 and follows from the parity of
all the others; tables for moves that reach so far have two entries for a number, and the parity of the digits before it
is looked up in two steps.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.spaces.sliding.ranking import BLANK_SHIFT, RANK_SHIFT, rank_weights
from storage.compiler.kernel import kernel

# Boards whose tables have more entries are expanded by way of board words.
MOST_ENTRIES = 1 << 20
# Places whose digits are looked up in the first step.
FIRST_PLACES = 5
# Keys that are worked on together: their arrays stay in the first-level cache.
BLOCK = 256


class MoveTables(NamedTuple):
    """What vertical moves do to ranks, by the first place ``p`` of the digits that they change.

    Attributes
    ----------
    above, above_inverse : ndarray, shape (16,)
        Place value of the digit before them, and its reciprocal (0 for ``p = 0``).
    unit, unit_inverse : ndarray, shape (16,)
        Place value of the last of them that is in the rank, and its reciprocal.
    offsets : ndarray of uint64, shape (2, 16)
        Where the entries of a place begin, for the blank going up and down.
    changes : ndarray of int64
        The difference to the number that the digits form.
    tail : int
        From this place on the last places are reached: entries are doubled.
    rest, rest_inverse : ndarray, shape (16,)
        For these places: how many values the digits from ``FIRST_PLACES`` on have before ``p``, and the reciprocal.
    first, second : ndarray of int64, shape (16,)
        Where the parities of the digits before and from ``FIRST_PLACES`` begin.
    parities : ndarray of uint64
        Parities of sums of digits.
    """

    above: NDArray[np.uint64]
    above_inverse: NDArray[np.float64]
    unit: NDArray[np.uint64]
    unit_inverse: NDArray[np.float64]
    offsets: NDArray[np.uint64]
    changes: NDArray[np.int64]
    tail: int
    rest: NDArray[np.uint64]
    rest_inverse: NDArray[np.float64]
    first: NDArray[np.uint64]
    second: NDArray[np.uint64]
    parities: NDArray[np.uint8]


def _digits(numbers: NDArray[np.int64], radices: list[int]) -> list[NDArray[np.int64]]:
    """Digits of numbers, the highest first."""
    digits = []
    for radix in reversed(radices):
        numbers, digit = np.divmod(numbers, radix)
        digits.append(digit)
    return digits[::-1]


def _number(digits: list[NDArray[np.int64]], radices: list[int]) -> NDArray[np.int64]:
    number = np.zeros_like(digits[0]) if digits else np.zeros(1, dtype=np.int64)
    for digit, radix in zip(digits, radices, strict=True):
        number = number * radix + digit
    return number


def _rotated(digits: list[NDArray[np.int64]], up: bool) -> list[NDArray[np.int64]]:
    """Digits after the first tile has gone to the end (the blank went up), or the last one to the front."""
    digits = list(digits)
    steps = range(len(digits) - 1) if up else range(len(digits) - 2, -1, -1)
    for place in steps:
        left, right = digits[place], digits[place + 1]
        larger = right >= left
        digits[place], digits[place + 1] = np.where(larger, right + 1, right), np.where(larger, left, left - 1)
    return digits


def _parities(radices: list[int]) -> NDArray[np.uint8]:
    """Parity of the sum of digits of every number with these radices."""
    numbers = np.arange(prod(radices), dtype=np.int64)
    total = np.zeros_like(numbers)
    for digit in _digits(numbers, radices):
        total += digit
    return (total & 1).astype(np.uint8)


def table_entries(rows: int, cols: int) -> int:
    """About as many entries as the tables of a board would have."""
    tiles = rows * cols - 1
    entries = 0
    for place in range(tiles - cols + 1):
        values = 1
        for digit in range(place, min(place + cols, tiles - 2)):
            values *= tiles - digit
        entries += 2 * values
    radices = [tiles - digit for digit in range(tiles - cols)]
    return entries + prod(radices[:FIRST_PLACES]) + 2 * prod(radices[FIRST_PLACES:])


def move_tables(rows: int, cols: int) -> MoveTables:
    """Tables of a board with at least two rows and two columns."""
    tiles = rows * cols - 1
    weights = rank_weights(tiles)
    above = np.ones(16, dtype=np.uint64)
    above_inverse = np.zeros(16)
    unit = np.ones(16, dtype=np.uint64)
    rest = np.ones(16, dtype=np.uint64)
    offsets = np.zeros((2, 16), dtype=np.uint64)
    first = np.zeros(16, dtype=np.uint64)
    second = np.zeros(16, dtype=np.uint64)
    tail = tiles - cols - 1
    changes: list[NDArray[np.int64]] = []
    parities: list[NDArray[np.uint8]] = []
    begins: dict[tuple[int, ...], int] = {}
    entries = known = 0
    for place in range(tiles - cols + 1):
        if place:
            above[place] = weights[place - 1]
            above_inverse[place] = 1.0 / float(weights[place - 1])
        ranked = [tiles - digit for digit in range(place, min(place + cols, tiles - 2))]
        if ranked:
            unit[place] = weights[place + len(ranked) - 1]
        numbers = np.arange(prod(ranked), dtype=np.int64)
        if place >= tail:
            # Twice each: for an even and an odd sum of the digits of this and all later places.
            numbers = np.repeat(numbers, 2)
        digits = _digits(numbers, ranked)
        if place >= tail:
            odd = np.arange(numbers.size) & 1
            last = (sum(digits, np.zeros_like(numbers)) + odd) & 1
            # The window ends with the last place but one, or with the last, whose digit is 0.
            digits.append(last)
            if place > tail:
                digits.append(np.zeros_like(numbers))
        for direction, up in enumerate((True, False)):
            turned = _rotated(digits, up)[: len(ranked)]
            offsets[direction, place] = entries
            changes.append(_number(turned, ranked) - numbers if ranked else np.zeros_like(numbers))
            entries += numbers.size
        if place >= tail:
            radices = [tiles - digit for digit in range(place)]
            for begin, part in ((first, radices[:FIRST_PLACES]), (second, radices[FIRST_PLACES:])):
                if tuple(part) not in begins:
                    begins[tuple(part)] = known
                    parities.append(_parities(part))
                    known += parities[-1].size
                begin[place] = begins[tuple(part)]
            rest[place] = prod(radices[FIRST_PLACES:])
    return MoveTables(
        above,
        above_inverse,
        unit,
        1.0 / unit,
        offsets,
        np.concatenate(changes),
        tail,
        rest,
        1.0 / rest,
        first,
        second,
        np.concatenate(parities),
    )


@kernel(inline="always")
def _quotient(number, inverse):
    """Integer part of a number times the reciprocal of an integer; exact for numbers below 2**50."""
    return np.uint64(np.int64((np.float64(np.int64(number)) + 0.5) * inverse))


@kernel
def _move_sideways(keys, moves, keep, cols, tail, out, ranks, fields):
    """Write the neighbours by horizontal moves, and list the vertical ones.

    Those that change digits from ``tail`` on are listed from the end of ``ranks`` and ``fields`` backwards, all others
    from the front. A field is the key of the neighbour without its rank, above it the direction, above that the place
    of the first digit that changes.

    Returns
    -------
    written, plain, tailed : int
        Horizontal neighbours written, and vertical ones of either kind.
    """
    one = np.uint64(1)
    four = np.uint64(BLANK_SHIFT)
    width = np.uint64(cols)
    end = ranks.size - 1
    written = plain = tailed = np.int64(0)
    # Everything is written; a place advances past what is legal.
    for i in range(keys.size):
        key = keys[i]
        rank = key >> np.uint64(RANK_SHIFT)
        blank = (key >> four) & np.uint64(15)
        legal = moves[blank] & ~(key & keep)
        same = rank << np.uint64(RANK_SHIFT)
        out[written] = same | ((blank - one) << four) | np.uint64(8)
        written += np.int64((legal >> np.uint64(2)) & one)
        out[written] = same | ((blank + one) << four) | np.uint64(4)
        written += np.int64((legal >> np.uint64(3)) & one)
        place = blank - width
        field = (place << np.uint64(9)) | (place << four) | np.uint64(2)
        late = np.int64(place >= np.uint64(tail))
        there = np.int64(legal & one)
        ranks[plain] = ranks[end - tailed] = rank
        fields[plain] = fields[end - tailed] = field
        plain += there & (1 - late)
        tailed += there & late
        field = (blank << np.uint64(9)) | np.uint64(256) | ((blank + width) << four) | one
        late = np.int64(blank >= np.uint64(tail))
        there = np.int64((legal >> one) & one)
        ranks[plain] = ranks[end - tailed] = rank
        fields[plain] = fields[end - tailed] = field
        plain += there & (1 - late)
        tailed += there & late
    return written, plain, tailed


@kernel
def _move_up_or_down(ranks, fields, tables, out):
    """Write the neighbours by vertical moves of which none reaches the last places."""
    for i in range(ranks.size):
        rank, field = ranks[i], fields[i]
        place = field >> np.uint64(9)
        before = _quotient(rank, tables.above_inverse[place])
        number = _quotient(rank - before * tables.above[place], tables.unit_inverse[place])
        change = tables.changes[tables.offsets[(field >> np.uint64(8)) & np.uint64(1), place] + number]
        moved = rank + np.uint64(change) * tables.unit[place]
        out[i] = (moved << np.uint64(RANK_SHIFT)) | (field & np.uint64(255))


@kernel
def _move_last_tiles(ranks, fields, cols, parities, tables, out):
    """Write the neighbours by vertical moves that reach the last places."""
    for i in range(ranks.size):
        rank, field = ranks[i], fields[i]
        place = field >> np.uint64(9)
        down = (field >> np.uint64(8)) & np.uint64(1)
        before = _quotient(rank, tables.above_inverse[place])
        number = _quotient(rank - before * tables.above[place], tables.unit_inverse[place])
        high = _quotient(before, tables.rest_inverse[place])
        low = before - high * tables.rest[place]
        blank = place + np.uint64(cols) * (np.uint64(1) - down)
        odd = (parities >> blank) & np.uint64(1)
        odd ^= np.uint64(tables.parities[tables.first[place] + high] ^ tables.parities[tables.second[place] + low])
        change = tables.changes[tables.offsets[down, place] + number + number + odd]
        moved = rank + np.uint64(change) * tables.unit[place]
        out[i] = (moved << np.uint64(RANK_SHIFT)) | (field & np.uint64(255))


@kernel
def expand_ranks(keys, out, cols, moves, parities, tables, all_moves):
    """Write the neighbours of a block of keys.

    Parameters
    ----------
    keys : ndarray of uint64, shape (n,)
        Keys of one level.
    out : ndarray of uint64, shape (m,)
        Receives neighbour keys, unsorted, with the move that leads back in their mask; ``m`` at least 4.
    cols : int64
    moves, parities : ndarray, uint64
        From :func:`~pipeline.spaces.sliding.expansion.blank_moves` and
        :func:`~pipeline.spaces.sliding.expansion.parity_bits`.
    tables : MoveTables
    all_moves : bool
        Generate the moves that lead back too.

    Returns
    -------
    consumed, written : int
        Keys expanded (fewer than ``n`` when ``out`` is full) and neighbours written.
    """
    keep = np.uint64(0) if all_moves else np.uint64(15)
    ranks = np.empty(2 * BLOCK + 1, dtype=np.uint64)
    fields = np.empty(2 * BLOCK + 1, dtype=np.uint64)
    consumed = 0
    written = 0
    while consumed < keys.size:
        count = min(BLOCK, keys.size - consumed, (out.size - written) // 4)
        if count == 0:
            break
        block = keys[consumed : consumed + count]
        found, plain, tailed = _move_sideways(block, moves, keep, cols, tables.tail, out[written:], ranks, fields)
        written += found
        _move_up_or_down(ranks[:plain], fields[:plain], tables, out[written : written + plain])
        written += plain
        begin = ranks.size - tailed
        _move_last_tiles(ranks[begin:], fields[begin:], cols, parities, tables, out[written : written + tailed])
        written += tailed
        consumed += count
    return consumed, written
