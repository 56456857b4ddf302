"""Checking the content of a job, beyond what checksums and digests say."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pipeline import Search, Sliding, Snake
from pipeline.audit.verification import compare_with_reference, verify_expansion
from pipeline.spaces.contract import Reference, StateSpace
from pipeline.spaces.permutations.space import Permutation
from storage.errors import CorruptJob, Mismatch
from storage.jobs.job import Job
from storage.jobs.restoring import restore_ledger
from storage.keys.partition import PartitionWriter
from storage.records import Manifest
from tests.engine.jobs import keys_at
from tests.engine.tiny import everything_small
from tests.helpers.levels import verify_levels

MEMORY = 2**31
SPACES: dict[str, tuple[Callable[[], StateSpace], int | None]] = {
    "snake": (lambda: Snake(n=8), None),
    "static snake": (lambda: Snake(n=8, collision="static"), None),
    "from another start": (lambda: Snake(start="2112011"), None),
    "eight puzzle": (lambda: Sliding(rows=3, cols=3), 10),
    "2x4": (lambda: Sliding(rows=2, cols=4, blank=2), None),
    "pancakes": (lambda: Permutation(family="pancake", size=6), None),
    "word": (lambda: Permutation(family="lrx", size=9, start="001122222"), None),
}


@pytest.fixture(params=SPACES)
def searched(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[StateSpace, Job]:
    """A space and its job."""
    make, depth = SPACES[request.param]
    space = make()
    Search(space, job=tmp_path / "job", memory=MEMORY, max_depth=depth).run()
    return space, Job.open(tmp_path / "job")


def rewrite(job: Job, depth: int, keys: np.ndarray, space: StateSpace) -> None:
    """Replace a level by another one, consistent in itself: array, checksums, counts, digest, manifest and ledger."""
    level = job.level(depth)
    shutil.rmtree(level.path / "00000")
    writer = PartitionWriter(level.path, "00000", keys.size, space.layout.field_bits)
    writer.append(keys, space.count_states(keys))
    before = level.manifest
    manifest = Manifest.of(depth, [writer.close()], forward=before.forward, exhaustive=before.exhaustive)
    job.write_manifest(level.path, manifest)
    restore_ledger(job)


def test_every_level_again(searched: tuple[StateSpace, Job]) -> None:
    space, job = searched
    assert len(list(verify_levels(space, job))) == len(job.depths())
    for depth in job.depths()[1:]:
        verify_expansion(space, job, depth, memory=MEMORY)


def test_every_level_again_with_everything_small(searched: tuple[StateSpace, Job]) -> None:
    space, job = searched
    with everything_small():
        for depth in job.depths()[1:]:
            verify_expansion(space, job, depth)


def test_a_state_that_was_removed(searched: tuple[StateSpace, Job]) -> None:
    """Only making the level again shows it."""
    space, job = searched
    keys = keys_at(job, 5)
    rewrite(job, 5, np.delete(keys, keys.size // 2), space)
    assert len(list(verify_levels(space, job))) == len(job.depths())
    with pytest.raises(CorruptJob, match=r"level 5 .*expanding level 4 again gives keys"):
        verify_expansion(space, job, 5, memory=MEMORY)


def test_a_state_that_was_changed(searched: tuple[StateSpace, Job]) -> None:
    space, job = searched
    keys = keys_at(job, 5)
    # Another number that is no key of the level, in the same place of the order.
    step = np.uint64(1 << space.layout.field_bits)
    place = next(i for i in range(keys.size - 1) if keys[i] + step < keys[i + 1])
    keys[place] += step
    rewrite(job, 5, keys, space)
    assert len(list(verify_levels(space, job))) == len(job.depths())
    with pytest.raises(CorruptJob, match=r"level 5 .*expanding level 4 again gives digest"):
        verify_expansion(space, job, 5, memory=MEMORY)


def test_a_state_of_an_earlier_level_that_came_back(tmp_path: Path) -> None:
    space = Snake(n=8)
    Search(space, job=tmp_path / "job", memory=MEMORY).run()
    job = Job.open(tmp_path / "job")
    rewrite(job, 5, np.union1d(keys_at(job, 5), keys_at(job, 3)[:1]), space)
    with pytest.raises(CorruptJob, match="level 5 "):
        verify_expansion(space, job, 5, memory=MEMORY)


def test_known_counts(tmp_path: Path) -> None:
    for space, depth, found in (
        (Snake(n=8), None, "8 depths and the total"),
        (Snake(n=13), 4, None),
        (Snake(n=8), 4, "5 depths"),
        (Snake(n=8, collision="static"), None, "the total"),
        (Snake(start="1121"), None, None),
        (Sliding(rows=2, cols=3), None, "22 depths"),
        (Sliding(), 5, "6 depths"),
        (Sliding(rows=2, cols=3, blank=1), None, None),
    ):
        Search(space, job=tmp_path / "job", memory=MEMORY, max_depth=depth).run(overwrite=True)
        answer = compare_with_reference(space, Job.open(tmp_path / "job"))
        assert (answer is None) == (found is None)
        assert answer is None or (found is not None and answer.startswith(found))


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (Reference("a book", (1, 3, 12, 18, 16, 5)), "depth 3 of .* has 19 states; a book says 18"),
        (Reference("a book", (1, 3, 12, 19, 16), complete=True), "has 6 depths; a book says 5"),
        (Reference("a book", (1, 3, 12, 19, 16, 5, 1), complete=True), "has 6 depths; a book says 7"),
        (Reference("a book", total=57), "has 56 states; a book says 57"),
    ],
)
def test_other_counts(reference: Reference, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    space = Snake(n=6)
    Search(space, job=tmp_path / "job", memory=MEMORY).run()
    monkeypatch.setattr(space, "reference", lambda: reference)
    with pytest.raises(Mismatch, match=message):
        compare_with_reference(space, Job.open(tmp_path / "job"))
