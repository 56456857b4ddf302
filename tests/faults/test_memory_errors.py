"""Bits that flip in the memory of the machine while a level is made: never a wrong count."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline import Search, Sliding, Snake
from pipeline.spaces.contract import Detection, Reference, StateSpace
from storage.errors import CorruptJob, Mismatch
from storage.jobs.job import Job
from storage.jobs.level import Level
from storage.keys import partition
from tests.engine.jobs import leftovers, summary
from tests.engine.tiny import Sizes, everything_small
from tests.engine.toys import Toy, pancakes

SIZES = Sizes(buffer=300, chunk=64, task=50, partition=80)


def toy() -> StateSpace:
    """A graph that takes any number for a state, and looks at two earlier levels."""
    neighbours, root = pancakes(5)

    def bearing(node: int) -> list[int]:
        try:
            return list(neighbours(node))
        except KeyError:
            return []

    return Toy(bearing, [root], 4, Detection.LEVELS, bipartite=False)


SPACES: dict[str, tuple[Callable[[], StateSpace], int | None]] = {
    "snake": (lambda: Snake(n=7), None),
    "2x4": (lambda: Sliding(rows=2, cols=4), 12),
    "pancakes": (toy, None),
}


class Flips:
    """Flips one bit of the keys that are read from a level, the ``wanted``-th time that some are."""

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted
        self.seen = 0

    def __call__(self, keys: np.ndarray) -> None:
        if self.seen == self.wanted:
            keys[keys.size // 2] ^= np.uint64(1 << 20)
        self.seen += 1


@pytest.fixture(params=SPACES)
def space(request: pytest.FixtureRequest) -> tuple[StateSpace, int | None]:
    """A puzzle and how deep it is searched."""
    make, depth = SPACES[request.param]
    return make(), depth


def search_with(
    space: StateSpace, depth: int | None, directory: Path, install: Callable[[Flips, pytest.MonkeyPatch], None]
) -> None:
    """Search with a flip at every seventh place: each is noticed, and costs no more than going on."""
    refusals: list[str] = []
    with everything_small(SIZES):
        Search(space, job=directory / "whole", scheduler="sync", max_depth=depth).run()
        wanted = 0
        while True:
            flips = Flips(wanted)
            with pytest.MonkeyPatch.context() as patch:
                install(flips, patch)
                try:
                    Search(space, job=directory / "job", scheduler="sync", max_depth=depth).run()
                except CorruptJob as error:
                    refusals.append(error.remedy or "")
            done = summary(directory / "job")
            assert done == summary(directory / "whole")[: len(done)]
            # The flip is over, and the search goes on.
            Search(space, job=directory / "job", scheduler="sync", max_depth=depth).run(resume=True)
            assert summary(directory / "job") == summary(directory / "whole")
            assert leftovers(directory / "job") == []
            Job.remove(directory / "job")
            if flips.seen <= wanted:
                break
            wanted += 7
    assert len(refusals) == -(-wanted // 7) > 1
    assert all("again" in remedy for remedy in refusals)


def test_between_the_disk_and_those_who_read(space: tuple[StateSpace, int | None], tmp_path: Path) -> None:
    def install(flips: Flips, patch: pytest.MonkeyPatch) -> None:
        decode = partition.decode

        def flipping(frame: Any, out: np.ndarray) -> int:
            values = decode(frame, out)
            flips(out[: max(values, 1)])
            return values

        patch.setattr(partition, "decode", flipping)

    search_with(*space, tmp_path, install)


def test_while_they_are_used(space: tuple[StateSpace, int | None], tmp_path: Path) -> None:
    """Just before a block is expanded, or subtracted from what was found."""

    def install(flips: Flips, patch: pytest.MonkeyPatch) -> None:
        read = Level.read

        def flipping(self: Level, *arguments: Any) -> Iterator[np.ndarray]:
            blocks = read(self, *arguments)
            try:
                for block in blocks:
                    flips(block)
                    yield block
            finally:
                blocks.close()

        patch.setattr(Level, "read", flipping)

    search_with(*space, tmp_path, install)


def test_copies_that_differ_from_what_was_read(tmp_path: Path) -> None:
    """The sum of what was expanded is compared too, wherever the difference comes from."""

    def install(flips: Flips, patch: pytest.MonkeyPatch) -> None:
        read = Level.read

        def flipping(self: Level, *arguments: Any) -> Iterator[np.ndarray]:
            for block in read(self, *arguments):
                copy = block.copy()
                flips(copy)
                yield copy

        patch.setattr(Level, "read", flipping)

    search_with(Sliding(rows=2, cols=4), 12, tmp_path, install)


def test_more_states_than_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that is past the known size of its space stops, and commits nothing of what cannot be."""
    space = Snake(n=6)
    monkeypatch.setattr(space, "reference", lambda: Reference("a book", total=40))
    with pytest.raises(Mismatch, match=r"has 51 states up to depth 4; a book says 40 in all; level 4 was not"):
        Search(space, job=tmp_path / "job").run()
    assert [states for _, _, states, _ in summary(tmp_path / "job")] == [1, 3, 12, 19]
    monkeypatch.setattr(space, "reference", lambda: Reference("a book", (1, 3, 12, 19), complete=True))
    with pytest.raises(Mismatch, match="a book says 35 in all"):
        Search(space, job=tmp_path / "job").run(resume=True)
