"""Bad input: one line, and the right exit code."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from storage.files.sealed import seal
from storage.jobs.job import Job


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        (["run", "--n", "-1"], "n is -1"),
        (["run", "--n", "ten"], "'ten' is not a valid integer"),
        (["run", "--n", "2.5"], "'2.5'"),
        (["run", "--n", "34"], "0 to 33"),
        (["run", "--n", "1" + 40 * "0"], "n is 1"),
        (["run", "--puzzle", "cube"], "'cube'"),
        (["run", "--puzzle", "cube\nof\x1b[31mcolours"], "no puzzle"),
        (["run", "-p", "m=3"], "'m'"),
        (["run", "-p", "self=3"], "'self'"),
        (["run", "-p", "n"], "KEY=VALUE"),
        (["run", "-p", "n=3", "-p", "n=3"], "given twice"),
        (["run", "-p", "collision=none"], "collision"),
        (["run", "-p", "start=0000"], "crosses itself"),
        (["run", "-p", "start=1x1"], "'x'"),
        (["run", "--puzzle", "fifteen", "-p", "rows=3"], "--puzzle sliding"),
        (["run", "--puzzle", "sliding", "-p", "rows=5"], "20 cells"),
        (["run", "--puzzle", "sliding", "-p", "blank=16"], "0 to 15"),
        (["run", "--puzzle", "sliding", "-p", "blank=-1"], "blank"),
        (["run", "--memory", "much"], "'much' is not a size"),
        (["run", "--memory", "0"], "'0'"),
        (["run", "--memory", "1e400"], "1e400"),
        (["run", "--workers", "0"], "--workers"),
        (["run", "--keep", "none"], "'none'"),
        (["run", "--scheduler", "cloud"], "'cloud'"),
        (["run", "--n", "3", "--max-depth", "-1"], "-1"),
        (["run", "-v", "-q"], "exclude"),
        (["run", "--resme"], "--resme"),
        (["run", "extra"], "extra"),
        (["rnu"], "'rnu'"),
        (["export", "x"], "--format"),
        (["draw"], "STATE"),
        (["draw", "0000"], "crosses itself"),
        (["draw", "-3,2"], "sign"),
        (["draw", "3,-2,x"], "run 3"),
        (["draw", "--colour", "112"], "--colour"),
        (["draw", "112", "-o", "x.gif"], ".gif"),
        (["draw", "112", "-o", "no/x.svg"], "no directory"),
        (["draw", "1 2 3 0"], "--puzzle sliding"),
        (["draw", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 15"], "repeated"),
        (["moves", "--puzzle", "sliding", "-p", "rows=2", "-p", "cols=2", "1 2 3"], "missing"),
        (["moves", "--puzzle", "cube", "1"], "'cube'"),
        (["moves", "112", "113"], "state 2"),
        (["moves", "-p", "n=9", "112"], "4 edges"),
    ],
)
def test_invalid_input(fails, arguments, fragment):
    message = fails(2, *arguments)
    assert fragment in message
    assert "\x1b" not in message
    assert not Path("jobs").exists()


def test_a_budget_that_cannot_work_writes_nothing(fails):
    assert "--memory" in fails(6, "run", "--n", "8", "--memory", "10MB")
    assert not Path("jobs").exists()


@pytest.fixture
def job(run):
    """The path of a finished job."""
    run("run", "--n", "6", "--job", "job", "-q")
    return Path("job")


READERS = [["inspect", "./job"], ["export", "./job", "-f", "csv"], ["verify", "./job"]]


@pytest.mark.parametrize("arguments", READERS)
def test_no_job(fails, arguments):
    assert "no job at job" in fails(3, *arguments)


@pytest.mark.parametrize("arguments", [*READERS, ["run", "--job", "job"], ["run", "--job", "job", "--resume"]])
def test_something_else(fails, arguments):
    Path("job").mkdir()
    Path("job/photo.jpg").touch()
    assert "not a job" in fails(3, *arguments)


def test_something_else_is_not_overwritten(fails):
    Path("job").write_text("precious")
    fails(3, "run", "--n", "3", "--job", "job", "--overwrite")
    assert Path("job").read_text() == "precious"


@pytest.mark.parametrize("arguments", [*READERS, ["run", "--n", "6", "--job", "job", "--resume"]])
def test_half_there(fails, job, arguments):
    shutil.rmtree(job / "levels")
    assert "lost" in fails(5, *arguments)


@pytest.mark.parametrize("arguments", READERS)
def test_a_level_missing(fails, job, arguments):
    shutil.rmtree(job / "levels" / "0002")
    assert "level 2" in fails(5, *arguments)


@pytest.mark.parametrize("arguments", [*READERS, ["run", "--n", "6", "--job", "job", "--resume"]])
def test_newer_format(fails, job, arguments):
    document = json.loads((job / "zarr.json").read_text())
    document["attributes"]["format_version"] = 99
    (job / "zarr.json").write_text(json.dumps(seal(document)))
    assert "format 99" in fails(3, *arguments)


def test_locked(fails, job):
    with Job.open(job).lock():
        assert str(os.getpid()) in fails(4, "run", "--n", "6", "--job", "job", "--resume")
        assert "writing" in fails(4, "run", "--n", "6", "--job", "job", "--overwrite")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_read_only(fails, job):
    for path in (job / "zarr.json", job):
        path.chmod(path.stat().st_mode & ~0o222)
    assert "cannot be written" in fails(3, "run", "--n", "6", "--job", "job", "--resume")


def test_jobs_directory_is_a_file(fails):
    Path("jobs").touch()
    assert "jobs" in fails(3, "run", "--n", "3")
    assert "jobs" in fails(3, "list")


def test_no_scheduler_answers(fails, monkeypatch):
    def refuse(address: str, timeout: float) -> None:
        raise OSError("refused")

    monkeypatch.setattr("distributed.Client", refuse)
    assert "tcp://127.0.0.1:1" in fails(2, "run", "--n", "3", "--scheduler", "tcp://127.0.0.1:1")
