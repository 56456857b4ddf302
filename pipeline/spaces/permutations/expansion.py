"""The expand kernels: a block of keys in, the keys of the next level out.

Every key has as many neighbours as there are moves, whatever they lead to.
"""

from __future__ import annotations

import numpy as np

from pipeline.spaces.permutations.ranking import decode_sets, decode_word, rank_of_sets, rank_of_word
from storage.compiler.kernel import kernel

# Keys with the same leading digits that are worked on together.
BLOCK = 1024


@kernel
def expand_by_tables(keys, out, moves, radices, digits, states, offsets, multipliers, last):
    """Neighbours by the tables of :class:`~pipeline.spaces.permutations.stages.Stages`.

    Parameters
    ----------
    keys : ndarray of uint64, shape (n,)
        Ascending.
    out : ndarray of uint64, shape (m,)
    moves : int64
        How many there are.
    radices, digits, states, offsets, multipliers, last
        See there.

    Returns
    -------
    consumed, written : int
    """
    stages = radices.size
    width = radices[stages - 1]
    count = min(keys.size, out.size // moves)
    low = np.empty(BLOCK, dtype=np.uint32)
    leading = np.empty(stages, dtype=np.int64)
    first = 0
    written = 0
    while first < count:
        prefix = np.int64(keys[first]) // width
        begin = prefix * width
        end = first
        stop = min(count, first + BLOCK)
        while end < stop and np.int64(keys[end]) - begin < width:
            low[end - first] = np.uint32(np.int64(keys[end]) - begin)
            end += 1
        size = end - first
        for stage in range(stages - 2, -1, -1):
            rest = prefix // radices[stage]
            leading[stage] = offsets[stage] + (prefix - rest * radices[stage]) * multipliers[stage]
            prefix = rest
        for move in range(moves):
            multiplier = np.int64(move)
            value = np.int64(0)
            for stage in range(stages - 1):
                entry = leading[stage] + multiplier
                value = value * radices[stage] + np.int64(digits[entry])
                multiplier = np.int64(states[entry])
            base = np.uint64(value * width)
            row = last[multiplier]
            target = out[written : written + size]
            for i in range(size):
                target[i] = base + np.uint64(row[low[i]])
            written += size
        first = end
    return count, written


@kernel
def expand_by_sifting(keys, out, moves, points, orbits, starts, transversals, inverses, index):
    """Neighbours by the factors of an element, for groups whose tables would be too large.

    Parameters
    ----------
    keys : ndarray of uint64, shape (n,)
    out : ndarray of uint64, shape (m,)
    moves : ndarray of uint8, shape (moves, points)
        Elements that are multiplied from the left.
    points : ndarray of int64, shape (levels,)
    orbits, starts : ndarray of int64, shape (levels,)
        Sizes of the orbits, and where each level begins in the following arrays.
    transversals, inverses : ndarray of uint8, shape (sum of orbits, points)
    index : ndarray of int16, shape (levels, points)
        Number of a place in an orbit.

    Returns
    -------
    consumed, written : int
    """
    levels = points.size
    count = min(keys.size, out.size // moves.shape[0])
    digits = np.empty(levels, dtype=np.int64)
    element = np.empty(levels, dtype=np.uint8)
    images = np.empty(levels, dtype=np.uint8)
    written = 0
    for i in range(count):
        rest = np.int64(keys[i])
        for level in range(levels - 1, -1, -1):
            digits[level] = rest % orbits[level]
            rest //= orbits[level]
        for level in range(levels):
            # Where the element brings this level's point: the later factors do not move it.
            place = points[level]
            for factor in range(level, -1, -1):
                place = np.int64(transversals[starts[factor] + digits[factor], place])
            element[level] = place
        for move in range(moves.shape[0]):
            for level in range(levels):
                images[level] = moves[move, element[level]]
            rank = np.int64(0)
            for level in range(levels):
                number = np.int64(index[level, images[level]])
                rank = rank * orbits[level] + number
                back = inverses[starts[level] + number]
                for later in range(level + 1, levels):
                    images[later] = back[images[later]]
            out[written] = np.uint64(rank)
            written += 1
    return count, written


@kernel
def expand_words(keys, out, moves, classes, binomials):
    """Neighbours of words.

    Parameters
    ----------
    keys : ndarray of uint64, shape (n,)
    out : ndarray of uint64, shape (m,)
    moves : ndarray of uint8, shape (moves, points)
        Image lists: what stands at place ``i`` afterwards came from place ``g[i]``.
    classes, binomials
        See :func:`~pipeline.spaces.permutations.ranking.rank_of_word`.

    Returns
    -------
    consumed, written : int
    """
    count = min(keys.size, out.size // moves.shape[0])
    word = np.empty(moves.shape[1], dtype=np.uint8)
    moved = np.empty(moves.shape[1], dtype=np.uint8)
    parts = np.empty(classes.shape[0], dtype=np.int64)
    written = 0
    for i in range(count):
        decode_word(np.int64(keys[i]), word, parts, classes, binomials)
        for move in range(moves.shape[0]):
            for place in range(word.size):
                moved[place] = word[moves[move, place]]
            out[written] = np.uint64(rank_of_word(moved, classes, binomials))
            written += 1
    return count, written


@kernel
def expand_short_words(keys, out, tables, classes, binomials):
    """Neighbours of words of at most 64 places.

    Parameters
    ----------
    keys : ndarray of uint64, shape (n,)
    out : ndarray of uint64, shape (m,)
    tables : ndarray of uint64, shape (moves, bytes, 256)
        From :func:`~pipeline.spaces.permutations.words.move_tables`.
    classes, binomials
        See :func:`~pipeline.spaces.permutations.ranking.rank_of_word`.

    Returns
    -------
    consumed, written : int
    """
    count = min(keys.size, out.size // tables.shape[0])
    sets = np.empty(classes.shape[0], dtype=np.uint64)
    moved = np.empty(classes.shape[0], dtype=np.uint64)
    parts = np.empty(classes.shape[0], dtype=np.int64)
    written = 0
    for i in range(count):
        decode_sets(np.int64(keys[i]), sets, parts, classes, binomials)
        for move in range(tables.shape[0]):
            for number in range(sets.size):
                places = np.uint64(0)
                rest = sets[number]
                for byte in range(tables.shape[1]):
                    places |= tables[np.uint64(move), np.uint64(byte), rest & np.uint64(255)]
                    rest >>= np.uint64(8)
                moved[number] = places
            out[written] = np.uint64(rank_of_sets(moved, classes, binomials))
            written += 1
    return count, written
