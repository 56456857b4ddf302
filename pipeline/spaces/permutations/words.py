"""Words: arrangements of letters some of which are equal.

The places fall into *orbits*, those that the moves bring onto each other; the letters of an orbit stay in it. In each
orbit a word is described letter by letter, the places of a letter among those that no earlier letter has. Such a set of
places ``p[1] < p[2] < ...`` has the rank ``C(p[1], 1) + C(p[2], 2) + ...`` (combinatorial number system); the rank of
the word is their mixed radix number.
"""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import NDArray

LARGEST_COUNT = 2**63
# Stands in words for the last letter of an orbit, which has no class of its own.
LAST_LETTER = 255
_SATURATED = 2**63 - 1


def letter_classes(orbits: list[list[int]], word: list[int]) -> NDArray[np.int64]:
    """The letters to describe, orbit by orbit; the last letter of an orbit is where the others are not.

    Parameters
    ----------
    orbits : list of list of int
        Places of each orbit; internally words are kept in this order.
    word : list of int
        Letter at each place.

    Returns
    -------
    ndarray of int64, shape (classes, 4)
        First place of the orbit and the one behind its last, in the order of the orbits; letter; how often it occurs.
    """
    classes = []
    first = 0
    for orbit in orbits:
        letters = sorted(word[place] for place in orbit)
        for letter in sorted(set(letters))[:-1]:
            classes.append((first, first + len(orbit), letter, letters.count(letter)))
        first += len(orbit)
    return np.array(classes, dtype=np.int64).reshape(-1, 4)


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
