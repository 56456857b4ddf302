"""Unfinished work at another place than in the job: on another file system, left behind, taken up again."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cli.main import command_line
from pipeline import Search, Sliding, Snake
from pipeline.audit.verification import verify_expansion
from storage.errors import JobError, OutOfBudget
from storage.files import durable
from storage.jobs.job import Job
from tests.engine.jobs import leftovers, summary
from tests.engine.test_resuming import Broken, Tasks
from tests.engine.tiny import everything_small
from tests.faults.test_foreign_things import Lines

COUNTS = [1, 2, 3, 5, 6, 7, 10, 12, 12, 16, 23, 25, 28, 39, 44, 40, 29, 21, 18, 12, 6, 1, 0]


def search(path: Path, lines: Lines | None = None, **options: Any) -> None:
    """Search the 2x3 board, or go on."""
    with everything_small():
        resume = path.exists()
        Search(Sliding(rows=2, cols=3), job=path, scheduler="sync", observer=lines, **options).run(resume)


def stop_in_merge(path: Path, **options: Any) -> None:
    """Search until the merge of level 9."""
    search(path, max_depth=8, **options)
    with pytest.MonkeyPatch.context() as patch:
        tasks = Tasks(patch)
        tasks.merge_limit = 0
        with pytest.raises(Broken):
            search(path, **options)


@pytest.fixture
def two_disks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory from which nothing can be renamed to another place."""
    fast = tmp_path / "fast"
    replace = os.replace

    def refusing(source: Any, target: Any) -> None:
        if Path(source).is_relative_to(fast) != Path(target).is_relative_to(fast):
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        replace(source, target)

    monkeypatch.setattr(durable.os, "replace", refusing)
    return fast


def test_another_file_system(two_disks: Path, tmp_path: Path) -> None:
    search(tmp_path / "job", work_dir=two_disks)
    assert [states for _, _, states, _ in summary(tmp_path / "job")] == COUNTS
    assert leftovers(tmp_path / "job") == []
    assert list(two_disks.iterdir()) == []


