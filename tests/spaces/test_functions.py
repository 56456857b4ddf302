"""Graphs that functions give."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline import Search
from pipeline.spaces.functions import FunctionSpace
from storage.errors import InvalidInput, JobError, PuzzleError
from tests.engine.toys import breadth_first

MEMORY = 2**31


def corners(key: int, out: Any) -> int:
    """A cube of eight dimensions."""
    for bit in range(8):
        out[bit] = key ^ (1 << bit)
    return 8


def test_a_scalar_function(tmp_path: Path) -> None:
    search = Search.of(corners, name="cube", max_neighbours=8, bipartite=True, job=tmp_path / "job", memory=MEMORY)
    table = search.run()
    assert table.states == (1, 8, 28, 56, 70, 56, 28, 8, 1)
    assert table.complete


def test_a_vectorised_function(tmp_path: Path) -> None:
    def neighbours(keys: Any) -> Any:
        return keys[:, None] ^ (np.uint64(1) << np.arange(8, dtype=np.uint64))

    for job, function in (("rows", neighbours), ("pair", lambda keys: (neighbours(keys).ravel(), [8] * len(keys)))):
        search = Search.of(
            function, name="cube", max_neighbours=8, vectorised=True, key_count=256, size=256, job=tmp_path / job
        )
        assert search.run().states == (1, 8, 28, 56, 70, 56, 28, 8, 1)


def test_arithmetic_is_exact(tmp_path: Path) -> None:
    """Above 2**53 floating-point numbers skip integers."""
    start = 2**53 + 1

    def through(key, out):  # type: ignore[no-untyped-def]
        out[0] = (key + 1 - 1) ^ 2
        return 1

    search = Search.of(through, [start], name="odd", max_neighbours=1, job=tmp_path / "job", memory=MEMORY)
    assert search.run().states == (1, 1)
    keys = np.array([start], dtype=np.uint64)
    out = np.empty(1, dtype=np.uint64)
    search.space.expand(keys, out, True)
    assert int(out[0]) == start ^ 2


def halves(key, out):  # type: ignore[no-untyped-def]
    out[0] = key / 2
    return 1


def below(key, out):  # type: ignore[no-untyped-def]
    out[0] = key - 1
    return 1


def behind(key, out):  # type: ignore[no-untyped-def]
    for place in range(100):
        out[place] = key + place
    return 1


def many(key, out):  # type: ignore[no-untyped-def]
    out[0] = key + 1
    return 2


def unknown(key, out):  # type: ignore[no-untyped-def]
    return open(str(key))


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (halves, ["floating point", "line"]),
        (below, ["0 is -1"]),
        (behind, ["0 (0x0)", "IndexError"]),
        (many, ["0 has 2"]),
        (unknown, ["cannot be compiled"]),
    ],
)
def test_functions_that_are_wrong(function: Callable[..., Any], words: list[str], tmp_path: Path) -> None:
    search = Search.of(function, name="wrong", max_neighbours=1, undirected=False, job=tmp_path / "job", memory=MEMORY)
    with pytest.raises(PuzzleError) as raised:
        search.run()
    assert all(word in str(raised.value) for word in words), raised.value
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "job").exists()


def answer(value: Any) -> Callable[[Any], Any]:
    return lambda keys: value


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "nothing"),
        ((1, 2, 3), "3 things"),
        (([1.5], [1]), "float64"),
        (([1], [2]), "add up to 2"),
        (([-1], [1]), "the neighbour -1"),
        (([1, 2], [2]), "at most 1"),
        ([1, 2], "shape"),
    ],
)
def test_vectorised_functions_that_are_wrong(value: Any, words: str, tmp_path: Path) -> None:
    search = Search.of(answer(value), name="wrong", max_neighbours=1, vectorised=True, job=tmp_path / "job")
    with pytest.raises(PuzzleError, match=words):
        search.run()


@pytest.mark.parametrize("roots", [[], [-1], [2**63], [0.5], ["a"], 5])
def test_roots_that_are_wrong(roots: Any) -> None:
    with pytest.raises(InvalidInput):
        Search.of(corners, roots, name="cube", max_neighbours=8)


def test_roots_are_put_in_order() -> None:
    assert FunctionSpace(corners, [9, 3], "cube", 8).roots().tolist() == [3, 9]


def test_a_changed_function_does_not_resume(tmp_path: Path) -> None:
    def make(step: int) -> Any:
        def ring(key, out):  # type: ignore[no-untyped-def]
            out[0] = (key + step) % 100
            out[1] = (key - step) % 100
            return 2

        return ring

    options: dict[str, Any] = {"name": "ring", "max_neighbours": 2, "job": tmp_path / "job", "memory": MEMORY}
    Search.of(make(1), **options, max_depth=3).run()
    with pytest.raises(JobError, match="has changed"):
        Search.of(make(3), **options).run(resume=True)
    assert Search.of(make(1), **options).run(resume=True).total == 100


def test_it_can_be_sent() -> None:
    space = FunctionSpace(corners, [0], "cube", 8)
    out = np.empty(8, dtype=np.uint64)
    assert space.expand(space.roots(), out, True).written == 8
    again = pickle.loads(pickle.dumps(space))
    assert again.expand(again.roots(), out, True).written == 8
    assert again.source() == space.source()


def test_a_directed_graph(tmp_path: Path) -> None:
    """Several roots, multiple edges, loops, and states without neighbours."""

    def neighbours(node: int) -> list[int]:
        if node % 7 == 3:
            return []
        return [node * 5 % 997, node * 5 % 997, node, (node + node // 10) % 997]

    def compiled(key, out):  # type: ignore[no-untyped-def]
        if key % 7 == 3:
            return 0
        out[0] = out[1] = key * 5 % 997
        out[2] = key
        out[3] = (key + key // 10) % 997
        return 4

    levels = breadth_first(neighbours, [1, 17])
    for key_count in (None, 997):
        job = tmp_path / f"job-{key_count}"
        search = Search.of(
            compiled, [17, 1], name="map", max_neighbours=4, undirected=False, key_count=key_count, job=job
        )
        assert list(search.run().states) == [len(level) for level in levels]
