"""Links, directories and mounts that the program did not make: nothing is lost, and what is said helps."""

from __future__ import annotations

import errno
import json
import os
import resource
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cli.main import command_line
from pipeline import Search, Sliding, Snake
from pipeline.audit.repair import repair
from pipeline.running.events import Observer
from storage.errors import CorruptJob, JobError, OutOfBudget
from storage.files import durable
from storage.jobs.job import Job
from tests.engine.jobs import leftovers, summary
from tests.engine.test_resuming import Broken, Tasks
from tests.engine.tiny import everything_small


class Lines(Observer):
    """What a search says."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def message(self, text: str) -> None:
        self.lines.append(text)


def run(*arguments: str) -> Result:
    """Run a command."""
    return CliRunner().invoke(command_line, arguments)


@pytest.fixture
def whole(tmp_path: Path) -> list[tuple[int, int, int, int]]:
    """What an undisturbed job of the 2x3 board holds."""
    with everything_small():
        Search(Sliding(rows=2, cols=3), job=tmp_path / "whole", scheduler="sync").run()
    return summary(tmp_path / "whole")


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    """A job that was stopped in the merge of level 9."""
    path = tmp_path / "job"
    with everything_small(), pytest.MonkeyPatch.context() as patch:
        Search(Sliding(rows=2, cols=3), job=path, scheduler="sync", max_depth=8).run()
        tasks = Tasks(patch)
        tasks.merge_limit = 0
        with pytest.raises(Broken):
            Search(Sliding(rows=2, cols=3), job=path, scheduler="sync").run(resume=True)
    return path


def resumed(path: Path, **options: Any) -> list[str]:
    """Go on with the job to its end; returns what it said."""
    lines = Lines()
    with everything_small():
        Search(Sliding(rows=2, cols=3), job=path, scheduler="sync", observer=lines, **options).run(resume=True)
    return lines.lines


def test_a_link_for_the_work(stopped: Path, whole: object, tmp_path: Path) -> None:
    """It is neither followed nor removed, by whatever command; the message says what does what the user wanted."""
    shutil.move(stopped / "work", tmp_path / "elsewhere")
    (stopped / "work").symlink_to(tmp_path / "elsewhere")
    before = sorted(path.name for path in (tmp_path / "elsewhere").rglob("*"))
    for arguments in (
        ["run", "--puzzle", "sliding", "-p", "rows=2", "-p", "cols=3", "--resume", "--job", str(stopped)],
        ["run", "--puzzle", "sliding", "-p", "rows=2", "-p", "cols=3", "--overwrite", "--job", str(stopped)],
        ["verify", str(stopped)],
        ["verify", "--repair", str(stopped)],
        ["inspect", str(stopped)],
    ):
        result = run(*arguments)
        assert result.exit_code == 5, (arguments, result.output)
        assert "work is a link, and a job has none; remove the link" in result.stderr
        assert "--work-dir" in result.stderr
    assert (stopped / "work").is_symlink()
    assert sorted(path.name for path in (tmp_path / "elsewhere").rglob("*")) == before
    (stopped / "work").unlink()
    resumed(stopped, work_dir=tmp_path / "fast")
    assert summary(stopped) == whole
    assert list((tmp_path / "fast").iterdir()) == []


def test_a_link_for_the_levels(stopped: Path, tmp_path: Path) -> None:
    shutil.move(stopped / "levels", tmp_path / "elsewhere")
    (stopped / "levels").symlink_to(tmp_path / "elsewhere")
    result = run("verify", "--repair", str(stopped))
    assert result.exit_code == 5
    assert "levels is a link, and a job has none; put the directory that it leads to in its place" in result.stderr


@pytest.mark.parametrize("keep", ["all", "frontier"])
def test_a_link_for_an_array(keep: str, stopped: Path, whole: list[Any], tmp_path: Path) -> None:
    """Damage, which a repair mends; states that are to be deleted are deleted, and what a link leads to is not."""
    shutil.rmtree(stopped / "work" / "0009")
    place = stopped / "levels" / "0008" / "00000"
    shutil.copytree(place, tmp_path / "elsewhere")
    shutil.rmtree(place)
    place.symlink_to(tmp_path / "elsewhere")
    result = run("run", "--puzzle", "sliding", "-p", "rows=2", "-p", "cols=3", "--resume", "--job", str(stopped))
    assert result.exit_code == 5, result.output
    assert run("verify", str(stopped)).exit_code == 5
    assert run("verify", "--repair", str(stopped)).exit_code == 0
    place = stopped / "levels" / "0003" / "00000"
    shutil.rmtree(place)
    place.symlink_to(tmp_path / "elsewhere")
    resumed(stopped, keep=keep)
    assert summary(stopped) == whole
    assert (tmp_path / "elsewhere" / "zarr.json").is_file()
    assert place.is_symlink() == (keep == "all")


def test_a_link_for_the_holder(stopped: Path, whole: object, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    (stopped / "work" / "holder.json").symlink_to(tmp_path / "precious")
    resumed(stopped)
    assert summary(stopped) == whole
    assert (tmp_path / "precious").read_text() == "precious"


def test_something_else_for_the_holder(stopped: Path) -> None:
    (stopped / "work" / "holder.json").mkdir()
    with pytest.raises(JobError, match=r"holder\.json is no ordinary file; remove it"):
        resumed(stopped)


def test_what_others_put_into_a_job(stopped: Path, whole: object) -> None:
    """It stays, and is named."""
    others = [
        stopped / "levels" / "my notes",
        stopped / "levels" / "0008.bak",
        stopped / "work" / "old spills",
        stopped / "work" / "note.txt",
    ]
    for other in others[:3]:
        other.mkdir()
        (other / "precious").write_text("precious")
    others[3].write_text("precious")
    lines = resumed(stopped)
    for other in others:
        assert f"{other} is no part of the job and is left alone" in lines
        assert other.exists()
    assert all((other / "precious").read_text() == "precious" for other in others[:3])
    assert summary(stopped) == whole
    # What only looks like a level of the job is named before it goes.
    (stopped / "levels" / "0099").mkdir()
    assert f"{stopped / 'levels' / '0099'} has no manifest and is removed" in resumed(stopped)


def test_renames_that_are_refused(stopped: Path, whole: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a lower layer of an overlay, where a directory cannot be renamed: it is copied."""
    lower = {path for path in stopped.rglob("*") if path.is_dir()} | {stopped}
    replace = os.replace

    def refusing(source: Any, target: Any) -> None:
        if Path(source) in lower:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        replace(source, target)

    monkeypatch.setattr(durable.os, "replace", refusing)
    resumed(stopped)
    assert summary(stopped) == whole
    assert leftovers(stopped) == []
    Job.remove(stopped)
    assert not stopped.exists()