def test_a_copy_that_is_cut_off(two_disks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk of the job is full while a level is brought to it: the level is not there, and comes later."""
    search(tmp_path / "job", work_dir=two_disks, max_depth=5)

    def full(source: Path, target: Path) -> None:
        target.write_bytes(source.read_bytes()[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(durable.shutil, "copyfile", full)
        with pytest.raises(OutOfBudget, match="the disk is full while writing"):
            search(tmp_path / "job", work_dir=two_disks)
    assert len(summary(tmp_path / "job")) == 6
    assert [path.name for path in (tmp_path / "job" / "levels").iterdir() if path.name.endswith(".partial")] == []
    search(tmp_path / "job", work_dir=two_disks)
    assert [states for _, _, states, _ in summary(tmp_path / "job")] == COUNTS


def test_work_is_taken_up_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stop_in_merge(tmp_path / "job", work_dir=tmp_path / "fast")
    assert len(list((tmp_path / "fast").glob("*/0009/spills/*.spill"))) > 0
    assert leftovers(tmp_path / "job") == [str(tmp_path / "job" / "work" / "elsewhere.json")]
    tasks = Tasks(monkeypatch)
    search(tmp_path / "job", work_dir=tmp_path / "fast")
    assert min(depth for depth, _ in tasks.expanded) == 10
    assert [states for _, _, states, _ in summary(tmp_path / "job")] == COUNTS
    assert leftovers(tmp_path / "job") == []


@pytest.mark.parametrize("then", ["slow", None])
def test_another_place_than_before(then: str | None, tmp_path: Path) -> None:
    """What was begun is begun again, and what is left is named."""
    stop_in_merge(tmp_path / "job", work_dir=tmp_path / "fast")
    lines = Lines()
    search(tmp_path / "job", lines, work_dir=None if then is None else tmp_path / then)
    (left,) = (tmp_path / "fast").iterdir()
    assert f"unfinished work of {tmp_path / 'job'} in {left} is not used" in lines.lines[0]
    assert f"--work-dir {tmp_path / 'fast'}, or delete it" in lines.lines[0]
    assert [states for _, _, states, _ in summary(tmp_path / "job")] == COUNTS
    assert leftovers(tmp_path / "job") == []
    # Work in the job itself, which then goes on elsewhere.
    shutil.rmtree(tmp_path / "job")
    stop_in_merge(tmp_path / "job")
    search(tmp_path / "job", work_dir=tmp_path / "fast")
    assert [states for _, _, states, _ in summary(tmp_path / "job")] == COUNTS
    assert leftovers(tmp_path / "job") == []
    assert list((tmp_path / "fast").iterdir()) == []


def test_work_of_the_job_before(tmp_path: Path) -> None:
    """It is not taken for that of another search which has taken the place of the job."""
    stop_in_merge(tmp_path / "job", work_dir=tmp_path / "fast")
    Search(Snake(n=8), job=tmp_path / "job", work_dir=tmp_path / "fast").run(overwrite=True)
    assert sum(states for _, _, states, _ in summary(tmp_path / "job")) == 388
    assert list((tmp_path / "fast").iterdir()) == []


def test_two_jobs_of_one_name(tmp_path: Path) -> None:
    for parent in ("a", "b"):
        (tmp_path / parent).mkdir()
        stop_in_merge(tmp_path / parent / "job", work_dir=tmp_path / "fast")
    assert len(list((tmp_path / "fast").iterdir())) == 2
    for parent in ("a", "b"):
        search(tmp_path / parent / "job", work_dir=tmp_path / "fast")
        assert [states for _, _, states, _ in summary(tmp_path / parent / "job")] == COUNTS


def test_what_is_no_place_for_work(tmp_path: Path) -> None:
    stop_in_merge(tmp_path / "job", work_dir=tmp_path / "fast")
    (place,) = (tmp_path / "fast").iterdir()
    shutil.rmtree(place)
    place.mkdir()
    (place / "precious").write_text("precious")
    with pytest.raises(JobError, match="is no directory for unfinished work; choose another place with --work-dir"):
        search(tmp_path / "job", work_dir=tmp_path / "fast")
    assert (place / "precious").read_text() == "precious"


def test_the_quota_counts_work_elsewhere(tmp_path: Path) -> None:
    search(tmp_path / "job", work_dir=tmp_path / "fast", max_depth=8)
    (tmp_path / "fast").mkdir(exist_ok=True)
    with pytest.raises(OutOfBudget, match="quota"):
        search(tmp_path / "job", work_dir=tmp_path / "fast", max_disk=20_000)


def test_a_level_that_is_made_again_to_be_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the job, after a look at the room; what a killed one left goes, what one in progress has stays."""
    search(tmp_path / "jobs" / "job", max_depth=9)
    job = Job.open(tmp_path / "jobs" / "job")
    made: list[Path] = []
    rmtree = shutil.rmtree
    monkeypatch.setattr(shutil, "rmtree", lambda path, **options: (made.append(Path(path)), rmtree(path, **options)))
    with everything_small():
        verify_expansion(job_space(), job, 9)
        left = tmp_path / "jobs" / "job.verify.0123abcd.partial"
        left.mkdir()
        verify_expansion(job_space(), job, 9, work_dir=tmp_path / "elsewhere")
        assert left.exists()
        verify_expansion(job_space(), job, 9)
        assert not left.exists()
    places = [path.parent for path in made if path.name.startswith("job.verify.") and path != left]
    assert places == [tmp_path / "jobs", tmp_path / "elsewhere", tmp_path / "jobs"]
    assert sorted(path.name for path in (tmp_path / "jobs").iterdir()) == ["job"]
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1000))
    with pytest.raises(OutOfBudget, match=r"level 9 .*more on disk.* are free in .*--work-dir"):
        verify_expansion(job_space(), job, 9)
    assert sorted(path.name for path in (tmp_path / "jobs").iterdir()) == ["job"]


def job_space() -> Sliding:
    return Sliding(rows=2, cols=3)


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    search(tmp_path / "job", max_depth=4)
    (tmp_path / "file").write_text("")
    with pytest.raises(JobError, match=r"file cannot be written .*name another place for unfinished work"):
        verify_expansion(job_space(), Job.open(tmp_path / "job"), 4, work_dir=tmp_path / "file")
    with pytest.raises(JobError, match="cannot be written"):
        search(tmp_path / "job", work_dir=tmp_path / "file")


def test_the_commands(tmp_path: Path) -> None:
    runner = CliRunner()
    job, fast = str(tmp_path / "job"), str(tmp_path / "fast")
    result = runner.invoke(command_line, ["run", "--n", "6", "--job", job, "--work-dir", fast, "--json"])
    assert json.loads(result.stdout)["states"] == [1, 3, 12, 19, 16, 5]
    result = runner.invoke(command_line, ["verify", job, "--deep", "--work-dir", fast])
    assert result.exit_code == 0
    assert "agree" in result.stdout
    assert list((tmp_path / "fast").iterdir()) == []
