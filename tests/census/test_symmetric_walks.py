"""The shipped sequences of symmetric walks, by counting them."""

from __future__ import annotations

import json
from importlib import resources

import pytest

from tests.census.symmetric_walks import symmetric_walks
from tests.spaces import slow_snake

REFERENCE = json.loads(resources.files("pipeline.census").joinpath("reference.json").read_text(encoding="utf-8"))


def agree(n: int) -> bool:
    """Whether both shipped numbers for n are those counted."""
    counted = symmetric_walks(n, False), symmetric_walks(n, True)
    return counted == tuple(REFERENCE[name]["values"][n - 1] for name in ("A323188", "A323189"))


def test_the_shipped_numbers() -> None:
    assert all(agree(n) for n in range(1, 27))


@pytest.mark.slow
def test_the_largest_shipped_numbers() -> None:
    assert all(agree(n) for n in range(27, 41))


def test_walks_by_definition() -> None:
    for n in range(1, 9):
        walks = slow_snake.walks(n)
        assert REFERENCE["A001411"]["values"][n] == 4 * len(walks)
        assert symmetric_walks(n, False) == 4 * sum(walk == walk[::-1] for walk in walks)
        assert symmetric_walks(n, True) == 4 * sum(walk == slow_snake.mirrored(walk[::-1]) for walk in walks)
