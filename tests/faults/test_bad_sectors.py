"""Any file of a job damaged in any way: it is noticed, never used, and repaired if what remains suffices."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pipeline import Search, Sliding, Snake
from pipeline.audit.damage import Damage, examine
from pipeline.audit.repair import repair
from pipeline.spaces.contract import StateSpace
from pipeline.spaces.permutations.space import Permutation
from storage.errors import CorruptJob, JobError
from storage.jobs.job import Job
from storage.jobs.restoring import restore_attributes
from tests.engine.jobs import Summary, keys_at, leftovers, summary
from tests.engine.test_resuming import Broken, Tasks
from tests.engine.tiny import Sizes, everything_small
from tests.faults.damaging import KINDS, damage, files_of

SIZES = Sizes(buffer=200, chunk=24, task=20, partition=20)
ALL_OF_SO_MANY = 30
SPACES: dict[str, tuple[Callable[[], StateSpace], int, int]] = {
    "snake": (lambda: Snake(n=7), 4, 7),
    "2x4": (lambda: Sliding(rows=2, cols=4), 8, 9),
    "pancakes": (lambda: Permutation(size=5), 4, 5),
    "directed": (lambda: Permutation(family="lx", size=5), 9, 10),
}


class Case:
    """A job that was stopped while it merged a level, and what an undisturbed one looks like."""

    def __init__(self, directory: Path, space: StateSpace, stopped: int, last: int) -> None:
        self.space = space
        self.last = last
        self.directory = directory
        self.path = directory / "job"
        with everything_small(SIZES), pytest.MonkeyPatch.context() as patch:
            Search(space, job=directory / "whole", scheduler="sync", max_depth=last).run()
            Search(space, job=self.path, scheduler="sync", max_depth=stopped - 1).run()
            tasks = Tasks(patch)
            tasks.merge_limit = 1
            with pytest.raises(Broken):
                Search(space, job=self.path, scheduler="sync", max_depth=stopped).run(resume=True)
        self.done = summary(self.path)
        self.expected: Summary = summary(directory / "whole")
        whole = Job.open(directory / "whole")
        self.keys = {depth: keys_at(whole, depth) for depth, keys, _, _ in self.expected if keys}

    def copy(self) -> Path:
        """A copy to damage."""
        path = self.directory / "copy"
        shutil.rmtree(path, ignore_errors=True)
        return Path(shutil.copytree(self.path, path))

    def is_unfinished_work_alone(self, path: Path) -> bool:
        """Whether all that differs from the job lies below ``work``."""
        before, after = ({file: (job / file).read_bytes() for file in files_of(job)} for job in (self.path, path))
        different = {file for file in before.keys() | after.keys() if before.get(file) != after.get(file)}
        return all(file.parts[0] == "work" for file in different)

    def resume(self, path: Path) -> Summary | None:
        """What the job holds after it was gone on with; None if it was refused as damaged."""
        try:
            Search(self.space, job=path, scheduler="sync", max_depth=self.last).run(resume=True)
        except CorruptJob:
            return None
        assert leftovers(path) == []
        return summary(path)

    def damages(self, path: Path) -> tuple[list[Damage], JobError | CorruptJob | None]:
        """What is found to be damaged, or why the job cannot be opened."""
        try:
            job = Job.open(path)
        except (CorruptJob, JobError) as error:
            return [], error
        return [found for found in examine(self.space, job) if isinstance(found, Damage)], None


@pytest.fixture(scope="module", params=SPACES)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    """A job of each puzzle."""
    make, stopped, last = SPACES[request.param]
    return Case(tmp_path_factory.mktemp("jobs"), make(), stopped, last)


def check_one(case: Case, file: Path, kind: str, seed: int) -> None:
    """Damage a file; look, go on and repair."""
    path = case.copy()
    if not damage(path, file, kind, seed):
        return
    note = f"{file} {kind} {seed}"
    working = file.parts[0] == "work"
    # It is noticed, with its place.
    found, refusal = case.damages(path)
    if refusal is not None:
        # The metadata of the job, or what was exchanged with them.
        assert file == Path("zarr.json") or kind == "swap", note
        if not isinstance(refusal, CorruptJob):
            # The metadata and their only copy.
            assert (kind, "is not a job" in str(refusal)) == ("swap", True), note
            return
        assert refusal.path == path / "zarr.json", note
    elif kind == "swap":
        # Either of the two may hide the other.
        assert found, note
    elif not (working and kind == "remove" and file.name != "zarr.json"):
        here = [entry for entry in found if str(path / file) in entry.message]
        assert here, (note, [entry.message for entry in found])
        if file.parts[0] == "levels" and len(file.parts) > 2:
            assert here[0].depth == int(file.parts[1]), note
            assert len(file.parts) == 3 or here[0].partition == file.parts[2], note

    # What can be read is right.
    if refusal is None:
        for depth in range(len(case.done)):
            try:
                keys = keys_at(Job.open(path), depth)
            except CorruptJob:
                continue
            np.testing.assert_array_equal(keys, case.keys[depth], note)

    # The search goes on to the right end; or not at all, if what is committed was damaged.
    again = case.directory / "resumed"
    shutil.rmtree(again, ignore_errors=True)
    shutil.copytree(path, again)
    resumed = case.resume(again)
    if case.is_unfinished_work_alone(path):
        assert resumed == case.expected, note
    assert resumed in (None, case.expected), note

    # And it is repaired.
    restore_attributes(path)
    outcomes = list(repair(case.space, Job.open(path)))
    assert all(outcome.repaired for outcome in outcomes), (note, outcomes)
    assert case.damages(path) == ([], None), note
    assert summary(path) == case.done, note
    assert case.resume(path) == case.expected, note


def test_files(case: Case) -> None:
    """Each one (of the larger job every second one) in one of the ways; metadata and chunks take turns."""
    files = files_of(case.path)
    with everything_small(SIZES):
        for number, file in enumerate(files[:: 1 if len(files) < ALL_OF_SO_MANY else 2]):
            check_one(case, file, KINDS[(number + number // len(KINDS)) % len(KINDS)], number)


def test_a_flipped_bit_in_any_finished_spill(case: Case) -> None:
    """Its task is run again, whatever part of the file was hit."""
    spills = [file for file in files_of(case.path) if file.suffix == ".spill"]
    assert spills
    with everything_small(SIZES):
        for file in spills:
            # The frames come first, then the index, the note and the trailer.
            size = (case.path / file).stat().st_size
            for place in range(0, size, size // 5):
                path = case.copy()
                data = bytearray((path / file).read_bytes())
                data[place] ^= 1 << place % 8
                (path / file).write_bytes(data)
                assert case.resume(path) == case.expected, (file, place)


@pytest.mark.slow
def test_every_file_in_every_way(case: Case) -> None:
    with everything_small(SIZES):
        for file in files_of(case.path):
            for kind in KINDS:
                for seed in range(8 if kind in ("flip", "truncate", "swap") else 1):
                    check_one(case, file, kind, seed)
