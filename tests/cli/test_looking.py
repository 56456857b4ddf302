"""``pipeline list``, ``inspect``, ``export`` and ``verify``."""

from __future__ import annotations

import csv
import json
import os
import stat
from pathlib import Path

import pytest


@pytest.fixture
def job(run):
    """The path of the snake job of length 6."""
    run("run", "--n", "6", "-q")
    return Path("jobs/snake-6")


@pytest.fixture
def bounded(run):
    """The path of a fifteen-puzzle job to 8 moves, of which the last level alone is on disk."""
    run("run", "--puzzle", "fifteen", "--n", "8", "--keep", "frontier", "-q")
    return Path("jobs/fifteen")


def _damage(job: Path, level: int) -> Path:
    """Flip a byte of the first chunk of a level."""
    chunk = next(job.glob(f"levels/{level:04d}/00000/c/0"))
    data = bytearray(chunk.read_bytes())
    data[len(data) // 2] ^= 1
    chunk.write_bytes(data)
    return chunk


def test_list(run, job, bounded):
    Path("jobs/holiday").mkdir()
    Path("jobs/holiday/photo.jpg").touch()
    Path("jobs/note.txt").touch()
    entries = json.loads(run("list", "--json").stdout)
    assert [entry["name"] for entry in entries] == ["fifteen", "holiday", "snake-6"]
    assert entries[2]["states"] == 56
    assert entries[2]["depth"] == 5
    assert entries[2]["complete"] is True
    assert entries[0]["complete"] is False
    assert "not a job" in entries[1]["error"]
    lines = run("list").stdout.splitlines()
    assert len(lines) == 4
    assert lines[1].endswith("unfinished")
    assert "not a job" in lines[2]
    assert lines[3].endswith("complete")


def test_list_of_nothing(run):
    result = run("list")
    assert result.stdout == ""
    assert "no jobs" in result.stderr
    assert json.loads(run("list", "--jobs-dir", "nowhere", "--json").stdout) == []


@pytest.mark.parametrize("name", ["snake-6", "jobs/snake-6", "./jobs/snake-6"])
def test_a_job_by_name_or_path(run, job, name):
    assert "complete" in run("inspect", name).stdout


def test_inspect(run, job):
    document = json.loads(run("inspect", "snake-6", "--json").stdout)
    assert [level["states"] for level in document["levels"]] == [1, 3, 12, 19, 16, 5, 0]
    level = document["levels"][3]
    assert level["partitions"] == 1
    assert level["bits_per_state"] == pytest.approx(8 * level["bytes"] / 19, abs=0.001)
    assert level["digest"].startswith("0x")
    assert level["digest"] in run("inspect", "snake-6").stdout


def test_inspect_a_level(run, job, fails):
    document = json.loads(run("inspect", "snake-6", "--depth", "3", "--json").stdout)
    (level,) = document["levels"]
    assert level["partitions"][0]["states"] == 19
    assert "first key" in run("inspect", "snake-6", "--depth", "3").stdout
    assert "0 to 6" in fails(2, "inspect", "snake-6", "--depth", "7")


def test_states_of_a_level(run, job, fails):
    everything = run("inspect", "snake-6", "--head", "100", "--depth", "4").stdout.splitlines()
    assert len(everything) == 16
    assert run("inspect", "snake-6", "--head", "3", "--depth", "4").stdout.splitlines() == everything[:3]
    sample = run("inspect", "snake-6", "--sample", "5", "--depth", "4").stdout.splitlines()
    assert len(sample) == 5
    assert set(sample) <= set(everything)
    assert run("inspect", "snake-6", "--sample", "5", "--depth", "4", "--seed", "1").stdout.splitlines() != sample
    assert len(run("inspect", "snake-6", "--head", "100").stdout.splitlines()) == 5
    document = json.loads(run("inspect", "snake-6", "--head", "3", "--depth", "4", "--json").stdout)
    assert document == {"depth": 4, "states": everything[:3]}
    assert "exclude" in fails(2, "inspect", "snake-6", "--head", "1", "--sample", "1")


def test_states_feed_moves(run, job):
    states = run("inspect", "snake-6", "--head", "100", "--depth", "4").stdout
    lines = run("moves", "--json", input=states).stdout.splitlines()
    assert [json.loads(line)["state"] for line in lines] == states.split()


def test_find(run, job, bounded, fails):
    assert run("inspect", "snake-6", "--find", "RSSSS").stdout == "01111 is at depth 1\n"
    assert json.loads(run("inspect", "snake-6", "--find", "21111", "--json").stdout)["depth"] == 1
    assert "edges" in fails(2, "inspect", "snake-6", "--find", "1")
    solved = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0"
    sentence = run("inspect", "fifteen", "--find", solved).stdout
    assert "not in any level that was searched (depth 8); the states of depth 0 to 7 were deleted" in sentence
    document = json.loads(run("inspect", "fifteen", "--find", solved, "--json").stdout)
    assert document["depth"] is None
    assert document["searched"] == [8]
    swapped = "1 2 3 4 5 6 7 8 9 10 11 12 13 15 14 0"
    assert "cannot be reached" in fails(2, "inspect", "fifteen", "--find", swapped)
    assert "deleted by --keep frontier" in fails(3, "inspect", "fifteen", "--head", "1", "--depth", "3")


def test_find_what_is_deeper(run):
    run("run", "--n", "6", "--max-depth", "2", "-q")
    sentence = run("inspect", "snake-6", "--find", "00200").stdout
    assert "not in any level that was searched (depth 0 to 2); the search is unfinished" in sentence


@pytest.mark.parametrize(
    ("form", "first", "last"),
    [
        ("csv", "depth,states", "5,5"),
        ("markdown", "**snake (n=6, collision=swept)**", "Total: 56"),
        ("bfile", "# States at breadth-first depth n: snake (n=6, collision=swept)", "5 5"),
    ],
)
def test_export(run, job, form, first, last):
    result = run("export", "snake-6", "--format", form)
    assert result.stdout.splitlines()[0] == first
    assert result.stdout.splitlines()[-1] == last
    assert result.stderr == ""
    run("export", "snake-6", "--format", form, "--output", "table")
    assert Path("table").read_text() == result.stdout


@pytest.mark.parametrize("form", ["csv", "markdown", "bfile", "json"])
def test_export_says_that_a_job_is_unfinished(run, bounded, form):
    result = run("export", "fifteen", "--format", form)
    assert "unfinished: depths 0 to 8" in result.stderr
    if form == "json":
        assert json.loads(result.stdout)["complete"] is False
    elif form == "csv":
        # No comment in the file: the csv module and pandas would take it for the head of the columns.
        rows = list(csv.DictReader(result.stdout.splitlines()))
        assert rows[-1] == {"depth": "8", "states": "446", "exactly": "582"}
    else:
        assert "unfinished: depths 0 to 8" in result.stdout


def test_export_errors(fails, job):
    assert "'xls'" in fails(2, "export", "snake-6", "--format", "xls")
    Path("directory").mkdir()
    assert "is a directory" in fails(2, "export", "snake-6", "--format", "csv", "--output", "directory")


def test_output_replaces_files_and_writes_to_devices(run, job):
    Path("target").write_text("old")
    Path("link").symlink_to("target")
    run("export", "snake-6", "--format", "csv", "--output", "link")
    assert Path("link").is_symlink()
    assert Path("target").read_text().startswith("depth")
    run("export", "snake-6", "--format", "csv", "--output", os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    assert {path.name for path in Path().iterdir()} == {"jobs", "target", "link"}


def test_a_full_disk_is_an_error(fails, job):
    assert "No space left" in fails(1, "export", "snake-6", "--format", "csv", "--output", "/dev/full")


def test_verify(run, job):
    text = run("verify", "snake-6", "--deep").stdout
    assert "level 3: 19 states, 19 keys read" in text
    assert "A037245" in text
    assert "level 5 comes out the same" in text
    document = json.loads(run("verify", "snake-6", "--deep", "--depth", "3", "--json").stdout)
    assert document["ok"] is True
    assert document["expanded"] == 3
    assert [level["read"] for level in document["levels"]] == [True] * 7


def test_verify_the_smallest_job(run):
    run("run", "--n", "0", "-q")
    assert "level 1 comes out the same" in run("verify", "snake-0", "--deep").stdout


def test_verify_names_the_place(run, job, fails):
    chunk = _damage(job, 3)
    message = run("verify", "snake-6", code=5).stderr
    assert message.count("\n") == 1
    assert "level 3" in message
    assert "chunk 0" in message
    result = run("verify", "snake-6", "--json", code=5)
    assert "level 3" in json.loads(result.stdout)["error"]
    assert json.loads(result.stdout)["ok"] is False
    chunk.unlink()
    assert "missing" in run("verify", "snake-6", code=5).stderr


def test_verify_what_was_deleted(run, bounded, fails):
    assert "deleted by --keep frontier" in run("verify", "fifteen").stdout
    assert "depth 7 were deleted by --keep frontier" in fails(3, "verify", "fifteen", "--deep")
    assert "--deep" in fails(2, "verify", "fifteen", "--depth", "3")
    assert "0 to 8" in fails(2, "verify", "fifteen", "--deep", "--depth", "9")
