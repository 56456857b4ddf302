"""``pipeline census`` as a user runs it."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from storage.journal import Journal

ROOT = Path(__file__).parents[2]
STUCK = ["10101221121112111121211", "10101221121112111122021"]


def test_the_document(run):
    document = json.loads(run("census", "--n", "24", "--json").stdout)
    assert document.pop("seconds") > 0
    assert document.pop("nodes") > 1000
    assert document == {
        "n": 24,
        "shapes": 2884195424,
        "stuck": 2,
        "locked": 0,
        "reachable": 2884195424,
        "locked_shapes": [],
        "complete": True,
    }


def test_the_table(run):
    lines = run("census", "--n", "12").stdout.splitlines()
    assert lines[0].split() == ["n", "shapes", "stuck", "locked", "reachable", "nodes", "seconds"]
    assert lines[1].split()[:5] == ["12", "20437", "0", "0", "20437"]


def test_lists(run):
    assert run("census", "--n", "24", "--list", "stuck").stdout.splitlines() == STUCK
    assert run("census", "--n", "24", "--list", "locked").stdout == ""
    assert json.loads(run("census", "--n", "24", "--list", "stuck", "--json").stdout)["stuck_shapes"] == STUCK


def test_exhaustive(run):
    document = json.loads(run("census", "--n", "5", "--exhaustive", "--json").stdout)
    assert document.pop("seconds") >= 0
    assert document == {"n": 5, "shapes": 22, "stuck": 0, "bends": [1, 2, 8, 7, 4], "nodes": 56, "complete": True}
    lines = run("census", "--n", "5", "--exhaustive").stdout.splitlines()
    assert lines[0].split() == ["bends", "shapes"]
    assert [line.split() for line in lines[1:7]] == [
        ["0", "1"],
        ["1", "2"],
        ["2", "8"],
        ["3", "7"],
        ["4", "4"],
        ["total", "22"],
    ]
    assert lines[8].split() == ["n", "shapes", "stuck", "nodes", "seconds"]


def test_depths(run, fails):
    document = json.loads(run("census", "--n", "5", "--depths", "--json").stdout)
    assert document.pop("seconds") >= 0
    assert document == {
        "n": 5,
        "shapes": 22,
        "stuck": 0,
        "locked": 0,
        "reachable": 22,
        "locked_shapes": [],
        "delayed": 0,
        "depths": [0, 1, 2, 3, 4],
        "states": [1, 2, 8, 7, 4],
        "nodes": 4,
        "complete": True,
    }
    lines = run("census", "--n", "5", "--depths").stdout.splitlines()
    assert lines[0].split() == ["depth", "states"]
    assert [line.split() for line in lines[5:7]] == [["4", "4"], ["total", "22"]]
    assert lines[8].split() == ["n", "shapes", "stuck", "delayed", "locked", "reachable", "nodes", "seconds"]
    assert "--depths" in fails(2, "census", "--n", "5", "--depths", "--exhaustive")


def test_static(run):
    document = json.loads(run("census", "--n", "5", "--exhaustive", "--collision", "static", "--json").stdout)
    assert (document["shapes"], "stuck" in document) == (22, False)


def test_what_cannot_be(fails):
    assert "0 to 40" in fails(2, "census", "--n", "41")
    assert "0 to 33" in fails(2, "census", "--n", "34", "--exhaustive")
    assert "--exhaustive" in fails(2, "census", "--n", "9", "--collision", "static")
    assert "locked" in fails(2, "census", "--n", "9", "--exhaustive", "--list", "locked")
    assert "nothing to list" in fails(
        2, "census", "--n", "9", "--exhaustive", "--collision", "static", "--list", "stuck"
    )
    assert "'--n'" in fails(2, "census")


def test_a_census_that_is_kept(run, fails):
    first = json.loads(run("census", "--n", "20", "--job", "kept", "--json").stdout)
    assert "--resume" in fails(3, "census", "--n", "20", "--job", "kept")
    again = json.loads(run("census", "--n", "20", "--job", "kept", "--resume", "--json").stdout)
    assert again | {"seconds": 0} == first | {"seconds": 0}
    assert "another one" in fails(3, "census", "--n", "21", "--job", "kept", "--resume")
    run("census", "--n", "21", "--job", "kept", "--overwrite")
    Path("mine").mkdir()
    Path("mine/notes.txt").write_text("x")
    assert "left alone" in fails(3, "census", "--n", "20", "--job", "mine", "--overwrite")
    Path("kept/journal.json").write_text("{")
    assert "damaged" in fails(5, "census", "--n", "21", "--job", "kept", "--resume")


def test_a_census_among_jobs(run, fails):
    run("census", "--n", "12", "--job", "jobs/mine")
    run("run", "--n", "5", "--quiet")
    lines = run("list").stdout.splitlines()
    assert lines[1].split()[:5] == ["mine", "pruned", "census", "n=12", "collision=swept"]
    assert lines[1].endswith("1 tasks done")
    listed = json.loads(run("list", "--json").stdout)
    assert listed[0]["census"] == "pruned"
    assert listed[1]["name"] == "snake-5"
    for command in (["inspect"], ["verify"], ["export", "--format", "csv"]):
        assert "is a census" in fails(3, command[0], "mine", *command[1:])


def test_configuration_files(run):
    Path("census.toml").write_text("n = 5\nexhaustive = true\n")
    assert json.loads(run("census", "--config", "census.toml", "--json").stdout)["bends"] == [1, 2, 8, 7, 4]


def test_stop_and_continue(process):
    arguments = ["census", "--n", "26", "--job", "a census", "--workers", "2"]
    command = [sys.executable, "-m", "tests.census.ending", "5", str(int(signal.SIGTERM)), *arguments]
    census = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert (census.returncode, census.stdout) == (143, ""), census.stderr
    assert 5 <= len(Journal.open(Path("a census")).entries()) <= 7
    command = shlex.split(census.stderr.splitlines()[-1])
    assert command[-8:] == [*arguments, "--resume"]
    result = json.loads(process(*command[-8:], "--json").stdout)
    assert (result["stuck"], result["locked"]) == (39, 0)


def test_stopping_without_a_job_says_that_nothing_was_kept(run, monkeypatch):
    from pipeline import Census
    from storage.errors import Stopped

    def stop(*_: object) -> None:
        raise Stopped

    monkeypatch.setattr(Census, "run", stop)
    assert "nothing was kept" in run("census", "--n", "28", code=130).stderr


@pytest.mark.parametrize("option", ["--resume", "--overwrite"])
def test_going_on_takes_a_job(fails, option):
    assert "--job" in fails(2, "census", "--n", "9", option)


@pytest.mark.parametrize("place", [".", "./", "..", "/"])
def test_the_current_directory_is_not_replaced(fails, place):
    Path("empty").mkdir()
    os.chdir("empty")
    for option in ([], ["--overwrite"]):
        assert place.rstrip("/") in fails(2, "census", "--n", "9", "--job", place, *option)
    assert list(Path.cwd().iterdir()) == []


def test_going_on_within_a_census(run):
    run("census", "--n", "9", "--job", "kept")
    os.chdir("kept")
    assert json.loads(run("census", "--n", "9", "--job", ".", "--resume", "--json").stdout)["reachable"] == 1047


def test_a_journal_of_another_census(run, fails):
    for n in (22, 25):
        run("census", "--n", str(n), "--job", f"census-{n}")
    Path("census-25/finished.jsonl").write_bytes(Path("census-22/finished.jsonl").read_bytes())
    message = fails(5, "census", "--n", "25", "--job", "census-25", "--resume")
    assert "census-25/finished.jsonl was written for another census" in message
    assert "--overwrite" in message
    assert json.loads(run("census", "--n", "25", "--job", "census-25", "--overwrite", "--json").stdout)["stuck"] == 1


def test_compiling_is_said(run, monkeypatch):
    """Once for a run, and as soon as it begins."""
    from pipeline.census import census
    from storage.compiler.kernel import kernel

    def load():
        for _ in range(2):

            @kernel
            def unheard_of(keys):
                return keys + 1

            monkeypatch.setattr(unheard_of._cache, "_path", lambda *_: None)
            assert unheard_of(1) == 2

    monkeypatch.setitem(census.LOADERS, "stuck", load)
    for _ in range(2):
        notes = run("census", "--n", "12").stderr
        assert notes.count("compiling the kernels, which is done once for this version of the program\n") == 1
    assert run("census", "--n", "12", "-q").stderr == ""
