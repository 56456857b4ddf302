"""Ranks of words (:mod:`pipeline.spaces.permutations.words`)."""

from __future__ import annotations

import numba
import numpy as np

from pipeline.spaces.permutations.words import LAST_LETTER


@numba.njit(nogil=True, cache=True)
def _choices(left, chosen, binomials):
    """``C(left, chosen)``; the table ends before ``left`` may."""
    if chosen == 0 or chosen == left:
        return np.int64(1)
    return binomials[left - 1, chosen - 1] + binomials[left - 1, chosen]


@numba.njit(nogil=True, cache=True)
def rank_of_word(word, classes, binomials):
    """Rank of a word.

    Parameters
    ----------
    word : ndarray of uint8, shape (places,)
        Letters, orbit by orbit, ``LAST_LETTER`` for the last one of an orbit.
    classes : ndarray of int64, shape (classes, 4)
        From :func:`~pipeline.spaces.permutations.words.letter_classes`.
    binomials : ndarray of int64
        From :func:`~pipeline.spaces.permutations.words.binomial_table`.

    Returns
    -------
    int64
    """
    rank = np.int64(0)
    left = np.int64(0)
    for number in range(classes.shape[0]):
        first, end, letter, count = classes[number, 0], classes[number, 1], classes[number, 2], classes[number, 3]
        if number == 0 or first != classes[number - 1, 0]:
            left = end - first
        part = np.int64(0)
        place = np.int64(0)
        found = np.int64(0)
        for position in range(first, end):
            here = np.int64(word[position])
            if here == letter:
                found += 1
                part += binomials[place, found]
            place += np.int64(here >= letter)
        rank = rank * _choices(left, count, binomials) + part
        left -= count
    return rank


@numba.njit(nogil=True, cache=True)
def decode_word(rank, word, classes, binomials):
    """Write the word with a given rank to ``word``; the inverse of :func:`rank_of_word`."""
    parts = np.empty(classes.shape[0], dtype=np.int64)
    # How many places the letters from this one on have.
    left = np.int64(0)
    for number in range(classes.shape[0] - 1, -1, -1):
        if number == classes.shape[0] - 1 or classes[number, 0] != classes[number + 1, 0]:
            left = classes[number, 1] - classes[number, 0]
            for other in range(number):
                if classes[other, 0] == classes[number, 0]:
                    left -= classes[other, 3]
        choices = _choices(left, classes[number, 3], binomials)
        parts[number] = rank % choices
        rank //= choices
        if number > 0:
            left += classes[number - 1, 3]
    word[:] = LAST_LETTER
    for number in range(classes.shape[0]):
        first, end = classes[number, 0], classes[number, 1]
        missing = classes[number, 3]
        part = parts[number]
        place = np.int64(-1)
        for position in range(first, end):
            place += np.int64(word[position] == LAST_LETTER)
        for position in range(end - 1, first - 1, -1):
            if word[position] != LAST_LETTER:
                continue
            if missing > 0 and part >= binomials[place, missing]:
                part -= binomials[place, missing]
                word[position] = classes[number, 2]
                missing -= 1
            place -= 1
