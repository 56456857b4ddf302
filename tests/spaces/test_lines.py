"""Blocks of keys as lines of text: the same as one by one."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from pipeline.spaces.contract import Keys, StateSpace
from pipeline.spaces.registry import make_space
from storage.errors import InvalidInput

SPACES: list[tuple[str, dict[str, Any]]] = [
    *(("snake", {"n": n}) for n in (0, 1, 2, 3, 9)),
    ("snake", {"start": "110101111011101100121211"}),
    ("snake", {"start": "1" * 60 + "0"}),
    *(("sliding", {"rows": rows, "cols": cols}) for rows, cols in ((1, 1), (1, 4), (4, 1), (2, 2), (3, 2), (2, 5))),
    *(("sliding", {"rows": 3, "cols": 3, "blank": blank}) for blank in range(9)),
    ("sliding", {"rows": 4, "cols": 4, "blank": 6}),
    ("fifteen", {}),
    ("permutations", {"family": "pancake", "size": 5}),
    ("permutations", {"family": "pancake", "size": 4, "notation": "cycles"}),
    ("permutations", {"family": "lrx", "size": 12, "start": "00112 2 3 4 5 6 7 8".replace(" ", "")}),
    ("permutations", {"family": "top-spin", "size": 12}),
    ("permutations", {"family": "lrx", "size": 6, "start": "10,é,10,7,é,x"}),
    ("permutations", {"family": "pocket-cube"}),
    ("permutations", {"generators": "[[0]]"}),
]


@cache
def some_keys(name: str, parameters: tuple[tuple[str, Any], ...]) -> tuple[StateSpace, Keys]:
    """All keys of the first levels, more than are worked on at once."""
    space = make_space(name, dict(parameters))
    seen = keys = space.roots()
    while keys.size and seen.size < 2000:
        out = np.empty(keys.size * space.max_neighbours + space.max_neighbours, dtype=np.uint64)
        keys = np.setdiff1d(out[: space.expand(keys, out, True).written], seen)
        seen = np.union1d(seen, keys)
    return space, seen


@pytest.mark.parametrize(("name", "parameters"), SPACES, ids=str)
def test_a_block_is_the_same_as_one_by_one(name: str, parameters: dict[str, Any]) -> None:
    space, keys = some_keys(name, tuple(parameters.items()))
    expected = [space.format(space.state_of(key)) for key in keys.tolist()]
    assert space.format_keys(keys).decode() == "".join(f"{line}\n" for line in expected)
    assert space.format_keys(keys[:0]) == b""
    assert space.format_keys(keys[-1:]).decode() == f"{expected[-1]}\n"


@pytest.mark.parametrize(
    ("name", "parameters", "wrong"),
    [
        ("snake", {"n": 9}, 1 << 60),
        ("snake", {"n": 33}, (1 << 64) - 1),
        ("fifteen", {}, (1 << 64) - 1),
        ("sliding", {"rows": 2, "cols": 2}, 15 << 4),
        ("sliding", {"rows": 2, "cols": 2}, 3 << 9),
        ("permutations", {"size": 4}, 24),
        ("permutations", {"size": 4, "start": "0011"}, (1 << 64) - 1),
    ],
)
def test_a_key_of_no_state(name: str, parameters: dict[str, Any], wrong: int) -> None:
    space = make_space(name, parameters)
    with pytest.raises(InvalidInput) as one:
        space.state_of(wrong)
    with pytest.raises(InvalidInput) as block:
        space.format_keys(np.array([*space.roots().tolist(), wrong], dtype=np.uint64))
    assert str(block.value) == str(one.value)
