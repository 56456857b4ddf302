"""The digest of a set of keys."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from storage.keys.digest import add_digests, digest_of


def slow_digest(keys: list[int]) -> int:
    """SplitMix64's finaliser of each key plus the increment, added up."""
    total = 0
    for key in keys:
        z = (key + 0x9E3779B97F4A7C15) % 2**64
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        total += z ^ z >> 31
    return total % 2**64


def digest(keys: list[int]) -> int:
    """Digest of a list."""
    return int(digest_of(np.array(keys, dtype=np.uint64)))


keys = st.lists(st.integers(0, 2**64 - 1), max_size=50, unique=True)


def test_first_value_of_splitmix() -> None:
    """The generator's first output for the seed 0, as its reference program prints it."""
    assert digest([0]) == 0xE220A8397B1DCDAF
    assert digest([]) == 0


@given(keys)
def test_against_the_slow_one(values: list[int]) -> None:
    assert digest(values) == slow_digest(values)


@given(keys, st.randoms(use_true_random=False), st.lists(st.integers(0, 50), max_size=5))
def test_order_and_cuts_do_not_matter(values: list[int], random: Random, cuts: list[int]) -> None:
    whole = digest(values)
    random.shuffle(values)
    total = 0
    bounds = [0, *sorted(cuts), len(values)]
    for start, stop in pairwise(bounds):
        total = add_digests(total, digest(values[start : max(start, stop)]))
    assert total == whole


@given(keys.filter(bool), st.integers(0, 2**64 - 1))
def test_another_key_gives_another_digest(values: list[int], other: int) -> None:
    if other not in values:
        assert digest([other, *values[1:]]) != digest(values)
        assert digest([other, *values]) != digest(values)