def test_a_mount_point(stopped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace = os.replace

    def refusing(source: Any, target: Any) -> None:
        if Path(source) == stopped:
            raise OSError(errno.EBUSY, "Device or resource busy")
        replace(source, target)

    monkeypatch.setattr(durable.os, "replace", refusing)
    with pytest.raises(JobError, match=r"job cannot be replaced: something is mounted there.*a directory in it with"):
        Search(Sliding(rows=2, cols=3), job=stopped).run(overwrite=True)
    assert len(summary(stopped)) == 9


def test_a_file_larger_than_the_process_may_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    Search(Snake(n=8), job=tmp_path / "job", scheduler="sync", max_depth=2).run()
    resource.setrlimit(resource.RLIMIT_FSIZE, (1200, hard))
    try:
        with pytest.raises(OutOfBudget, match=r"larger than this process .*nothing is lost: raise the limit"):
            Search(Snake(n=8), job=tmp_path / "job", scheduler="sync").run(resume=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert Search(Snake(n=8), job=tmp_path / "job").run(resume=True).total == 388


def test_a_repair_does_not_invent_levels(stopped: Path, whole: list[Any]) -> None:
    """A copy of a level under another number, and no ledger to tell how many there are."""
    resumed(stopped)
    last = len(whole) - 1
    shutil.copytree(stopped / "levels" / f"{last - 1:04d}", stopped / "levels" / f"{last + 1:04d}")
    ledger = stopped / "levels" / "zarr.json"
    ledger.write_text(ledger.read_text()[:-20])
    assert run("verify", str(stopped)).exit_code == 5
    result = run("verify", "--repair", str(stopped))
    assert f"level {last}: " in result.stdout
    assert f"level {last + 1}: " not in result.stdout
    assert summary(stopped) == whole
    assert run("verify", str(stopped)).exit_code == 0
    assert list(repair(Sliding(rows=2, cols=3), Job.open(stopped))) == []
    shown = json.loads(run("inspect", str(stopped), "--json").stdout)["levels"]
    assert [level["depth"] for level in shown] == list(range(last + 1))


def test_a_copy_of_a_level_beside_a_whole_ledger(stopped: Path, whole: list[Any]) -> None:
    shutil.copytree(stopped / "levels" / "0007", stopped / "levels" / "0011")
    assert [entry[0] for entry in summary(stopped)] == list(range(9))
    with pytest.raises(CorruptJob):
        Job.open(stopped).level(11)
    resumed(stopped)
    assert summary(stopped) == whole
