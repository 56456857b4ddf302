"""Puzzles that are wrong: each is refused with what is wrong, and two states that disprove a claim; nothing wrong is
committed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel

from pipeline import Search, StateSpace
from pipeline.audit.verification import verify_expansion
from pipeline.spaces.contract import Detection, Expansion, KeyLayout, Keys
from pipeline.spaces.parameters import NoParameters
from storage.errors import FalseClaim, InvalidInput, PipelineError, PuzzleError
from storage.jobs.job import Job

Next = Callable[[int], Sequence[int]]


class Graph(StateSpace):
    """A graph by its neighbours, which claims whatever it is told to claim."""

    name = "graph"
    Parameters = NoParameters

    def __init__(self, following: Next, roots: Any = (0,), most: int = 4, **claims: Any) -> None:
        self.parameters: BaseModel = NoParameters()
        self.max_neighbours = most
        self._following = following
        self._roots = roots
        for name, value in claims.items():
            setattr(self, name, value)

    def roots(self) -> Any:
        return np.array(self._roots, dtype=np.uint64) if isinstance(self._roots, tuple) else self._roots

    def expand(self, keys: Keys, out: Keys, exhaustive: bool) -> Any:
        consumed = written = 0
        for key in keys.tolist():
            if written + self.max_neighbours > out.size:
                break
            for other in self._following(key):
                out[written] = other
                written += 1
            consumed += 1
        return Expansion(consumed, written)


def cycle(size: int) -> Next:
    return lambda node: [(node + 1) % size, (node - 1) % size]


def path(size: int, *loops: int) -> Next:
    def following(node: int) -> list[int]:
        return [other for other in (node - 1, node + 1) if 0 <= other < size] + [node] * (node in loops)

    return following


def one_way(size: int) -> Next:
    return lambda node: [(node + 1) % size]


class OffByOne(Graph):
    def expand(self, keys: Keys, out: Keys, exhaustive: bool) -> Any:
        step = super().expand(keys, out, exhaustive)
        return Expansion(step.consumed, step.written + 1)


class ChangesInput(Graph):
    def expand(self, keys: Keys, out: Keys, exhaustive: bool) -> Any:
        step = super().expand(keys, out, exhaustive)
        keys[:] = keys // 2
        return step


class Greedy(Graph):
    def expand(self, keys: Keys, out: Keys, exhaustive: bool) -> Any:
        return Expansion(keys.size + 1, super().expand(keys, out, exhaustive).written)


class Stuck(Graph):
    def expand(self, keys: Keys, out: Keys, exhaustive: bool) -> Any:
        return Expansion(0, 0)


class Returns(Graph):
    def expand(self, keys: Keys, out: Keys, exhaustive: bool) -> Any:
        return self._following(int(keys[0]))


class Beyond(Graph):
    """Writes behind the end of what it was given, as a kernel without checks can."""

    def expand(self, keys: Keys, out: Keys, exhaustive: bool) -> Any:
        step = super().expand(keys, out, exhaustive)
        if out.base is not None and out.base.size > out.size and out.size == self.max_neighbours:
            out.base[out.size] = 7
        return step


class Sided(Graph):
    """One-sided expansion of which the classes are given: moves to these states are generated."""

    def __init__(self, following: Next, up: Callable[[int, int], bool], **claims: Any) -> None:
        super().__init__(following, **claims)
        self._up = up

    def expand(self, keys: Keys, out: Keys, exhaustive: bool) -> Any:
        written = forward = backward = 0
        for key in keys.tolist():
            for other in self._following(key):
                up = self._up(key, other)
                forward, backward = forward + up, backward + (not up)
                if up or exhaustive:
                    out[written] = other
                    written += 1
        return Expansion(keys.size, written, forward, backward)


def fails_at(node: int) -> Next:
    def following(key: int) -> list[int]:
        return [key + 1, key - 1] if key != node else [1 // 0]

    return lambda key: [other for other in following(key) if 0 <= other < 30]


SIDED = {"detection": Detection.ONE_SIDED, "bipartite": True}
MASKED = {"detection": Detection.MASKS, "bipartite": True, "layout": KeyLayout(1, 4, 4)}

# What is wrong, the space, and what the message must say.
CASES: dict[str, tuple[Callable[[], StateSpace], list[str]]] = {
    "odd cycle": (lambda: Graph(cycle(51), bipartite=True), ["bipartite", "25 (0x19)", "26 (0x1a)"]),
    "triangle": (lambda: Graph(cycle(3), bipartite=True), ["bipartite", "1 (0x1)", "2 (0x2)"]),
    "loop": (lambda: Graph(path(30, 17), bipartite=True), ["bipartite", "17 (0x11)", "itself"]),
    "directed": (lambda: Graph(one_way(300)), ["undirected", "0 (0x0)", "1 (0x1)", "none back"]),
    "directed 5-cycle": (lambda: Graph(one_way(5)), ["undirected", "0 (0x0)", "1 (0x1)"]),
    "wraps": (
        lambda: Graph(lambda key: [key * 2**16 % 2**64, key // 2**16], roots=(3,)),
        ["undirected", "3 (0x3)", "none back"],
    ),
    "roots": (lambda: Graph(path(30), roots=(25, 5)), ["roots", "ascend", "25 (0x19)", "5 (0x5)"]),
    "repeated roots": (lambda: Graph(path(30), roots=(7, 7, 7)), ["roots", "ascend", "7 (0x7)"]),
    "no roots": (lambda: Graph(path(30), roots=()), ["no roots"]),
    "no roots at all": (lambda: Graph(path(30), roots=None), ["no roots"]),
    "float roots": (lambda: Graph(path(30), roots=np.array([1.5])), ["float64"]),
    "negative roots": (lambda: Graph(path(30), roots=np.array([-1])), ["-1"]),
    "masks without bits": (lambda: Graph(path(30), detection=Detection.MASKS, bipartite=True), ["0 mask_bits"]),
    "bits without masks": (lambda: Graph(path(30), layout=KeyLayout(1, 4, 4)), ["4 mask_bits", "LEVELS"]),
    "masks not implemented": (lambda: Graph(path(30), **MASKED), ["claims", "0"]),
    "one-sided not implemented": (lambda: Graph(path(30), **SIDED), ["ONE_SIDED", "generated"]),
    "one-sided, not bipartite": (lambda: Graph(path(30), detection=Detection.ONE_SIDED), ["not bipartite"]),
    # The way from 2 to 3 is in the class that is left out, and so is the way back.
    "one-sided, not reverse": (
        lambda: Sided(path(5), lambda one, other: (one, other) in {(0, 1), (1, 2)}, **SIDED),
        ["ONE_SIDED", "2 (0x2)", "3 (0x3)", "left out"],
    ),
    "one too many": (lambda: OffByOne(path(30)), ["wrote"]),
    "changes its input": (lambda: ChangesInput(path(30), roots=(9,)), ["changes its input", "9 (0x9)"]),
    "consumes too much": (lambda: Greedy(path(30)), ["2 of 1"]),
    "no progress": (lambda: Stuck(path(30)), ["0 of 1", "0 (0x0)"]),
    "returns nothing": (lambda: Returns(lambda key: None), ["NoneType"]),  # type: ignore[arg-type, return-value]
    "returns a tuple": (lambda: Returns(lambda key: (1, 2)), ["tuple"]),
    "too many neighbours": (lambda: Graph(path(30), most=1), ["1 (0x1)", "IndexError"]),
    "behind the end": (lambda: Beyond(path(30)), ["behind the end", "0 (0x0)"]),
    "key range": (lambda: Graph(path(30), key_count=20), ["below 20", "20 (0x14)"]),
    "size": (lambda: Graph(path(30), size=20), ["20 states", "21"]),
    "too large a size": (lambda: Graph(path(30), size=40), ["40 states", "30"]),
    "text for detection": (lambda: Graph(path(30), detection="levels"), ["detection", "'levels'"]),
    "field bits": (lambda: Graph(path(30), layout=KeyLayout(1, 70)), ["70", "field_bits"]),
    "float neighbours": (lambda: Graph(path(30), most=2.0), ["max_neighbours", "2.0"]),  # type: ignore[arg-type]
    "directed, bipartite": (lambda: Graph(one_way(4), undirected=False, bipartite=True), ["directed", "bipartite"]),
    "a slash": (lambda: Graph(path(3), name="a/b"), ["'a/b'"]),
    "raises": (
        lambda: Graph(fails_at(17), undirected=False),
        ["17 (0x11)", "ZeroDivisionError: ", "division", "test_false_claims.py"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_wrong_is_named(case: str, tmp_path: Path) -> None:
    make, words = CASES[case]
    with pytest.raises(PuzzleError) as raised:
        Search(make(), job=tmp_path / "job", memory=2**31, scheduler="sync").run()
    for word in words:
        assert word in str(raised.value)
    assert "\n" not in str(raised.value)
    assert raised.value.exit_code == 9
    if (tmp_path / "job").exists():
        # What was committed before the mistake showed is right: no more than a state for each depth and direction.
        counts = [manifest.states for manifest in Job.open(tmp_path / "job").manifests()]
        assert all(count <= 2 for count in counts)
        assert sum(counts) <= 300


def test_nothing_is_lost(tmp_path: Path) -> None:
    """A search that ended with an exception of its puzzle goes on when that is mended."""
    with pytest.raises(PuzzleError):
        Search(Graph(fails_at(17)), job=tmp_path / "job", memory=2**31).run()
    assert len(Job.open(tmp_path / "job").manifests()) == 18
    table = Search(Graph(path(30)), job=tmp_path / "job", memory=2**31).run(resume=True)
    assert table.states == (1,) * 30
    assert table.complete


class Hidden(Graph):
    """The claims of a level are looked at on samples that miss the mistake."""

    is_checked = False


@pytest.mark.parametrize(("following", "total"), [(cycle(51), 51), (path(30, 17), 30), (cycle(3), 3)])
def test_deep_verification_subtracts_two_levels(following: Next, total: int, tmp_path: Path) -> None:
    space = Hidden(following, bipartite=True)
    table = Search(space, job=tmp_path / "job", memory=2**31).run()
    assert table.total > total
    job = Job.open(tmp_path / "job")
    last = max(manifest.depth for manifest in job.manifests() if manifest.keys)
    with pytest.raises(FalseClaim, match="bipartite"):
        verify_expansion(space, job, last // 2 + 1 if total != 30 else 18, 2**31)


@pytest.mark.parametrize("value", [[1, 2], float("nan"), {"a": 1}])
def test_parameters_that_a_job_cannot_keep(value: Any, tmp_path: Path) -> None:
    class Parameters(BaseModel):
        shape: Any = None

    space = Graph(path(3))
    space.parameters = Parameters(shape=value)
    with pytest.raises(InvalidInput, match="shape"):
        Search(space, job=tmp_path / "job", memory=2**31)
    assert not (tmp_path / "job").exists()


def test_a_search_of_something_else() -> None:
    with pytest.raises(InvalidInput, match="not of dict"):
        Search({}, memory=2**31)  # type: ignore[arg-type]


def test_keep_frontier_and_directed(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="--keep frontier"):
        Search(Graph(one_way(5), undirected=False), job=tmp_path / "job", keep="frontier").run()


def test_an_error_is_a_pipeline_error() -> None:
    assert issubclass(FalseClaim, PuzzleError)
    assert issubclass(PuzzleError, PipelineError)
