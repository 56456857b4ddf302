"""Counts of both kinds of census against each other, known sequences and breadth-first jobs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline import Census, Search, Snake
from pipeline.census.counts import largest, shapes_of
from pipeline.census.prefixes import prefix_edges
from pipeline.census.rules import swept
from pipeline.census.tasks import find_stuck, search_components
from storage.errors import InvalidInput
from tests.spaces import slow_snake

Counts = dict[str, Any]


def test_shapes_by_the_formula(snake_counts: Counts) -> None:
    assert [shapes_of(n) for n in range(len(snake_counts["A037245"]))] == snake_counts["A037245"]
    assert [shapes_of(n) for n in range(1, 9)] == [len(slow_snake.shapes(n)) for n in range(1, 9)]
    with pytest.raises(InvalidInput):
        shapes_of(largest() + 1)
    with pytest.raises(InvalidInput):
        shapes_of(-1)


@pytest.mark.parametrize("n", range(21))
def test_exhaustive_and_pruned_agree(n: int, snake_counts: Counts) -> None:
    exhaustive = Census(n, exhaustive=True).run()
    pruned = Census(n).run()
    assert exhaustive.shapes == pruned.shapes == snake_counts["A037245"][n]
    assert exhaustive.stuck_shapes == pruned.stuck_shapes == ()
    assert exhaustive.bends is not None
    assert sum(exhaustive.bends) == exhaustive.shapes


@pytest.mark.slow
@pytest.mark.parametrize("n", [21, 22])
def test_exhaustive_and_pruned_agree_on_large_ones(n: int, snake_counts: Counts) -> None:
    exhaustive = Census(n, exhaustive=True).run()
    pruned = Census(n).run()
    assert exhaustive.shapes == pruned.shapes == snake_counts["A037245"][n]
    assert exhaustive.stuck_shapes == pruned.stuck_shapes == ()


@pytest.mark.parametrize("n", range(1, 13))
def test_bends_are_the_known_depths(n: int, snake_counts: Counts) -> None:
    assert list(Census(n, exhaustive=True).run().bends or ()) == snake_counts["depth_counts"][str(n)]


@pytest.mark.parametrize("n", range(13, 19))
def test_bends_are_the_depths_of_a_breadth_first_job(n: int, tmp_path: Path) -> None:
    table = Search(Snake(n=n), tmp_path / "job").run()
    counted = Census(n, exhaustive=True).run()
    assert counted.bends == table.states
    assert counted.shapes == table.total


@pytest.mark.parametrize("n", [5, 12, 15])
def test_static_counts_the_same_shapes(n: int, snake_counts: Counts) -> None:
    static = Census(n, exhaustive=True, collision="static").run()
    assert static.shapes == snake_counts["A037245"][n]
    assert static.bends == Census(n, exhaustive=True).run().bends
    assert "stuck" not in static.document()


def test_the_first_stuck_shapes() -> None:
    assert Census(23).run().stuck_shapes == ()
    assert Census(24).run().stuck_shapes == ("10101221121112111121211", "10101221121112111122021")
    assert Census(25).run().stuck_shapes == ("110101111011101100121211",)


def test_the_first_stuck_shapes_unfold(snake_counts: Counts) -> None:
    for n in (24, 25):
        result = Census(n).run()
        assert result.locked_shapes == ()
        assert result.document()["reachable"] == snake_counts["A037245"][n]


@pytest.mark.parametrize("n", [24, 25, 26])
def test_stuck_shapes_are_stuck_in_plain_python(n: int) -> None:
    for shape in Census(n).run().stuck_shapes:
        assert slow_snake.canonical(shape) == shape
        bends = {joint for joint, digit in enumerate(shape) if digit != "1"}
        straightened = [other for other in slow_snake.neighbours(shape) if other.count("1") > shape.count("1")]
        assert bends
        assert not straightened


def straightened(shape: str) -> str:
    """What is left when bends are straightened until none can be."""
    while True:
        fewer = [other for other in slow_snake.neighbours(shape) if other.count("1") > shape.count("1")]
        if not fewer:
            return shape
        shape = fewer[0]


@pytest.mark.parametrize("n", [24, 25, pytest.param(26, marks=pytest.mark.slow)])
def test_stuck_shapes_unfold_in_plain_python(n: int) -> None:
    """Bending one more joint first is enough for all of these."""
    for shape in Census(n).run().stuck_shapes:
        assert any(straightened(other) == "1" * (n - 1) for other in slow_snake.neighbours(shape))


def test_the_longest_snakes() -> None:
    """A few prefixes of n = 40: more vertices than one word of joints holds, and the larger window throughout."""
    found = find_stuck(swept, 40, prefix_edges(40, False), 0, 1 << 17)
    assert found["nodes"] > 1000
    spiral = "0" + "1" * 10 + "0" + "1" * 10 + "0" + "1" * 15 + "0"
    assert len(spiral) == 39
    assert search_components(swept, 40, [slow_snake.canonical(spiral)]) == {"locked": []}


@pytest.mark.parametrize("n", [-1, 41])
def test_lengths_that_a_census_does_not_take(n: int) -> None:
    with pytest.raises(InvalidInput, match=f"n is {n}"):
        Census(n)


def test_static_needs_exhaustive() -> None:
    with pytest.raises(InvalidInput, match="exhaustive"):
        Census(10, collision="static")
