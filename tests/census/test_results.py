"""The locked shapes of ``docs/results.md``, in plain Python that shares no code with the search."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.spaces import slow_snake

RESULTS = (Path(__file__).parents[2] / "docs" / "results.md").read_text(encoding="utf-8")
LOCKED = re.findall(r"^    ([012]{20,})$", RESULTS, re.MULTILINE)
MOST = 20_000


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
    assert len(LOCKED) == len(set(LOCKED))


@pytest.mark.parametrize("shape", LOCKED)
def test_locked_shapes_are_locked(shape: str) -> None:
    """A component that is closed, without the straight snake, and all in the list."""
    assert slow_snake.canonical(shape) == shape
    assert not slow_snake.crosses_itself(shape)
    found = component(shape)
    assert len(found) < MOST
    assert "1" * len(shape) not in found
    assert found <= set(LOCKED)
