"""What ``docs/results.md`` and the files beside it say of locked shapes, in plain Python without code of the search."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from pipeline import Census
from pipeline.census.counts import shapes_of
from tests.census.families import DATA, families, locked_shapes, table
from tests.spaces import slow_snake

RESULTS = (DATA.parents[1] / "results.md").read_text(encoding="utf-8")
LOCKED = locked_shapes()
LENGTHS = sorted({len(shape) + 1 for shape in LOCKED})
MOST = 20_000


def rows() -> dict[int, tuple[int, ...]]:
    """The table of results by n: shapes, stuck, locked, reachable."""
    found = re.findall(r"^\| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|", RESULTS, re.MULTILINE)
    return {int(n): tuple(map(int, rest)) for n, *rest in found}


def component(shape: str) -> set[str]:
    """All shapes that moves lead to, at most ``MOST``."""
    found = {shape}
    waiting = [shape]
    while waiting and len(found) < MOST:
        for other in map(slow_snake.canonical, slow_snake.neighbours(waiting.pop())):
            if other not in found:
                found.add(other)
                waiting.append(other)
    return found


def test_there_are_some() -> None:
    assert "111101011111101110110012121111" in LOCKED
    assert sorted(set(LOCKED), key=lambda shape: (len(shape), shape)) == LOCKED


@pytest.mark.parametrize("n", [n if n <= 33 else pytest.param(n, marks=pytest.mark.slow) for n in LENGTHS])
def test_locked_shapes_are_locked(n: int) -> None:
    """Components that are closed, without the straight snake, and all in the list."""
    everything = set(LOCKED)
    for shape in [shape for shape in LOCKED if len(shape) == n - 1]:
        assert slow_snake.canonical(shape) == shape
        assert not slow_snake.crosses_itself(shape)
        found = component(shape)
        assert len(found) < MOST
        assert "1" * len(shape) not in found
        assert found <= everything


def test_the_table_adds_up() -> None:
    counts = Counter(len(shape) + 1 for shape in LOCKED)
    assert sorted(rows()) == list(range(max(rows()) + 1))
    for n, (shapes, stuck, locked, reachable) in rows().items():
        assert shapes == shapes_of(n)
        assert locked == counts[n] <= stuck
        assert reachable == shapes - locked
    assert max(rows()) >= max(LENGTHS)


@pytest.mark.parametrize("n", [26, pytest.param(31, marks=pytest.mark.slow)])
def test_the_table_is_what_a_census_finds(n: int) -> None:
    result = Census(n).run()
    assert rows()[n][1:3] == (len(result.stuck_shapes), len(result.locked_shapes))
    assert list(result.locked_shapes) == [shape for shape in LOCKED if len(shape) == n - 1]


@pytest.mark.parametrize(("name", "column"), [("stuck", 1), ("locked", 2), ("reachable", 3)])
def test_the_files_say_the_same(name: str, column: int) -> None:
    text = (DATA.parent / f"b-{name}.txt").read_text(encoding="ascii")
    lines = [line.split() for line in text.splitlines() if not line.startswith("#")]
    assert [(int(n), int(value)) for n, value in lines] == [(n, row[column]) for n, row in sorted(rows().items())]


def test_the_families_are_those_of_the_page() -> None:
    assert table(LOCKED) in RESULTS
    members = [shape for family in families(LOCKED) for shape in family.members]
    assert sorted(members) == sorted(LOCKED)
