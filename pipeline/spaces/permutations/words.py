"""Words: arrangements of letters some of which are equal.

The places fall into *orbits*, those that the moves bring onto each other; the letters of an orbit stay in it. In each
orbit a word is described letter by letter, the places of a letter among those that no earlier letter has, counted from
the last one. Such a set of places ``p[1] < p[2] < ...`` has the rank ``C(p[1], 1) + C(p[2], 2) + ...`` (combinatorial
number system); the rank of the word is their mixed radix number. The most frequent letter of an orbit is where the
others are not.
"""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import NDArray

LARGEST_COUNT = 2**63
# Stands in words for the most frequent letter of an orbit.
FILLER = 255
_SATURATED = 2**63 - 1


def filler(orbit: list[int], word: list[int]) -> int:
    """The most frequent letter of an orbit, the largest of several."""
    letters = [word[place] for place in orbit]
    return max(letters, key=lambda letter: (letters.count(letter), letter))


def letter_classes(orbits: list[list[int]], word: list[int]) -> NDArray[np.int64]:
    """The letters to describe, orbit by orbit.

    Parameters
    ----------
    orbits : list of list of int
        Places of each orbit; internally words are kept in this order.
    word : list of int
        Letter at each place.

    Returns
    -------
    ndarray of int64, shape (classes, 5)
        First place of the orbit and the one behind its last, in the order of the orbits; letter; how often it occurs;
        how many places this and the later letters have.
    """
    classes = []
    first = 0
    for orbit in orbits:
        letters = [word[place] for place in orbit]
        left = len(orbit)
        for letter in sorted(set(letters) - {filler(orbit, word)}):
            classes.append((first, first + len(orbit), letter, letters.count(letter), left))
            left -= letters.count(letter)
        first += len(orbit)
    return np.array(classes, dtype=np.int64).reshape(-1, 5)


def count_words(orbits: list[list[int]], word: list[int]) -> int:
    """How many words have the letters of a word in each orbit."""
    result = 1
    for orbit in orbits:
        left = len(orbit)
        letters = [word[place] for place in orbit]
        for letter in set(letters):
            result *= comb(left, letters.count(letter))
            left -= letters.count(letter)
    return result


def binomial_table(size: int) -> NDArray[np.int64]:
    """Binomial coefficients ``C(n, k)`` for ``n < size`` and ``k <= size``, no larger than 2^63 - 1.

    Returns
    -------
    ndarray of int64, shape (size, size + 1)
    """
    return np.array([[min(comb(n, k), _SATURATED) for k in range(size + 1)] for n in range(size)], dtype=np.int64)


def move_tables(moves: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """What moves do to sets of at most 64 places, one byte of a set at a time.

    Parameters
    ----------
    moves : ndarray of uint8, shape (moves, places)
        Image lists.

    Returns
    -------
    ndarray of uint64, shape (moves, bytes, 256)
        Where the places of a byte go to; the sets of all bytes are joined.
    """
    places = moves.shape[1]
    targets = np.zeros((len(moves), -(-places // 8) * 8), dtype=np.uint64)
    targets[:, :places] = np.uint64(1) << np.argsort(moves, axis=1).astype(np.uint64)
    bits = np.arange(256)[:, None] >> np.arange(8) & 1 == 1
    chosen = np.where(bits, targets.reshape(len(moves), -1, 1, 8), np.uint64(0))
    tables: NDArray[np.uint64] = np.bitwise_or.reduce(chosen, axis=3)
    return tables
