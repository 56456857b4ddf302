"""Ranks of tile orders and keys of positions."""

from __future__ import annotations

import math
from itertools import permutations
from math import factorial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.spaces.sliding.ranking import MAX_TILES, order_of, rank_of, rank_weights, reciprocals
from pipeline.spaces.sliding.space import Sliding
from storage.errors import InvalidInput
from tests.spaces import slow_sliding


def parity(order: list[int]) -> int:
    """Number of pairs out of order, modulo 2."""
    return sum(order[i] > order[j] for i in range(len(order)) for j in range(i + 1, len(order))) % 2


def rank(order: list[int]) -> int:
    """Rank of an order of any length."""
    return rank_of(order, rank_weights(len(order)))


orders = st.integers(0, MAX_TILES).flatmap(lambda tiles: st.permutations(range(tiles)))


@given(orders)
def test_rank_round_trip(order: list[int]) -> None:
    number = rank(order)
    assert 0 <= number < max(1, factorial(len(order)) // 2)
    assert order_of(number, parity(order), len(order), rank_weights(len(order))) == order


@pytest.mark.parametrize("tiles", range(2, 8))
def test_ranks_number_the_orders_of_one_parity(tiles: int) -> None:
    """In lexicographic order and without gaps."""
    for odd in (0, 1):
        ranks = [rank(list(order)) for order in permutations(range(tiles)) if parity(list(order)) == odd]
        assert ranks == list(range(factorial(tiles) // 2))


boards = st.sampled_from(
    [(2, 2, 3), (2, 3, 0), (3, 3, 8), (3, 3, 4), (3, 4, 6), (4, 3, 11), (2, 8, 9), (4, 4, 15), (4, 4, 1)]
)


@given(boards, st.lists(st.sampled_from(["up", "down", "left", "right"]), max_size=80))
def test_key_round_trip(board: tuple[int, int, int], walk: list[str]) -> None:
    rows, cols, blank = board
    space = Sliding(rows=rows, cols=cols, blank=blank)
    position = slow_sliding.root(rows, cols, blank)
    for move in walk:
        position = slow_sliding.moved(position, rows, cols).get(move, position)
    number = space.key_of(np.array(position, dtype=np.uint8))
    assert 0 <= number < 2**63
    assert number & 15 == 0
    back = space.state_of(number)
    assert space.key_of(back) == number
    if (rows, cols) != (4, 4):
        assert tuple(back.tolist()) == position
    # The mask does not change the position.
    assert space.state_of(number | 5).tolist() == back.tolist()


def test_all_positions_of_a_board_have_different_keys() -> None:
    space = Sliding(rows=2, cols=3)
    keys = [space.key_of(np.array(board, dtype=np.uint8)) for level in slow_sliding.levels(2, 3, 5) for board in level]
    assert len(set(keys)) == len(keys) == 360


def test_positions_of_the_other_half_are_refused() -> None:
    space = Sliding(rows=2, cols=3)
    reachable = {board for level in slow_sliding.levels(2, 3, 5) for board in level}
    for board in permutations(range(6)):
        if board in reachable:
            space.key_of(np.array(board, dtype=np.uint8))
        else:
            with pytest.raises(InvalidInput, match="cannot be reached"):
                space.key_of(np.array(board, dtype=np.uint8))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rows": 0}, "rows is 0"),
        ({"rows": 17, "cols": 1}, "rows is 17"),
        ({"rows": 3, "cols": 6}, "18 cells"),
        ({"rows": 3, "cols": 3, "blank": 9}, "cells of the board are 0 to 8"),
        ({"rows": 3, "cols": 3, "blank": -1}, "blank is -1"),
        ({"rows": "three"}, "rows is 'three'"),
        ({"rows": 3, "colums": 3}, "no parameter 'colums'"),
    ],
)
def test_what_is_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        Sliding(**parameters)
    assert "\n" not in str(caught.value)


def test_reference_counts(sliding_counts: dict[tuple[int, int], list[int]]) -> None:
    for (rows, cols), terms in sliding_counts.items():
        if rows * cols > 16:
            continue
        for space in (Sliding(rows=rows, cols=cols), Sliding(rows=cols, cols=rows)):
            reference = space.reference()
            assert reference is not None
            assert reference.states == tuple(terms)
            assert reference.complete
    assert Sliding(rows=3, cols=3, blank=4).reference() is None


@pytest.mark.parametrize("tiles", range(3, MAX_TILES + 1))
def test_the_floor_by_reciprocal_is_the_quotient(tiles: int) -> None:
    weights = rank_weights(tiles)
    for weight, scale in zip(weights.tolist(), reciprocals(weights).tolist(), strict=True):
        for quotient in range(tiles if weight else 0):
            # Rounding is monotonic, so what holds for the least and the greatest number holds between them.
            for rest in (quotient * weight, quotient * weight + weight - 1):
                assert math.floor((rest + 0.5) * scale) == quotient
