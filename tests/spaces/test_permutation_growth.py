"""Known growth of Cayley graphs and of orbits of words, by the expand kernels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.spaces.permutations.families import SIZED
from pipeline.spaces.permutations.space import Permutation

DATA = Path(__file__).parents[1] / "data"
GRAPHS: dict[str, dict[str, Any]] = json.loads((DATA / "permutation_growth.json").read_text())["graphs"]
CUBE_STICKERS = [1, 12, 114, 924, 6539, 39528, 199926, 806136]
LONG = 3_700_000
BLOCK = 1 << 20


def parameters_of(name: str) -> dict[str, Any]:
    """Parameters of a graph of the file: a family, and the size, rings or word."""
    family, value = name.split()
    if family == "lrx_coset":
        return {"family": "lrx", "size": len(value), "start": value}
    if family == "hungarian_rings":
        return {"family": "hungarian-rings", "rings": value}
    return {"family": family.replace("_", "-"), "size": int(value)}


def growth(space: Permutation, depth: int | None = None) -> list[int]:
    """States at each depth, all earlier ones left out."""
    assert space.key_count is not None
    seen = np.zeros(space.key_count, dtype=bool)
    frontier = space.roots()
    seen[frontier] = True
    counts = []
    while frontier.size and (depth is None or len(counts) <= depth):
        counts.append(frontier.size)
        new = np.zeros_like(seen)
        out = np.empty(min(BLOCK, frontier.size * space.max_neighbours + 1), dtype=np.uint64)
        while frontier.size:
            step = space.expand(frontier, out, True)
            assert step.written == step.consumed * len(space.generators.names)
            new[out[: step.written]] = True
            frontier = frontier[step.consumed :]
        frontier = np.flatnonzero(new & ~seen).astype(np.uint64)
        seen |= new
    return counts


def marked(name: str) -> Any:
    return pytest.param(name, marks=pytest.mark.slow) if GRAPHS[name]["total"] > LONG else name


@pytest.mark.parametrize("name", [marked(name) for name in GRAPHS])
def test_growth(name: str) -> None:
    graph = GRAPHS[name]
    space = Permutation(**parameters_of(name))
    assert sorted(map(list, space.generators.images)) == sorted(graph["generators"])
    assert space.undirected == graph.get("inverse_closed", True)
    assert space.size == graph["total"]
    reference = space.reference()
    assert reference is not None
    assert (reference.states or tuple(graph["growth"])) == tuple(graph["growth"])
    assert growth(space) == graph["growth"]


@pytest.mark.parametrize("name", [name for name in GRAPHS if GRAPHS[name]["total"] < 10_000])
def test_growth_of_moves_that_are_given(name: str) -> None:
    graph = GRAPHS[name]
    space = Permutation(generators=json.dumps({"generators": graph["generators"]}), start=graph.get("start"))
    assert growth(space) == graph["growth"]


@pytest.mark.parametrize("metric", ["quarter", "half"])
def test_pocket_cube(metric: str) -> None:
    space = Permutation(family="pocket-cube", metric=metric)
    reference = space.reference()
    assert reference is not None
    assert reference.states is not None
    assert space.size == sum(reference.states) == 3_674_160
    assert tuple(growth(space)) == reference.states


def test_pocket_cube_of_24_stickers() -> None:
    space = Permutation(file=str(DATA / "pocket_cube.gap"), closed=True)
    assert space.size == 88_179_840
    assert growth(space, depth=5) == CUBE_STICKERS[:6]


@pytest.mark.slow
def test_pocket_cube_of_24_stickers_further() -> None:
    space = Permutation(file=str(DATA / "pocket_cube.gap"), closed=True)
    assert growth(space, depth=len(CUBE_STICKERS) - 1) == CUBE_STICKERS


def test_equal_letters_are_counted_once() -> None:
    # 24!/(12! 12!) words; a program that takes images for states finds many more.
    space = Permutation(family="top-spin", size=24, start="01" * 12)
    assert space.size == space.key_count == 2_704_156
    pairs = Permutation(family="lrx", size=8, start="00112233")
    counts = growth(pairs)
    assert sum(counts) == pairs.size == 2520


def test_every_family_has_reference_growth() -> None:
    families = {Permutation(**parameters_of(name)).parameters.family for name in GRAPHS}
    assert families | {"pocket-cube"} == {*SIZED, "hungarian-rings", "pocket-cube"}
