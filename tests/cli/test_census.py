"""``pipeline census`` as a user runs it."""

from __future__ import annotations

import json
import shlex
import signal
import time
from pathlib import Path

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


def test_stop_and_continue(start, process):
    census = start("census", "--n", "26", "--job", "a census")
    for _ in range(6000):
        if Path("a census/finished.jsonl").exists() and Path("a census/finished.jsonl").stat().st_size:
            break
        time.sleep(0.01)
    census.send_signal(signal.SIGTERM)
    out, notes = census.communicate(timeout=60)
    assert (census.returncode, out) == (143, ""), notes
    command = shlex.split(notes.splitlines()[-1])
    assert command[3:] == ["census", "--n", "26", "--job", "a census", "--resume"]
    result = json.loads(process(*command[3:], "--json").stdout)
    assert (result["stuck"], result["locked"]) == (39, 0)


def test_stopping_without_a_job_says_that_nothing_was_kept(run, monkeypatch):
    from pipeline import Census
    from pipeline.running.executors import Stopped

    def stop(*_: object) -> None:
        raise Stopped

    monkeypatch.setattr(Census, "run", stop)
    assert "nothing was kept" in run("census", "--n", "28", code=130).stderr
