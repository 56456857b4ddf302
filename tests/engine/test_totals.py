"""Whole searches against known counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline import Search, Sliding, Snake
from pipeline.spaces.permutations.space import Permutation
from storage.jobs.job import Job
from tests.conftest import DATA
from tests.engine.jobs import leftovers
from tests.spaces import slow_permutations, slow_sliding, slow_snake

LONG_START = "11112121111112111211111122111110101111"
MEMORY = 2**31
slow = pytest.mark.slow


@pytest.mark.parametrize("n", [*range(18), *(pytest.param(n, marks=slow) for n in (18, 19, 20))])
def test_snake(n: int, tmp_path: Path, snake_counts: dict[str, Any]) -> None:
    table = Search(Snake(n=n), job=tmp_path / "job", memory=MEMORY).run()
    assert table.complete
    assert table.total == snake_counts["A037245"][n]
    if 1 <= n <= 12:
        assert list(table.states) == snake_counts["depth_counts"][str(n)]
    assert leftovers(tmp_path / "job") == []
    # No shape this short is stuck, so one-sided expansion has to do.
    assert not any(manifest.exhaustive for manifest in Job.open(tmp_path / "job").manifests())


@pytest.mark.parametrize("n", [*range(13), *(pytest.param(n, marks=slow) for n in range(13, 20))])
def test_static_snake(n: int, tmp_path: Path, snake_counts: dict[str, Any]) -> None:
    table = Search(Snake(n=n, collision="static"), job=tmp_path / "job", memory=MEMORY).run()
    assert table.complete
    assert table.total == snake_counts["A037245"][n]
    if 1 <= n <= 8:
        assert table.states == tuple(map(len, slow_snake.levels(n, swept=False)))


@pytest.mark.parametrize("start", ["121", "0112", "1021101", "21012210"])
def test_snake_from_another_start(start: str, tmp_path: Path, snake_counts: dict[str, Any]) -> None:
    """Short snakes reach every shape from every shape; the depths are those of the slow search."""
    table = Search(Snake(start=start), job=tmp_path / "job", memory=MEMORY).run()
    assert table.total == snake_counts["A037245"][len(start) + 1]
    level, seen, counts = {slow_snake.canonical(start)}, set(), []
    while level:
        counts.append(len(level))
        seen |= level
        level = {slow_snake.canonical(other) for shape in level for other in slow_snake.neighbours(shape)} - seen
    assert list(table.states) == counts


def test_the_snake_that_cannot_move(tmp_path: Path) -> None:
    table = Search(Snake(start=LONG_START), job=tmp_path / "job", memory=MEMORY).run()
    assert table.complete
    assert table.states == (1,)


@pytest.mark.parametrize(
    ("rows", "cols"),
    [(2, 2), (2, 3), (3, 2), (2, 4), (4, 2), (2, 5), (3, 3), *(pytest.param(*b, marks=slow) for b in ((3, 4), (2, 6)))],
)
def test_sliding(rows: int, cols: int, tmp_path: Path, sliding_counts: dict[tuple[int, int], list[int]]) -> None:
    table = Search(Sliding(rows=rows, cols=cols), job=tmp_path / "job", memory=MEMORY).run()
    assert table.complete
    assert list(table.states) == sliding_counts[min(rows, cols), max(rows, cols)]
    assert leftovers(tmp_path / "job") == []


@pytest.mark.parametrize(("rows", "cols", "blank"), [(1, 1, 0), (1, 6, 2), (6, 1, 5), (2, 2, 1), (2, 3, 1), (2, 4, 2)])
def test_sliding_from_another_cell(rows: int, cols: int, blank: int, tmp_path: Path) -> None:
    table = Search(Sliding(rows=rows, cols=cols, blank=blank), job=tmp_path / "job", memory=MEMORY).run()
    assert table.complete
    assert table.states == tuple(map(len, slow_sliding.levels(rows, cols, blank)))


@pytest.mark.parametrize("blank", [0, 4, 5])
def test_eight_puzzle_from_another_cell(blank: int, tmp_path: Path) -> None:
    """All positions, whether the board is symmetric about the start or not."""
    table = Search(Sliding(rows=3, cols=3, blank=blank), job=tmp_path / "job", memory=MEMORY).run()
    assert table.total == 181440
    counts = tuple(map(len, slow_sliding.levels(3, 3, blank, 14)))
    assert table.states[:15] == counts


@pytest.mark.parametrize("depth", [20, pytest.param(25, marks=slow)])
def test_fifteen(depth: int, tmp_path: Path, sliding_counts: dict[tuple[int, int], list[int]]) -> None:
    table = Search(Sliding(), job=tmp_path / "job", memory=MEMORY, max_depth=depth).run()
    assert not table.complete
    assert list(table.states) == sliding_counts[4, 4][: depth + 1]
    exactly = json.loads((DATA / "fifteen_exactly_n.json").read_text())["terms"]
    assert table.derived["exactly"] == exactly[: depth + 1]


@pytest.mark.parametrize(
    "parameters",
    [
        {"family": "pancake", "size": 8},
        {"family": "burnt-pancake", "size": 6},
        {"family": "cyclic-coxeter", "size": 8},
        {"family": "lrx", "size": 9},
        {"family": "lx", "size": 8},
        {"family": "hungarian-rings", "rings": "4,2,8,4"},
        {"family": "pocket-cube", "metric": "quarter"},
        pytest.param({"family": "pocket-cube", "metric": "half"}, marks=slow),
        pytest.param({"family": "top-spin", "size": 11}, marks=slow),
        pytest.param({"family": "pancake", "size": 11}, marks=slow),
    ],
    ids=lambda parameters: "-".join(map(str, parameters.values())),
)
def test_permutations(parameters: dict[str, Any], tmp_path: Path) -> None:
    space = Permutation(**parameters)
    table = Search(space, job=tmp_path / "job", memory=MEMORY).run()
    reference = space.reference()
    assert reference is not None
    assert table.complete
    assert table.states == reference.states
    assert leftovers(tmp_path / "job") == []


@pytest.mark.parametrize("word", ["000000001111", "001122001122"])
def test_words(word: str, tmp_path: Path) -> None:
    space = Permutation(family="lrx", size=len(word), start=word)
    levels = slow_permutations.levels(space.generators.images, space.parse(word).tolist())
    table = Search(space, job=tmp_path / "job", memory=MEMORY).run()
    assert table.states == tuple(map(len, levels))
