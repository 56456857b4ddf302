"""Making, opening and removing job directories."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from storage.errors import CorruptJob, JobError, OutOfBudget
from storage.files.sealed import read_document, seal
from storage.jobs.job import Job
from storage.jobs.sweeping import sweep
from storage.keys.partition import PartitionWriter
from storage.records import Manifest

SPACE = {"name": "toy", "parameters": {"n": 3}, "key_version": 1, "field_bits": 0, "mask_bits": 0}


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A new job."""
    return Job.create(tmp_path / "job", SPACE, {"command": "test"})


def commit_level(job: Job, depth: int, keys: list[int]) -> Manifest:
    """Make a level of one partition (none without keys)."""
    work = job.working_level(depth)
    work.save_plan({})
    records = []
    if keys:
        writer = PartitionWriter(work.partitions, "00000", len(keys), 0)
        writer.append(np.array(keys, dtype=np.uint64), len(keys))
        records.append(writer.close())
    manifest = Manifest.of(depth, records)
    job.commit(work, manifest)
    return manifest


def test_create_and_open(job: Job) -> None:
    again = Job.open(job.path)
    assert again.attributes == job.attributes
    assert again.attributes["space"] == SPACE
    assert again.depths() == []
    assert [entry.name for entry in job.path.parent.iterdir()] == ["job"]


