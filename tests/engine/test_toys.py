"""Other graphs than puzzles: those with odd cycles, and those where one-sided expansion fails."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import Search
from pipeline.audit.verification import verify_expansion
from pipeline.running.events import Observer
from pipeline.spaces.contract import Detection
from storage.jobs.job import Job
from tests.engine.jobs import keys_at
from tests.engine.tiny import Sizes, everything_small
from tests.engine.toys import Neighbours, Toy, breadth_first, pancakes, three_cycles

# A buffer must have room for the neighbours of two keys.
SIZES = Sizes(buffer=130, chunk=50, frame=20, task=20, partition=60, step=10)


def check(space: Toy, levels: list[set[int]], **options: Any) -> Job:
    """Search with everything small and compare every key; returns the job to look at its manifests."""
    with TemporaryDirectory() as name, everything_small(SIZES):
        table = Search(space, job=Path(name) / "job", **options).run()
        job = Job.open(Path(name) / "job")
        assert table.complete
        assert list(table.states) == [len(level) for level in levels]
        for depth, level in enumerate(levels):
            if job.level(depth).manifest.arrays_kept:
                assert keys_at(job, depth).tolist() == sorted(level)
        return job


@pytest.mark.parametrize(("make", "size", "most"), [(pancakes, 6, 5), (three_cycles, 6, 8), (three_cycles, 5, 6)])
@pytest.mark.parametrize("workers", [1, 2])
def test_graphs_with_odd_cycles(
    make: Callable[[int], tuple[Neighbours, int]], size: int, most: int, workers: int
) -> None:
    """Neighbours may lie in the same level, so two earlier levels are taken out."""
    neighbours, root = make(size)
    levels = breadth_first(neighbours, [root])
    assert any(other in level for level in levels for node in level for other in neighbours(node))
    for keep in ("all", "frontier"):
        check(Toy(neighbours, [root], most, Detection.LEVELS, False), levels, workers=workers, keep=keep)


def test_several_roots() -> None:
    neighbours, root = pancakes(6)
    roots = [root, 654321, 213456]
    check(Toy(neighbours, roots, 5, Detection.LEVELS, False), breadth_first(neighbours, roots), scheduler="sync")


def test_a_bipartite_graph() -> None:
    """The edges of a cube of ten dimensions: only the level before the last is taken out."""

    def neighbours(node: int) -> list[int]:
        return [node ^ (1 << bit) for bit in range(10)]

    levels = breadth_first(neighbours, [5])
    assert [len(level) for level in levels] == [1, 10, 45, 120, 210, 252, 210, 120, 45, 10, 1]
    check(Toy(neighbours, [5], 10, Detection.LEVELS, True), levels, scheduler="sync")
    check(Toy(neighbours, [0], 10, Detection.ONE_SIDED, True, int.bit_count), breadth_first(neighbours, [0]))


def test_a_large_key() -> None:
    """Keys above the range of signed integers, up to the last one."""

    def neighbours(node: int) -> list[int]:
        return [other for other in (node - 3, node + 3) if 2**64 - 200 <= other < 2**64]

    root = 2**64 - 1
    levels = breadth_first(neighbours, [root])
    check(Toy(neighbours, [root], 2, Detection.LEVELS, True), levels, scheduler="sync")


def height(node: int) -> int:
    """Height of a node of the graphs below."""
    return node // 100


def graph(edges: set[tuple[int, int]]) -> Neighbours:
    """Neighbours in an undirected graph."""
    table: defaultdict[int, set[int]] = defaultdict(set)
    for one, other in edges:
        table[one].add(other)
        table[other].add(one)
    return lambda node: sorted(table.get(node, ()))


class Messages(Observer):
    """Keeps what the user is told."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def message(self, text: str) -> None:
        self.texts.append(text)


def test_a_node_that_is_reached_from_above() -> None:
    """A ladder up, and on its third step a way down to a node that no way up leads to.

    Going up alone would miss node 150 and what lies behind it.
    """
    neighbours = graph({(0, 100), (100, 200), (200, 300), (200, 150), (150, 250), (250, 351), (300, 400)})
    levels = breadth_first(neighbours, [0])
    assert any(150 in level for level in levels)
    messages = Messages()
    job = check(
        Toy(neighbours, [0], 10, Detection.ONE_SIDED, True, height), levels, observer=messages, scheduler="sync"
    )
    assert len(messages.texts) == 1
    assert job.path.name == "job"


@pytest.mark.parametrize("resume_after", [None, 1, 2, 3, 4])
def test_once_exhaustive_always_exhaustive(tmp_path: Path, resume_after: int | None) -> None:
    neighbours = graph({(0, 100), (100, 200), (200, 300), (200, 150), (150, 250), (250, 351), (300, 400)})
    space = Toy(neighbours, [0], 10, Detection.ONE_SIDED, True, height)
    if resume_after is not None:
        Search(space, job=tmp_path / "job", memory=2**31, max_depth=resume_after).run()
    Search(space, job=tmp_path / "job", memory=2**31).run(resume=True)
    job = Job.open(tmp_path / "job")
    manifests = job.manifests()
    assert [manifest.exhaustive for manifest in manifests] == [False] * 3 + [True] * (len(manifests) - 3)
    for depth, level in enumerate(breadth_first(neighbours, [0])):
        assert keys_at(job, depth).tolist() == sorted(level)
    for depth in range(1, len(manifests)):
        verify_expansion(space, job, depth, memory=2**31)


@settings(max_examples=40)
@given(st.sets(st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 3)), max_size=40), st.integers(0, 3))
def test_one_sided_search_is_exact_on_any_graph_with_heights(edges: set[tuple[int, int, int]], root: int) -> None:
    """Whether the certificate holds or not; the root may lie above other nodes."""
    neighbours = graph({(100 * low + one, 100 * (low + 1) + other) for low, one, other in edges})
    start = 100 * root + 1
    levels = breadth_first(neighbours, [start])
    check(Toy(neighbours, [start], 8, Detection.ONE_SIDED, True, height), levels, scheduler="sync")


@settings(max_examples=25)
@given(st.sets(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=150))
def test_any_graph(edges: set[tuple[int, int]]) -> None:
    neighbours = graph({(one, other) for one, other in edges if one != other})
    check(Toy(neighbours, [1], 61, Detection.LEVELS, False), breadth_first(neighbours, [1]), scheduler="sync")
