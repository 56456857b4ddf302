"""Numbers for states: permutations, digits and subsets as integers without gaps, for many states at once.

Each pair of functions is inverse to each other; ranks ascend as the rows do.

>>> import numpy as np
>>> from pipeline.packing import permutation_ranks, permutations_of, subset_ranks
>>> permutation_ranks(np.array([[0, 1, 2], [2, 1, 0]])).tolist(), permutations_of(np.array([3]), 3).tolist()
([0, 5], [[1, 2, 0]])
>>> subset_ranks(np.array([[0, 1], [0, 2], [2, 3]]), 4).tolist()
[0, 1, 5]
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, factorial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from storage.errors import InvalidInput

Ranks = NDArray[np.uint64]
Rows = NDArray[np.int64]


def _refuse_large(count: int, what: str) -> None:
    if count > 1 << 63:
        raise InvalidInput(f"{what} have {count} ranks, more than 2**63")


def permutation_ranks(rows: ArrayLike) -> Ranks:
    """Lexicographic ranks, 0 to n! - 1, of permutations of 0 to n - 1.

    Parameters
    ----------
    rows : array_like of int, shape (m, n)
        One permutation a row; ``n`` at most 20.

    Returns
    -------
    ndarray of uint64, shape (m,)
    """
    given = np.asarray(rows, dtype=np.int64)
    size = given.shape[1]
    _refuse_large(factorial(size), f"permutations of {size}")
    ranks = np.zeros(len(given), dtype=np.uint64)
    for place in range(size):
        smaller = (given[:, place + 1 :] < given[:, place : place + 1]).sum(axis=1)
        ranks += smaller.astype(np.uint64) * np.uint64(factorial(size - 1 - place))
    return ranks


def permutations_of(ranks: ArrayLike, size: int) -> Rows:
    """Permutations with the given ranks; inverse of :func:`permutation_ranks`, shape (m, size)."""
    _refuse_large(factorial(size), f"permutations of {size}")
    rest = np.array(ranks, dtype=np.uint64)
    rows = np.empty((rest.size, size), dtype=np.int64)
    for place in range(size):
        weight = np.uint64(factorial(size - 1 - place))
        rows[:, place] = rest // weight
        rest %= weight
    for place in range(size - 2, -1, -1):
        rows[:, place + 1 :] += rows[:, place + 1 :] >= rows[:, place : place + 1]
    return rows


def mixed_radix_ranks(rows: ArrayLike, radices: Sequence[int]) -> Ranks:
    """Ranks of digits, the first of them most significant.

    Parameters
    ----------
    rows : array_like of int, shape (m, n)
        Digit i is 0 to ``radices[i] - 1``.
    radices : sequence of int
    """
    given = np.asarray(rows, dtype=np.int64)
    total = 1
    ranks = np.zeros(len(given), dtype=np.uint64)
    for place, radix in enumerate(radices):
        total *= radix
        ranks = ranks * np.uint64(radix) + given[:, place].astype(np.uint64)
    _refuse_large(total, f"digits of the radices {list(radices)}")
    return ranks


def mixed_radix_digits(ranks: ArrayLike, radices: Sequence[int]) -> Rows:
    """Digits with the given ranks; inverse of :func:`mixed_radix_ranks`, shape (m, n)."""
    rest = np.array(ranks, dtype=np.uint64)
    rows = np.empty((rest.size, len(radices)), dtype=np.int64)
    for place in range(len(radices) - 1, -1, -1):
        rows[:, place] = rest % np.uint64(radices[place])
        rest //= np.uint64(radices[place])
    return rows


def subset_ranks(rows: ArrayLike, size: int) -> Ranks:
    """Lexicographic ranks of subsets of 0 to ``size - 1`` that have k elements each.

    Parameters
    ----------
    rows : array_like of int, shape (m, k)
        The elements of each, ascending.
    size : int
    """
    given = np.asarray(rows, dtype=np.int64)
    count = given.shape[1]
    _refuse_large(comb(size, count), f"subsets of {size}")
    # The combinatorial number system, counted from the other end (Knuth, TAOCP 4A, 7.2.1.3).
    ranks = np.full(len(given), comb(size, count) - 1, dtype=np.uint64)
    for place in range(count):
        weights = np.array([comb(size - 1 - element, count - place) for element in range(size)], dtype=np.uint64)
        ranks -= weights[given[:, place]]
    return ranks


def subsets_of(ranks: ArrayLike, size: int, count: int) -> Rows:
    """Subsets with the given ranks; inverse of :func:`subset_ranks`, shape (m, count)."""
    _refuse_large(comb(size, count), f"subsets of {size}")
    rest = np.uint64(comb(size, count) - 1) - np.array(ranks, dtype=np.uint64)
    rows = np.empty((rest.size, count), dtype=np.int64)
    for place in range(count):
        weights = np.array([comb(size - 1 - element, count - place) for element in range(size)], dtype=np.uint64)
        # The first element whose weight is not above what is left; weights descend.
        rows[:, place] = size - np.searchsorted(weights[::-1], rest, side="right")
        rest -= weights[rows[:, place]]
    return rows