def test_create_in_an_empty_directory_and_below_missing_ones(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    Job.create(tmp_path / "empty", SPACE, {})
    Job.create(tmp_path / "a" / "b" / "c", SPACE, {})
    assert Job.open(tmp_path / "a" / "b" / "c").depths() == []


@pytest.mark.parametrize("kind", ["job", "directory", "file", "dangling link"])
def test_create_leaves_what_is_there_alone(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "job"
    if kind == "job":
        Job.create(path, SPACE, {})
    elif kind == "directory":
        path.mkdir()
        (path / "notes.txt").write_text("mine")
    elif kind == "file":
        path.write_text("mine")
    else:
        path.symlink_to(tmp_path / "nowhere")
    assert Job.exists(path)
    with pytest.raises(JobError, match="exists"):
        Job.create(path, SPACE, {})


def test_open_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(JobError, match=r"there is no job at .*/job"):
        Job.open(tmp_path / "job")


@pytest.mark.parametrize(
    "content",
    [None, "", "{", "[]", "{}", '{"attributes": {}}', '{"attributes": {"format_version": "x"}}', '{"attributes": 3}'],
)
def test_open_and_remove_a_foreign_directory(tmp_path: Path, content: str | None) -> None:
    (tmp_path / "precious").write_text("mine")
    if content is not None:
        (tmp_path / "zarr.json").write_text(content)
    with pytest.raises(JobError, match="is not a job directory"):
        Job.open(tmp_path)
    if content != '{"attributes": {"format_version": "x"}}':
        with pytest.raises(JobError, match="left alone"):
            Job.remove(tmp_path)
    assert (tmp_path / "precious").read_text() == "mine"


def test_open_and_remove_a_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("mine")
    with pytest.raises(JobError, match="is not a job directory"):
        Job.open(path)
    with pytest.raises(JobError):
        Job.remove(path)
    assert path.read_text() == "mine"


def test_open_a_newer_format(job: Job) -> None:
    document = json.loads((job.path / "zarr.json").read_text())
    document["attributes"]["format_version"] = 3
    (job.path / "zarr.json").write_text(json.dumps(seal(document)))
    with pytest.raises(JobError, match=r"has format 3, and this version reads formats up to 2.*newer version"):
        Job.open(job.path)


def test_open_half_a_job(job: Job) -> None:
    shutil.rmtree(job.path / "levels")
    with pytest.raises(CorruptJob, match="lost its directory levels"):
        Job.open(job.path)


def test_levels_are_committed_in_order(job: Job) -> None:
    manifests = [commit_level(job, depth, list(range(depth * 10, depth * 10 + 5))) for depth in range(4)]
    manifests.append(commit_level(job, 4, []))
    again = Job.open(job.path)
    assert again.depths() == [0, 1, 2, 3, 4]
    assert again.manifests() == manifests
    assert [entry.name for entry in (job.path / "work").iterdir()] == ["zarr.json"]
    assert again.level(4).manifest.keys == 0


def test_a_level_that_is_missing_in_between(job: Job) -> None:
    for depth in range(3):
        commit_level(job, depth, [1])
    (job.path / "levels" / "0001" / "zarr.json").unlink()
    with pytest.raises(CorruptJob, match=r"level 1 of the job .* is missing"):
        Job.open(job.path).depths()


@pytest.mark.parametrize("change", ["not json", "no digest", "another depth", "text for a number", "unknown entry"])
def test_a_manifest_that_cannot_be_read(job: Job, change: str) -> None:
    for depth in range(3):
        commit_level(job, depth, [1])
    path = job.path / "levels" / "0001" / "zarr.json"
    document: dict[str, Any] = read_document(path, sealed=True)
    attributes = document["attributes"]
    if change == "no digest":
        del attributes["digest"]
    elif change == "another depth":
        attributes["depth"] = 2
    elif change == "text for a number":
        attributes["digest"] = "many"
    elif change == "unknown entry":
        attributes["colour"] = "green"
    path.write_text(json.dumps(seal(document)) if change != "not json" else "{")
    with pytest.raises(CorruptJob, match=r"manifest of level 1 .*0001/zarr\.json"):
        Job.open(job.path).manifests()


def test_commit_drops_arrays_that_the_manifest_does_not_name(job: Job) -> None:
    work = job.working_level(0)
    work.save_plan({})
    (work.partitions / "00007").mkdir()
    commit_level(job, 0, [4])
    assert sorted(entry.name for entry in (job.path / "levels" / "0000").iterdir()) == ["00000", "zarr.json"]


def test_sweep(job: Job) -> None:
    """Only the level that is being made stays, without what has a temporary name or the end of a commit."""
    commit_level(job, 0, [1])
    commit_level(job, 1, [2])
    work = job.working_level(2)
    work.save_plan({"tasks": 1})
    spills = work.spills()
    for task in (0, 1_000_003):
        spills.writer(task).close({})
    (spills.directory / "00001.spill.partial").write_bytes(b"cut off")
    writer = PartitionWriter(work.partitions, "00000", 1, 0)
    writer.append(np.array([1], dtype=np.uint64), 1)
    writer.close()
    PartitionWriter(work.partitions, "00001", 5, 0)
    (work.partitions / "zarr.json").write_text("{}")
    job.working_level(1).save_plan({"old": True})
    (job.path / "work" / "verify").mkdir()
    (job.path / "levels" / "0000" / "x.partial").write_text("")

    with job.lock():
        sweep(job)
    assert sorted(str(entry.relative_to(job.path)) for entry in (job.path / "work").rglob("*") if entry.is_file()) == [
        "work/0002/partitions/00000/c/0",
        "work/0002/partitions/00000/zarr.json",
        "work/0002/plan.json",
        "work/0002/spills/00000.spill",
        "work/zarr.json",
    ]
    assert not list(job.path.rglob("*.partial"))
    assert job.working_level(2).plan() == {"tasks": 1}
    record = job.working_level(2).record("00000")
    assert record is not None
    assert record.first == 1
    assert job.working_level(2).record("00001") is None


def test_sweep_restores_the_work_directory(job: Job) -> None:
    shutil.rmtree(job.path / "work")
    with job.lock():
        sweep(job)
    assert (job.path / "work" / "zarr.json").exists()


def test_drop_arrays(job: Job) -> None:
    manifest = commit_level(job, 0, [1, 2])
    commit_level(job, 1, [3])
    for _ in range(2):
        job.drop_arrays(0)
        assert [entry.name for entry in (job.path / "levels" / "0000").iterdir()] == ["zarr.json"]
        kept = Job.open(job.path).level(0).manifest
        assert not kept.arrays_kept
        assert (kept.keys, kept.digest, kept.partitions) == (manifest.keys, manifest.digest, manifest.partitions)
    assert Job.open(job.path).level(1).manifest.arrays_kept


def test_arrays_that_were_being_dropped_are_dropped_by_the_sweep(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    commit_level(job, 0, [1, 2])

    def killed(path: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            job.drop_arrays(0)
    assert (job.path / "levels" / "0000" / "00000").exists()
    with job.lock():
        sweep(job)
    assert not (job.path / "levels" / "0000" / "00000").exists()


def test_remove(job: Job) -> None:
    commit_level(job, 0, [1])
    Job.remove(job.path)
    assert not list(job.path.parent.iterdir())
    Job.remove(job.path)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.ENOSPC, errno.EDQUOT])
def test_a_place_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Simulated, because permissions do not stop root."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "mkdir", refuse)
    full = number in (errno.ENOSPC, errno.EDQUOT)
    expected = (OutOfBudget, "disk is full") if full else (JobError, "cannot be written")
    with pytest.raises(expected[0], match=expected[1]) as caught:
        Job.create(tmp_path / "jobs" / "job", SPACE, {})
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not stop root")
def test_a_directory_without_permissions(job: Job) -> None:
    (job.path / "zarr.json").chmod(0o400)
    with pytest.raises(JobError, match="cannot be written"), job.lock():
        pass


def test_a_level_replaces_what_has_its_place_without_a_manifest(job: Job) -> None:
    (job.path / "levels" / "0000" / "00000").mkdir(parents=True)
    commit_level(job, 0, [3, 5])
    assert job.depths() == [0]
    assert job.level(0).manifest.keys == 2
