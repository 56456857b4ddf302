"""``pipeline run``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.spaces.contract import Reference
from pipeline.spaces.snake.space import Snake

SNAKE_8 = [1, 4, 24, 65, 115, 110, 57, 12]


def test_table_ends_in_the_total(run):
    result = run("run", "--n", "8")
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[0] == ["depth", "states"]
    assert [int(states) for _, states in lines[1:-1]] == SNAKE_8
    assert lines[-1] == ["total", "388"]
    assert result.stderr.startswith("agrees in ")
    assert "A037245" in result.stderr


def test_json_is_the_export_document(run):
    result = run("run", "--n", "8", "--json")
    assert json.loads(result.stdout) == {
        "format": 1,
        "space": {"name": "snake", "parameters": {"n": 8, "collision": "swept", "start": None}},
        "complete": True,
        "depths": list(range(8)),
        "states": SNAKE_8,
        "total": 388,
    }
    assert run("export", "snake-8", "--format", "json").stdout == result.stdout


def test_an_existing_job_needs_resume_or_overwrite(run, fails):
    run("run", "--n", "6")
    message = fails(3, "run", "--n", "6")
    assert "--resume" in message
    assert "--overwrite" in message
    assert run("run", "--n", "6", "--resume").stdout == run("run", "--n", "6", "--overwrite").stdout


def test_resume_starts_what_is_not_there(run):
    assert "total      56" in run("run", "--n", "6", "--resume").stdout


def test_other_parameters_are_refused_with_both_sets(run, fails):
    run("run", "--n", "6")
    message = fails(3, "run", "--n", "7", "--job", "jobs/snake-6", "--resume")
    assert "n=6" in message
    assert "n=7" in message


def test_bound_is_not_part_of_the_job(run):
    first = run("run", "--puzzle", "fifteen", "--n", "6")
    assert first.stdout.splitlines()[0].split() == ["depth", "states", "exactly"]
    assert "unfinished: depths 0 to 6 are done" in first.stdout
    second = run("run", "--puzzle", "fifteen", "--n", "9", "--resume", "--json")
    document = json.loads(second.stdout)
    assert document["states"][-1] == 946
    assert document["exactly"][-3:] == [278, 582, 1224]
    assert document["complete"] is False
    assert "unfinished" in second.stderr


def test_max_depth_bounds_a_snake(run):
    assert "unfinished: depths 0 to 3 are done" in run("run", "--n", "8", "--max-depth", "3").stdout


def test_a_board_is_searched_to_its_end(run):
    result = run("run", "--puzzle", "sliding", "-p", "rows=2", "-p", "cols=3", "--json")
    document = json.loads(result.stdout)
    assert document["complete"] is True
    assert document["total"] == 360
    assert Path("jobs/sliding-2x3").is_dir()


def test_places_of_the_job(run):
    run("run", "--n", "3", "--jobs-dir", "here")
    run("run", "--n", "3", "--job", "there/job")
    assert Path("here/snake-3").is_dir()
    assert Path("there/job").is_dir()


def test_quiet_says_nothing_and_verbose_every_level(run):
    assert run("run", "--n", "6", "-q").stderr == ""
    levels = [line for line in run("run", "--n", "6", "--overwrite", "-v").stderr.splitlines() if "level" in line]
    assert len(levels) == 7


@pytest.mark.parametrize(
    "options", [["--scheduler", "sync"], ["--workers", "1"], ["--memory", "1.5G"], ["--no-progress"]]
)
def test_means_do_not_change_the_result(run, options):
    assert "total     388" in run("run", "--n", "8", *options).stdout


def test_counts_that_differ_from_the_known_ones_fail(fails, monkeypatch):
    monkeypatch.setattr(Snake, "reference", lambda self: Reference("a test", (1, 3, 12, 19, 17, 5), True))
    result = fails(7, "run", "--n", "6")
    assert "depth 4" in result
    assert "a test" in result


def test_command_is_recorded_as_it_can_be_pasted(run):
    run("run", "-p", "start=3, -2,4", "--job", "a job", "--max-depth", "1")
    document = json.loads(run("inspect", "a job", "--json").stdout)
    assert document["provenance"]["command"] == "pipeline run -p 'start=3, -2,4' --job 'a job' --max-depth 1"
