"""Shapes by bends and by depth, without generating or storing any, against searches that do."""

from __future__ import annotations

import json
from collections import Counter, deque
from importlib import resources
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import pytest

from pipeline import Census, Search, Snake
from pipeline.census.bends import heights, shapes_by_bends, walks_of_height
from pipeline.census.counts import shapes_of
from pipeline.census.delayed import delayed_shapes, depths_of
from pipeline.census.events import CensusObserver
from pipeline.census.neighbours import Neighbours
from pipeline.census.rules import Rule, swept, table_for
from pipeline.census.symmetric import symmetric_walks
from pipeline.census.tasks import joints_of, text_of
from storage.errors import InvalidInput, Mismatch
from tests.census.clinging import NEAR, clinging, depths, half_clinging
from tests.spaces import slow_snake

Counts = dict[str, Any]
REFERENCE = json.loads(resources.files("pipeline.census").joinpath("reference.json").read_text(encoding="utf-8"))


def bends_of(n: int) -> tuple[int, ...]:
    """Shapes by bends, by counting walks."""
    fixed = [walks_of_height(n, rows) for rows in heights(n)]
    return shapes_by_bends(n, shapes_of(n), [*fixed, *(symmetric_walks(n, mirrored) for mirrored in (False, True))])


@pytest.mark.parametrize("n", range(1, 10))
def test_walks_by_height_and_bends(n: int) -> None:
    """Against every walk, laid out in plain Python."""
    expected: Counter[tuple[int, int]] = Counter()
    for joints in slow_snake.walks(n):
        points = slow_snake.vertices(joints)
        spans = [max(axis) - min(axis) + 1 for axis in zip(*points, strict=True)]
        expected[min(spans), len(joints) - joints.count("1")] += 4
    for rows in range(1, n // 2 + 2):
        assert walks_of_height(n, rows) == [expected[rows, bends] for bends in range(n)]
    assert sorted(heights(n)) == list(range(1, n // 2 + 2))


@pytest.mark.parametrize("n", range(10, 21))
def test_walks_add_up_to_the_known_number(n: int) -> None:
    assert sum(map(sum, (walks_of_height(n, rows) for rows in heights(n)))) == REFERENCE["A001411"]["values"][n]


@pytest.mark.parametrize("n", range(1, 10))
def test_symmetric_walks_by_bends(n: int) -> None:
    walks = slow_snake.walks(n)
    same = Counter(len(walk) - walk.count("1") for walk in walks if walk == walk[::-1])
    mirrored = Counter(len(walk) - walk.count("1") for walk in walks if walk == slow_snake.mirrored(walk[::-1]))
    assert symmetric_walks(n, False) == [4 * same[bends] for bends in range(n)]
    assert symmetric_walks(n, True) == [4 * mirrored[bends] for bends in range(n)]


@pytest.mark.parametrize("n", range(10, 25))
def test_symmetric_walks_add_up_to_the_known_numbers(n: int) -> None:
    assert sum(symmetric_walks(n, False)) == REFERENCE["A323188"]["values"][n - 1]
    assert sum(symmetric_walks(n, True)) == REFERENCE["A323189"]["values"][n - 1]


@pytest.mark.parametrize("n", [*range(2, 18), *(pytest.param(n, marks=pytest.mark.slow) for n in range(18, 23))])
def test_bends_are_those_of_all_shapes(n: int) -> None:
    assert bends_of(n) == Census(n, exhaustive=True).run().bends


def test_walks_that_do_not_add_up_are_refused() -> None:
    with pytest.raises(Mismatch):
        shapes_by_bends(3, 4, [[4, 16, 16]])
    with pytest.raises(Mismatch):
        shapes_by_bends(3, 5, [walks_of_height(3, 1), walks_of_height(3, 2), [0, 0, 0], [0, 0, 0]])


@pytest.mark.parametrize("n", range(13))
def test_the_known_depths(n: int, snake_counts: Counts) -> None:
    result = Census(n, depths=True).run()
    expected = snake_counts["depth_counts"].get(str(n), [1])
    document = result.document()
    assert document["states"] == expected
    assert document["depths"] == list(range(len(expected)))
    assert document["delayed"] == 0


@pytest.mark.parametrize("n", [13, 15, 16, *(pytest.param(n, marks=pytest.mark.slow) for n in (14, 17, 18, 19, 20))])
def test_depths_are_those_of_a_breadth_first_job(n: int, tmp_path: Path) -> None:
    table = Search(Snake(n=n), tmp_path / "job").run()
    assert Census(n, depths=True).run().states == table.states


@pytest.mark.parametrize("n", range(2, 10))
@pytest.mark.parametrize("rule", [clinging, half_clinging])
def test_depths_under_rules_that_delay(rule: Rule, n: int) -> None:
    """Many shapes are delayed here, and many locked; a plain breadth-first search knows where each is."""
    expected = depths(n, NEAR[rule])
    result = Census(n, rule=rule, depths=True).run()
    at = Counter(expected.values())
    assert result.states == tuple(at[depth] for depth in range(max(at) + 1))
    delayed = [shape for shape in slow_snake.shapes(n) if expected.get(shape, -1) != len(shape) - shape.count("1")]
    assert result.delayed == len(delayed)
    found = delayed_shapes(Neighbours(n, table_for(rule, n)), [joints_of(s).tobytes() for s in result.stuck_shapes])
    assert {text_of(shape) for here in found for shape in here} == set(delayed)
    reached = {text_of(shape): depth for shape, depth in depths_of(found).items()}
    assert reached == {shape: expected[shape] for shape in delayed if shape in expected}


def test_those_rules_delay() -> None:
    for rule in (clinging, half_clinging):
        result = Census(9, rule=rule, depths=True).run()
        assert result.delayed is not None
        assert result.delayed > len(result.stuck_shapes) > 0


class Graded:
    """A random graph in which edges join shapes with b and b + 1 bends, some of them stuck, in place of the snake's."""

    def __init__(self, random: Random, levels: int, most: int) -> None:
        self.levels = [[bytes([1] * levels)]]
        self.edges: dict[bytes, tuple[set[bytes], set[bytes]]] = {self.levels[0][0]: (set(), set())}
        for bends in range(1, levels + 1):
            patterns = random.sample(range(1 << bends), min(most, 1 << bends))
            here = [bytes(2 * (pattern >> bit & 1) for bit in range(bends)) for pattern in patterns]
            self.levels.append([shape + bytes([1] * (levels - bends)) for shape in here])
            for shape in self.levels[-1]:
                fewer = {other for other in self.levels[-2] if random.random() < 1.5 / len(self.levels[-2])}
                self.edges[shape] = fewer, set()
                for other in fewer:
                    self.edges[other][1].add(shape)

    def of(self, shape: bytes) -> tuple[set[bytes], set[bytes]]:
        """As :class:`Neighbours`."""
        return self.edges[shape]

    def depths(self) -> dict[bytes, int]:
        """By breadth-first search."""
        found = {self.levels[0][0]: 0}
        waiting = deque(found)
        while waiting:
            shape = waiting.popleft()
            for other in set().union(*self.edges[shape]) - set(found):
                found[other] = found[shape] + 1
                waiting.append(other)
        return found


def test_depths_in_random_graphs() -> None:
    """Delayed shapes of all kinds: far from any that is not, deeper than two more than their bends, and locked."""
    random = Random(7)
    kinds: set[int | None] = set()
    for _ in range(300):
        graph = Graded(random, 9, 12)
        expected = graph.depths()
        delayed = {
            shape: expected.get(shape)
            for bends, here in enumerate(graph.levels)
            for shape in here
            if expected.get(shape) != bends
        }
        stuck = [shape for here in graph.levels[1:] for shape in here if not graph.edges[shape][0]]
        found = delayed_shapes(graph, stuck)  # type: ignore[arg-type]
        assert {shape for here in found for shape in here} == set(delayed)
        assert depths_of(found) == {shape: depth for shape, depth in delayed.items() if depth is not None}
        kinds |= {depth and depth - (len(shape) - shape.count(1)) for shape, depth in delayed.items()}
    assert kinds >= {None, 2, 4, 6}


def test_the_first_delayed_shapes(snake_counts: Counts) -> None:
    """The stuck shapes of 24 edges lie two deeper than their bends."""

    class Walks(CensusObserver):
        counted: ClassVar[list[list[int]]] = []

        def task_done(self, phase: str, result: dict[str, Any]) -> None:
            if phase == "bends":
                self.counted.append(result["walks"])

    result = Census(24, depths=True, observer=Walks()).run()
    bends = shapes_by_bends(24, shapes_of(24), Walks.counted)
    assert sorted(len(shape) - shape.count("1") for shape in result.stuck_shapes) == [8, 10]
    assert result.states is not None
    assert [after - before for before, after in zip(bends, result.states, strict=True)] == [
        {8: -1, 12: 1}.get(depth, 0) for depth in range(24)
    ]
    assert sum(result.states) == snake_counts["A037245"][24]


@pytest.mark.slow
def test_delayed_shapes_that_are_not_stuck(snake_counts: Counts) -> None:
    shapes = [joints_of(shape).tobytes() for shape in Census(30).run().stuck_shapes]
    found = delayed_shapes(Neighbours(30, table_for(swept, 30)), shapes)
    assert (len(shapes), sum(map(len, found))) == (4202, 4222)
    assert all(depth == len(shape) - shape.count(1) + 2 for shape, depth in depths_of(found).items())


def test_depths_are_kept_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Census(9, journal=tmp_path / "census", rule=clinging).run()
    assert first.states is None
    measured = Census(9, journal=tmp_path / "census", rule=clinging, depths=True).run(resume=True)
    assert measured.delayed
    monkeypatch.setattr("pipeline.census.census.LOADERS", {})
    again = Census(9, journal=tmp_path / "census", rule=clinging, depths=True).run(resume=True)
    assert again.document() | {"seconds": 0} == measured.document() | {"seconds": 0}


def test_an_exhaustive_census_finds_no_depths() -> None:
    with pytest.raises(InvalidInput, match="depths"):
        Census(9, exhaustive=True, depths=True)
