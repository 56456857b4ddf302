"""Sorting keys: both ways give what Python's sort gives, and the faster one is taken."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import Search, Sliding, Snake
from pipeline.level import sort
from pipeline.level.radix import COUNTS, ENDS, radix_sort
from pipeline.spaces.contract import Keys
from tests.engine.jobs import summary
from tests.engine.tiny import Sizes, everything_small


def use_sort(patch: pytest.MonkeyPatch, name: str | None) -> None:
    """Sort in a certain way, or choose again."""
    patch.setattr(sort, "_chosen", name)


def sorted_by_radix(keys: Keys, scratch: int = 1 << 18) -> list[int]:
    work = keys.copy()
    room = np.empty(scratch, np.uint64), np.empty(COUNTS, np.uint32), np.empty(ENDS, np.uint32)
    radix_sort(work, *room)
    return [int(key) for key in work]


def spread(generator: np.random.Generator, keys: int, bits: int) -> Keys:
    return generator.integers(0, 2**bits, keys, dtype=np.uint64)


PATTERNS = {
    "even": lambda generator, keys: spread(generator, keys, 40),
    "all bits": lambda generator, keys: spread(generator, keys, 64),
    "few values": lambda generator, keys: spread(generator, keys, 5) << np.uint64(30),
    "equal": lambda generator, keys: np.full(keys, 2**64 - 1, dtype=np.uint64),
    "clusters": lambda generator, keys: (
        np.repeat(spread(generator, keys // 50 + 1, 30) << np.uint64(20), 50)[:keys] + spread(generator, keys, 20)
    ),
    "two ends": lambda generator, keys: (
        spread(generator, keys, 12) * np.uint64(2**50 + 1) * (spread(generator, keys, 8) < 2)
    ),
    "one far away": lambda generator, keys: np.append(spread(generator, keys - 1, 16), np.uint64(2**64 - 1)),
    "ascending": lambda generator, keys: np.sort(spread(generator, keys, 40)),
    "descending": lambda generator, keys: np.sort(spread(generator, keys, 40))[::-1].copy(),
}


@pytest.mark.parametrize("scratch", [40, 5000, 1 << 18])
@pytest.mark.parametrize("keys", [1, 2, 30, 65, 1023, 20_000, 300_000])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns(pattern: str, keys: int, scratch: int) -> None:
    unsorted = PATTERNS[pattern](np.random.default_rng(keys), keys)
    assert unsorted.size == keys
    assert sorted_by_radix(unsorted, scratch) == sorted(unsorted.tolist())


@given(st.lists(st.integers(0, 2**64 - 1), max_size=300), st.integers(1, 100))
def test_any_keys(keys: list[int], scratch: int) -> None:
    assert sorted_by_radix(np.array(keys, dtype=np.uint64), scratch) == sorted(keys)


@pytest.mark.parametrize("name", sort.SORTS)
def test_both_ways_of_sorting(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    use_sort(monkeypatch, name)
    assert sort.sort_in_use() == name
    keys = PATTERNS["clusters"](np.random.default_rng(1), 5000)
    wanted = sorted(keys.tolist())
    sort.sort_keys(keys)
    assert keys.tolist() == wanted


@pytest.mark.parametrize(
    ("numpy", "radix", "chosen", "timed"),
    [
        (5.0, 1.0, sort.NUMPY, [sort.NUMPY]),
        (44.0, 11.0, sort.RADIX, [sort.NUMPY, sort.RADIX]),
        (17.0, 20.0, sort.NUMPY, [sort.NUMPY, sort.RADIX]),
    ],
)
def test_choice(numpy: float, radix: float, chosen: str, timed: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The faster one is taken; ours is not even loaded where numpy's has vector instructions that work."""
    asked: list[str] = []

    def speeds(keys: int, names: Iterable[str] = sort.SORTS) -> dict[str, float]:
        asked[:] = sorted(names)
        return {name: {sort.NUMPY: numpy, sort.RADIX: radix}[name] for name in names}

    monkeypatch.setattr(sort, "sort_speeds", speeds)
    use_sort(monkeypatch, None)
    assert sort.sort_in_use() == chosen
    assert asked == timed


def test_speeds() -> None:
    speeds = sort.sort_speeds(1000)
    assert set(speeds) == set(sort.SORTS)
    assert min(speeds.values()) > 0


@pytest.mark.parametrize("small", [False, True])
def test_same_job(small: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search finds and stores the same whichever sort is in use."""
    found = []
    for name in sort.SORTS:
        use_sort(monkeypatch, name)
        for space, depth in ((Snake(n=10), None), (Sliding(), 12)):
            path = tmp_path / f"{name}-{space.name}"
            if small:
                with everything_small(Sizes()):
                    Search(space, job=path, max_depth=depth, scheduler="sync").run()
            else:
                Search(space, job=path, memory=2**31, max_depth=depth, workers=2).run()
            found.append(summary(path))
    assert found[:2] == found[2:]
