"""Ranks of words (:mod:`pipeline.spaces.permutations.words`): letter by letter, and as sets of places."""

from __future__ import annotations

import numpy as np

from pipeline.spaces.permutations.words import FILLER
from storage.compiler.kernel import kernel


@kernel(inline="always")
def _choices(left, chosen, binomials):
    """``C(left, chosen)``, which may lie behind the end of the table."""
    if chosen == left:
        return np.int64(1)
    return binomials[left - 1, chosen - 1] + binomials[left - 1, chosen]


@kernel
def rank_of_word(word, classes, binomials):
    """Rank of a word.

    Parameters
    ----------
    word : ndarray of uint8, shape (places,)
        Letters, orbit by orbit, ``FILLER`` for the most frequent one of an orbit.
    classes : ndarray of int64, shape (classes, 5)
        From :func:`~pipeline.spaces.permutations.words.letter_classes`.
    binomials : ndarray of int64
        From :func:`~pipeline.spaces.permutations.words.binomial_table`.

    Returns
    -------
    int64
    """
    rank = np.int64(0)
    for number in range(classes.shape[0]):
        first, end, letter = classes[number, 0], classes[number, 1], classes[number, 2]
        part = np.int64(0)
        place = np.int64(0)
        found = np.int64(0)
        # Without branches: whether a letter is this one cannot be foreseen.
        for position in range(end - 1, first - 1, -1):
            here = np.int64(word[position])
            same = np.int64(here == letter)
            found += same
            part += same * binomials[np.uint64(place), np.uint64(found)]
            place += np.int64(here >= letter)
        rank = rank * _choices(classes[number, 4], classes[number, 3], binomials) + part
    return rank


@kernel(inline="always")
def _split(rank, parts, classes, binomials):
    """The digits of a rank, one for each letter."""
    for number in range(classes.shape[0] - 1, -1, -1):
        choices = _choices(classes[number, 4], classes[number, 3], binomials)
        rest = rank // choices
        parts[number] = rank - rest * choices
        rank = rest


@kernel
def decode_word(rank, word, parts, classes, binomials):
    """Write the word with a given rank to ``word``; the inverse of :func:`rank_of_word`.

    ``parts`` is scratch, an ndarray of int64, shape (classes,).
    """
    _split(rank, parts, classes, binomials)
    word[:] = FILLER
    for number in range(classes.shape[0]):
        missing = classes[number, 3]
        place = classes[number, 4] - 1
        part = parts[number]
        for position in range(classes[number, 0], classes[number, 1]):
            if word[position] == FILLER:
                if part >= binomials[place, missing]:
                    part -= binomials[place, missing]
                    word[position] = classes[number, 2]
                    missing -= 1
                place -= 1
            if missing == 0:
                break


@kernel
def decode_words(ranks, words, classes, binomials):
    """Write the words with given ranks to the rows of ``words``."""
    parts = np.empty(classes.shape[0], dtype=np.int64)
    for i in range(ranks.size):
        decode_word(np.int64(ranks[i]), words[i], parts, classes, binomials)


@kernel(inline="always")
def _bit_count(bits):
    """Set bits of a 64-bit integer, in the form that compilers turn into one instruction where there is one."""
    bits = bits - ((bits >> np.uint64(1)) & np.uint64(0x5555555555555555))
    bits = (bits & np.uint64(0x3333333333333333)) + ((bits >> np.uint64(2)) & np.uint64(0x3333333333333333))
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (bits * np.uint64(0x0101010101010101)) >> np.uint64(56)


@kernel(inline="always")
def _orbit(classes, number):
    """The places of a letter's orbit as a set."""
    size = np.uint64(classes[number, 1] - classes[number, 0])
    return (np.uint64(0xFFFFFFFFFFFFFFFF) >> (np.uint64(64) - size)) << np.uint64(classes[number, 0])


@kernel(inline="always")
def rank_of_sets(sets, classes, binomials):
    """Rank of a word whose letters are given as sets of places, one bit a place; at most 64 places."""
    rank = np.int64(0)
    free = np.uint64(0)
    for number in range(classes.shape[0]):
        if number == 0 or classes[number, 0] != classes[number - 1, 0]:
            free = _orbit(classes, number)
        rest = sets[number]
        part = np.int64(0)
        for missing in range(classes[number, 3], 0, -1):
            lowest = rest & (~rest + np.uint64(1))
            behind = free & ~(lowest | (lowest - np.uint64(1)))
            part += binomials[_bit_count(behind), np.uint64(missing)]
            rest ^= lowest
        free &= ~sets[number]
        rank = rank * _choices(classes[number, 4], classes[number, 3], binomials) + part
    return rank


@kernel(inline="always")
def decode_sets(rank, sets, parts, classes, binomials):
    """Write the letters of a word as sets of places to ``sets``; the inverse of :func:`rank_of_sets`."""
    _split(rank, parts, classes, binomials)
    free = np.uint64(0)
    for number in range(classes.shape[0]):
        if number == 0 or classes[number, 0] != classes[number - 1, 0]:
            free = _orbit(classes, number)
        missing = classes[number, 3]
        part = parts[number]
        chosen = np.uint64(0)
        rest = free
        for place in range(classes[number, 4] - 1, -1, -1):
            lowest = rest & (~rest + np.uint64(1))
            rest ^= lowest
            # Unsigned indices: others are looked at for being negative.
            count = binomials[np.uint64(place), np.uint64(missing)]
            taken = np.int64(part >= count)
            part -= taken * count
            missing -= taken
            chosen |= lowest & (np.uint64(0) - np.uint64(taken))
        sets[number] = chosen
        free &= ~chosen
