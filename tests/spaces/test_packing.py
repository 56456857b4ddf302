"""Packers against the standard library, and with each other."""

from __future__ import annotations

from itertools import combinations, permutations, product

import numpy as np
import pytest

from pipeline.packing import (
    mixed_radix_digits,
    mixed_radix_ranks,
    permutation_ranks,
    permutations_of,
    subset_ranks,
    subsets_of,
)
from storage.errors import InvalidInput


@pytest.mark.parametrize("size", [1, 2, 5, 6])
def test_permutations(size: int) -> None:
    rows = list(permutations(range(size)))
    assert permutation_ranks(rows).tolist() == list(range(len(rows)))
    assert permutations_of(range(len(rows)), size).tolist() == [list(row) for row in rows]


@pytest.mark.parametrize("radices", [[2], [3, 1, 4], [2, 2, 5]])
def test_digits(radices: list[int]) -> None:
    rows = list(product(*map(range, radices)))
    assert mixed_radix_ranks(rows, radices).tolist() == list(range(len(rows)))
    assert mixed_radix_digits(range(len(rows)), radices).tolist() == [list(row) for row in rows]


@pytest.mark.parametrize(("size", "count"), [(1, 1), (6, 3), (7, 2), (7, 6), (5, 5)])
def test_subsets(size: int, count: int) -> None:
    rows = list(combinations(range(size), count))
    assert subset_ranks(rows, size).tolist() == list(range(len(rows)))
    assert subsets_of(range(len(rows)), size, count).tolist() == [list(row) for row in rows]


def test_large_ranks() -> None:
    last = np.array([range(19, -1, -1)])
    assert permutation_ranks(last).tolist() == [2432902008176639999]
    assert permutations_of([2432902008176639999], 20).tolist() == last.tolist()
    with pytest.raises(InvalidInput, match="more than"):
        permutation_ranks([range(21)])
    with pytest.raises(InvalidInput, match="more than"):
        mixed_radix_ranks([[0] * 65], [2] * 65)
