"""``pipeline compare`` and ``pipeline remove``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cli.commands.remove


@pytest.fixture
def jobs(run):
    """Two jobs of the same search, the second one less deep, and one of another search."""
    run("run", "--n", "6", "-q")
    run("run", "--n", "6", "--max-depth", "3", "--workers", "1", "--job", "jobs/less", "-q")
    run("run", "--n", "5", "-q")


def test_the_same(run, jobs):
    document = json.loads(run("compare", "snake-6", "less", "--json").stdout)
    assert document["same"] is True
    assert [level["same"] for level in document["levels"]] == [True] * 4 + [None] * 3
    assert document["levels"][3]["states"] == [19, 19]
    lines = run("compare", "snake-6", "less").stdout.splitlines()
    assert lines[1].endswith("same")
    assert lines[-1].endswith("in one job only")


def test_different_searches(run, jobs):
    result = run("compare", "snake-6", "snake-5", "--json", code=7)
    assert "different searches" in result.stderr
    assert json.loads(result.stdout)["same"] is False


def test_different_levels(run, jobs, monkeypatch):
    from storage.jobs.job import Job

    manifests = Job.manifests

    def changed(self: Job) -> list:
        found = manifests(self)
        if self.path.name == "less":
            object.__setattr__(found[2], "digest", found[2].digest ^ 1)
        return found

    monkeypatch.setattr(Job, "manifests", changed)
    assert "differ at depth 2" in run("compare", "snake-6", "less", code=7).stderr


def test_comparing_with_nothing(fails, jobs):
    assert "no job" in fails(3, "compare", "snake-6", "nothing")


def test_removing(run, fails, jobs):
    assert "nobody can be asked" in fails(2, "remove", "snake-5")
    assert "no job" in fails(3, "remove", "snake-5", "nothing", "--yes")
    assert Path("jobs/snake-5").is_dir()
    run("remove", "snake-5", "jobs/less", "--yes")
    assert [path.name for path in Path("jobs").iterdir()] == ["snake-6"]


def test_removing_a_census_and_what_is_neither(run, fails):
    run("census", "--n", "9", "--job", "jobs/nine", "-q")
    run("remove", "nine", "--yes")
    assert not Path("jobs/nine").exists()
    Path("jobs/photos").mkdir()
    Path("jobs/photos/one.jpg").touch()
    assert "not a job" in fails(3, "remove", "photos", "--yes")
    assert Path("jobs/photos/one.jpg").exists()


def test_removing_what_is_damaged(run, jobs):
    Path("jobs/less/zarr.json").write_text("{")
    run("remove", "less", "--yes")
    assert not Path("jobs/less").exists()


@pytest.mark.parametrize(("answer", "left"), [("n\n", True), ("y\n", False)])
def test_asking(run, jobs, monkeypatch, answer, left):
    monkeypatch.setattr(cli.commands.remove, "_can_ask", lambda: True)
    result = run("remove", "less", input=answer)
    assert "Delete jobs/less with" in result.stderr
    assert Path("jobs/less").exists() is left


def test_removing_a_job_in_use(fails, jobs):
    from storage.jobs.job import Job

    with Job.open(Path("jobs/less")).lock():
        fails(4, "remove", "less", "--yes")


def test_list_says_who_writes(run, jobs):
    from storage.jobs.job import Job

    with Job.open(Path("jobs/less")).lock():
        assert "running (process " in run("list").stdout
        entries = json.loads(run("list", "--json").stdout)
        assert [entry["name"] for entry in entries if "running" in entry] == ["less"]
    assert "running" not in run("list").stdout


def test_a_writer_that_was_killed_is_not_running(run, jobs):
    """It left its holder file behind; its number may belong to another process by now."""
    from dataclasses import replace

    from storage.locking.holder import Holder

    holder = Holder.this_process()
    Path("jobs/less/work/holder.json").write_bytes(replace(holder, born=holder.born - 1).to_bytes())
    assert "running" not in run("list").stdout
    Path("jobs/less/work/holder.json").write_bytes(replace(holder, boot="another", host="far away").to_bytes())
    assert "far away)" in run("list").stdout
