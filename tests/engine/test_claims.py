"""Puzzles that say of their graph what is not true, or do what none may do: nothing wrong is committed."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline import Search
from pipeline.spaces.contract import Detection, Expansion, KeyLayout, Keys
from storage.errors import FalseClaim, PuzzleError
from storage.jobs.job import Job
from tests.engine.toys import Toy, breadth_first

NODES = 300
LEVELS, MASKS, ONE_SIDED = Detection.LEVELS, Detection.MASKS, Detection.ONE_SIDED


def a_tree(seed: int) -> dict[int, list[int]]:
    generator = random.Random(seed)
    edges: dict[int, set[int]] = {node: set() for node in range(NODES)}
    for node in range(1, NODES):
        parent = generator.randrange(node)
        edges[node].add(parent)
        edges[parent].add(node)
    return {node: sorted(others) for node, others in edges.items()}


TREE = a_tree(1)
MOST = max(map(len, TREE.values())) + 1


def of_cycle(size: int) -> Callable[[int], list[int]]:
    return lambda node: [(node + 1) % size, (node - 1) % size]


def with_loop(node: int) -> list[int]:
    return TREE[node] + [node] * (node == 217)


def directed(node: int) -> list[int]:
    return random.Random(node).choices(range(NODES), k=3)


def a_tree_toy(kind: type[Toy] = Toy, **options: Any) -> Toy:
    return kind(TREE.__getitem__, [0], MOST, options.pop("detection", LEVELS), True, **options)


class GivenRoots(Toy):
    """Roots as they are given."""

    given: Any

    def roots(self) -> Keys:
        return self.given  # type: ignore[no-any-return]


class OneTooMany(Toy):
    def expand(self, keys: Keys, out: Keys, exhaustive: bool) -> Expansion:
        step = super().expand(keys, out, exhaustive)
        return step._replace(written=step.written + 1)


class Changing(Toy):
    def expand(self, keys: Keys, out: Keys, exhaustive: bool) -> Expansion:
        step = super().expand(keys, out, exhaustive)
        keys[:] = 0
        return step


class Greedy(Toy):
    def expand(self, keys: Keys, out: Keys, exhaustive: bool) -> Expansion:
        step = super().expand(keys, out, exhaustive)
        return step._replace(consumed=keys.size + 1)


class Idle(Toy):
    def expand(self, keys: Keys, out: Keys, exhaustive: bool) -> Expansion:
        return Expansion(0, 0)


class Silent(Toy):
    def expand(self, keys: Keys, out: Keys, exhaustive: bool) -> Expansion:
        return None  # type: ignore[return-value]


class Failing(Toy):
    def expand(self, keys: Keys, out: Keys, exhaustive: bool) -> Expansion:
        if (keys == 17).any():
            raise KeyError("no 17 here")
        return super().expand(keys, out, exhaustive)


class Unmasked(Toy):
    """Claims masks and never sets them."""

    layout = KeyLayout(version=1, field_bits=2, mask_bits=2)

    def key_of(self, state: Any) -> int:
        return super().key_of(state) << 2

    def state_of(self, key: int) -> Any:
        return super().state_of(key >> 2)

    def roots(self) -> Keys:
        return super().roots() << np.uint64(2)

    def expand(self, keys: Keys, out: Keys, exhaustive: bool) -> Expansion:
        step = super().expand(keys >> np.uint64(2), out, True)
        out[: step.written] <<= np.uint64(2)
        return step


class WrongSides(Toy):
    """A path 0, 1, 2 that ends in 3 and 4, and three moves that lead from 1 to 2: the counts agree, though the moves
    from 2 to 3 and 4, which are left out, are not the reverses of any."""

    SIDES = (
        (0, 1, True),
        (1, 0, False),
        *[(1, 2, True)] * 3,
        *[(2, other, False) for other in (1, 3, 4)],
        (3, 2, False),
        (4, 2, False),
    )

    def expand(self, keys: Keys, out: Keys, exhaustive: bool) -> Expansion:
        written = forward = backward = 0
        for key in keys.tolist():
            for start, end, up in self.SIDES:
                if start == key:
                    forward += up
                    backward += not up
                    if up or exhaustive:
                        out[written] = end
                        written += 1
        return Expansion(keys.size, written, forward, backward)


def fork(node: int) -> list[int]:
    return [[1], [0, 2], [1, 3, 4], [2], [2]][node]


def rooted(roots: Any) -> Toy:
    toy = a_tree_toy(GivenRoots)
    toy.given = roots  # type: ignore[attr-defined]
    return toy


FALSE = {
    "a cycle of 51 is not bipartite": (lambda: Toy(of_cycle(51), [0], 2, LEVELS, True), "to be bipartite.*25.*26"),
    "a triangle is not bipartite": (lambda: Toy(of_cycle(3), [0], 2, LEVELS, True), "to be bipartite"),
    "a loop is not bipartite": (lambda: Toy(with_loop, [0], MOST, LEVELS, True), "bipartite.*217"),
    "moves that cannot be undone": (lambda: Toy(directed, [0], 3, LEVELS, False), "undirected.*none leads back"),
    "a directed cycle": (
        lambda: Toy(lambda node: [(node + 1) % 5], [0], 1, LEVELS, False),
        "undirected.*key 0.*key 1",
    ),
    "masks that are not there": (lambda: Unmasked(TREE.__getitem__, [0], MOST, MASKS, True), "claims detection MASKS"),
    "sides that are no reverses": (
        lambda: WrongSides(fork, [0], 4, ONE_SIDED, True),
        "claims detection ONE_SIDED",
    ),
    "keys that are changed": (lambda: a_tree_toy(Changing), "changes the keys"),
}

FAULTS = {
    "roots that do not ascend": (lambda: rooted(np.array([155, 5], dtype=np.uint64)), "155 comes before 5"),
    "a root given twice": (lambda: rooted(np.array([3, 3, 3], dtype=np.uint64)), "given twice"),
    "no roots": (lambda: rooted(np.array([], dtype=np.uint64)), "has no roots"),
    "roots that are floats": (lambda: rooted(np.array([1.0])), "float64"),
    "masks without bits": (lambda: a_tree_toy(detection=MASKS), "no mask bits"),
    "one neighbour too many": (lambda: a_tree_toy(OneTooMany), "toy"),
    "more keys than there are": (lambda: a_tree_toy(Greedy), "expanded 2 of 1 keys"),
    "no progress": (lambda: a_tree_toy(Idle), "expanded 0 of 1 keys"),
    "nothing returned": (lambda: a_tree_toy(Silent), "NoneType"),
    "an exception": (lambda: a_tree_toy(Failing), "expanded the key 17.*no 17 here"),
    "too few places": (lambda: Toy(TREE.__getitem__, [0], 2, LEVELS, True), "toy"),
}


@pytest.mark.parametrize("name", FALSE)
def test_false_claims_are_refused(name: str, tmp_path: Path) -> None:
    make, message = FALSE[name]
    toy = make()
    with pytest.raises(FalseClaim, match=message) as caught:
        Search(toy, tmp_path / "job", memory=2**30).run()
    assert caught.value.exit_code == 9
    assert "\n" not in str(caught.value)
    check_nothing_wrong(toy, tmp_path / "job")


@pytest.mark.parametrize("name", FAULTS)
def test_what_no_puzzle_may_do(name: str, tmp_path: Path) -> None:
    make, message = FAULTS[name]
    toy = make()
    with pytest.raises(PuzzleError, match=message) as caught:
        Search(toy, tmp_path / "job", memory=2**30).run()
    assert "\n" not in str(caught.value)


def check_nothing_wrong(toy: Toy, path: Path) -> None:
    """The levels that were committed are those of the graph."""
    if not path.exists():
        return
    right = breadth_first(toy._neighbours, toy._roots)
    for manifest in Job.open(path).manifests():
        assert manifest.states == len(right[manifest.depth])


def test_moves_that_cannot_be_undone_are_searched_if_that_is_said(tmp_path: Path) -> None:
    toy = Toy(directed, [0], 3, LEVELS, False)
    toy.undirected = False
    table = Search(toy, tmp_path / "job", memory=2**30).run()
    assert list(table.states) == [len(level) for level in breadth_first(directed, [0])]
