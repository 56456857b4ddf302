"""States of levels that were not made: known ones exactly, others near the truth and marked."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from pipeline.census.counts import shapes_of
from pipeline.estimate.growth import Source, growth
from pipeline.estimate.shapes import counted_shapes, extrapolated_shapes, largest_counted
from pipeline.spaces.contract import Detection
from pipeline.spaces.registry import make_space
from pipeline.spaces.sliding.space import Sliding
from pipeline.spaces.snake.space import Snake
from tests.engine.toys import Toy

PATH = Toy(lambda node: [node + 1], [0], 1, Detection.LEVELS, True)


def test_all_levels_of_the_fifteen_puzzle_are_known(sliding_counts: dict[tuple[int, int], list[int]]) -> None:
    grown = growth(make_space("fifteen", {}), [1, 2], False)
    assert list(grown.states) == sliding_counts[4, 4]
    assert sum(grown.states) == math.factorial(16) // 2
    assert len(grown.states) == 81
    assert grown.ends
    assert grown.sources == (Source.COUNTED,) * 2 + (Source.KNOWN,) * 79


def test_what_a_search_has_counted_comes_first() -> None:
    grown = growth(Sliding(rows=3, cols=3), [1, 2, 4, 8, 16, 20], False)
    assert grown.sources[:7] == (Source.COUNTED,) * 6 + (Source.KNOWN,)
    assert grown.to_depth(3).states == (1, 2, 4, 8)
    assert not grown.to_depth(3).ends


def test_a_whole_graph_needs_no_extrapolation() -> None:
    grown = growth(PATH, [1, 1, 1, 1, 1], True)
    assert (grown.states, grown.ends, grown.total) == ((1, 1, 1, 1, 1), True, 5)


def test_shapes_by_bends_are_those_of_a_reference_search(snake_counts: dict[str, object]) -> None:
    depths = snake_counts["depth_counts"]
    assert isinstance(depths, dict)
    for n, counts in depths.items():
        assert list(counted_shapes(int(n)) or ()) == counts
    for n in range(1, largest_counted() + 1):
        assert sum(counted_shapes(n) or ()) == shapes_of(n)


@pytest.mark.parametrize(("largest", "n"), [(12, 17), (16, 23), (20, 23)])
def test_shapes_of_longer_snakes_are_like_those_of_shorter_ones(largest: int, n: int) -> None:
    counts = counted_shapes(n)
    assert counts is not None
    estimates = extrapolated_shapes(n, shapes_of(n), largest)
    assert len(estimates) == n
    for count, estimate in zip(counts, estimates, strict=True):
        if count > max(counts) / 100:
            assert estimate == pytest.approx(count, rel=0.12 if largest > 12 else 0.16)


def test_a_long_snake_is_extrapolated_to_its_total() -> None:
    grown = growth(Snake(n=30), [1, 15, 420], False)
    assert grown.states[:3] == (1, 15, 420)
    assert sum(grown.states) == pytest.approx(shapes_of(30), rel=0.001)
    assert set(grown.sources[3:]) == {Source.EXTRAPOLATED}
    assert grown.ends


def test_a_snake_that_was_counted_is_known() -> None:
    counts = counted_shapes(21)
    assert counts is not None
    grown = growth(Snake(n=21), counts[:4], False)
    assert grown.states == counts
    assert set(grown.sources[4:]) == {Source.KNOWN}


def test_a_board_without_known_counts_comes_to_half_of_all_arrangements() -> None:
    board = Sliding(rows=3, cols=4, blank=5)
    assert board.reference() is None
    known = Sliding(rows=3, cols=4).reference()
    assert known is not None
    assert known.states is not None
    grown = growth(board, known.states[:24], False)
    assert sum(grown.states) == pytest.approx(math.factorial(12) // 2, rel=1e-6)
    assert grown.ends
    # Those of the same board with the blank in a corner, which were continued, go on much the same.
    assert len(grown.states) == pytest.approx(54, abs=5)
    assert max(grown.states) == pytest.approx(max(known.states), rel=0.05)


def test_growth_that_does_not_slow_down_is_cut() -> None:
    grown = growth(PATH, [2**depth for depth in range(12)], False)
    assert all(after == pytest.approx(2 * before, rel=0.01) for before, after in pairwise(grown.states[11:40]))
    assert grown.total is None
    assert len(grown.states) < 200
