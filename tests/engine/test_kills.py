"""Processes that are killed at any moment, and jobs that are resumed after it."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.spaces.registry import make_space
from storage.jobs.job import Job
from tests.engine.jobs import Summary, leftovers, summary
from tests.engine.killing import Driver, driver
from tests.engine.tiny import Sizes
from tests.helpers.levels import verify_levels

SNAKE: tuple[str, dict[str, Any]] = ("snake", {"n": 8})
BOARD: tuple[str, dict[str, Any]] = ("sliding", {"rows": 2, "cols": 3})
# Moves that cannot be undone.
ONE_WAY: tuple[str, dict[str, Any]] = ("permutations", {"family": "lx", "size": 6})
DISK = Sizes(buffer=100, chunk=32, frame=16, task=30, partition=40)
MEMORY = Sizes(buffer=100, chunk=32, frame=16, task=30, partition=40, memory=10**6)
SOME = Sizes(buffer=100, chunk=32, frame=16, task=30, partition=40, memory=150)


@pytest.fixture(scope="module")
def killer() -> Iterator[Driver]:
    """A driver for all tests."""
    with driver() as found:
        yield found


def check_whole(path: Path, expected: Summary, space: tuple[str, dict[str, Any]]) -> None:
    """The job is what an uninterrupted one would be, and has nothing else in it."""
    assert summary(path) == expected
    assert leftovers(path) == []
    list(verify_levels(make_space(*space), Job.open(path)))
    assert [entry.name for entry in path.parent.iterdir() if entry.name.endswith(".partial")] == []


@pytest.mark.parametrize("moments", [4, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("space", "sizes", "options"),
    [
        (SNAKE, DISK, {"scheduler": "sync"}),
        (SNAKE, MEMORY, {"scheduler": "sync", "keep": "frontier"}),
        (BOARD, SOME, {"workers": 2, "keep": "frontier"}),
        (ONE_WAY, DISK, {"scheduler": "sync"}),
    ],
    ids=["spills on disk", "spills in memory", "overflow", "directed"],
)
def test_killed_before_and_after_changes(
    space: tuple[str, dict[str, Any]],
    sizes: Sizes,
    options: dict[str, Any],
    moments: int,
    tmp_path: Path,
    killer: Driver,
) -> None:
    """Whatever change to the disk was the last one, the job can be resumed with ordinary sizes."""
    whole = killer.search(tmp_path / "whole", *space, sizes=sizes, **options)
    expected = whole["summary"]
    count = 2 * whole["changes"]
    assert count > 400
    generator = random.Random(moments)
    # Creating the job, then everywhere.
    points = [0, 5, 10, *sorted(generator.sample(range(16, count), moments))]
    for point in points:
        path = tmp_path / f"killed-{point}"
        assert killer.search(path, *space, sizes=sizes, die_at=point, **options) == {"killed": True}
        if options.get("workers"):
            # Workers may have come further than in the first run.
            killer.search(path, *space, sizes=sizes, die_at=point // 2, **options)
        elif point % 3 == 0:
            # Killed a second time, soon after the start and so perhaps while cleaning up.
            killer.search(path, *space, sizes=sizes, die_at=generator.randrange(40), **options)
        again = killer.search(path, *space, sizes=sizes if point % 2 else DISK, **options)
        assert again["summary"] == expected, point
        assert summary(path) == expected
        assert leftovers(path) == []
        if "keep" not in options:
            check_whole(path, expected, space)
        shutil.rmtree(path)


def test_killed_again_and_again(tmp_path: Path, killer: Driver) -> None:
    """Each life is a few changes longer than the one before could use, so that the job gets to its end."""
    expected = killer.search(tmp_path / "whole", *SNAKE, sizes=DISK, scheduler="sync")["summary"]
    generator = random.Random(2)
    lives = 0
    answer: dict[str, Any] = {"killed": True}
    while "killed" in answer:
        lives += 1
        sizes = generator.choice([DISK, MEMORY, SOME])
        answer = killer.search(
            tmp_path / "job", *SNAKE, sizes=sizes, die_at=generator.randrange(60, 200), scheduler="sync"
        )
    assert lives > 5
    assert answer["summary"] == expected
    check_whole(tmp_path / "job", expected, SNAKE)


@pytest.mark.parametrize("space", [("snake", {"n": 10}), ("sliding", {"rows": 2, "cols": 4})], ids=["snake", "2x4"])
def test_killed_by_a_signal_at_random_times(space: tuple[str, dict[str, Any]], tmp_path: Path, killer: Driver) -> None:
    """SIGKILL, with threads at work. The first lives are too short for the job, however fast the machine is."""
    whole = killer.search(tmp_path / "whole", *space, ordinary=True, memory=2**31)
    expected = whole["summary"]
    assert whole["changes"] > 120
    generator = random.Random(3)
    killed = 0
    for _ in range(8):
        sizes = Sizes(memory=generator.choice([0, 300, 10**6]), buffer=generator.choice([200, 400]))
        change = generator.randrange(1, 80)
        answer = killer.search(
            tmp_path / "job", *space, sizes=sizes, kill_after=change, workers=generator.choice([1, 2, 3])
        )
        killed += "killed" in answer
    assert killed > 1
    answer = killer.search(tmp_path / "job", *space, ordinary=True, memory=2**31)
    assert answer["summary"] == expected
    check_whole(tmp_path / "job", expected, space)
