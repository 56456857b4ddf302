"""``pipeline bench`` and ``pipeline estimate`` as a user runs them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]
Fails = Callable[..., str]


def test_bench_keeps_and_compares(run: Run) -> None:
    Path("jobs").mkdir()
    before = {
        "format": 1,
        "cases": {
            "snake 7": {"seconds": 1e6, "processor_seconds": 1.0, "peak_bytes": 1.0, "each_second_and_core": 1.0}
        },
        "steps": {},
        "sorts": {"131072": {"in_use": 1e-6}},
        "disk": {},
    }
    Path("before.json").write_text(json.dumps(before))
    arguments = ["--case", "snake 7", "--workers", "1", "--against", "before.json", "--save", "now.json"]
    result = run("bench", *arguments)
    assert "snake 7 ..." in result.stderr
    lines = {line.split("  ")[0]: line.split() for line in result.stdout.splitlines()}
    assert lines["snake 7"][-1] == "0.00"
    assert f"sort in use: {json.loads(Path('now.json').read_text())['sort_in_use']}" in result.stdout

    document = json.loads(Path("now.json").read_text())
    assert document["workers"] == 1
    case = document["cases"]["snake 7"]
    assert case["count"] == 147
    assert [level["states"] for level in case["levels"]] == [1, 3, 18, 36, 51, 29, 9]
    assert case["peak_bytes"] > 1 << 20
    assert list(document["steps"]) == ["snake 7"]
    assert {"in_use", "numpy", "radix"} <= set(document["sorts"]["131072"])
    # What it made is gone.
    assert sorted(str(path) for path in Path().rglob("*")) == ["before.json", "jobs", "now.json"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--case", "snake"], "there is no case 'snake'"),
        (["--against", "nothing.json"], "nothing.json cannot be read"),
        (["--save", "missing/result.json"], "there is no directory"),
    ],
)
def test_bench_refuses_before_it_measures(arguments: list[str], message: str, fails: Fails) -> None:
    assert message in fails(2, "bench", *arguments)


def test_estimate_of_a_search(run: Run) -> None:
    result = run("estimate", "--n", "9", "--memory", "2GiB", "-q")
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["depth", "states", "which", "are", "on", "disk", "spills", "on", "disk", "time"]
    assert lines[10].split()[:2] == ["total", "1047"]
    assert "--keep frontier" in result.stdout
    assert "depth 8 is the last one with states" in result.stdout
    assert list(Path().iterdir()) == []


def test_estimate_of_a_job(run: Run, fails: Fails) -> None:
    run("run", "--puzzle", "fifteen", "--n", "18", "-q")
    document = json.loads(run("estimate", "fifteen", "--n", "20", "--json", "-q").stdout)
    assert document["depth"] == 20
    assert document["basis"] == "the levels of jobs/fifteen to depth 18"
    assert [level["made"] for level in document["levels"]] == [True] * 19 + [False] * 2
    assert [level["source"] for level in document["levels"][18:]] == ["counted", "known", "known"]
    assert document["disk"]["all"]["end"] > document["disk"]["frontier"]["end"]
    assert document["memory"]["peak"] <= document["memory"]["budget"]
    assert {entry["cores"] for entry in document["time"]} >= {2, 8, 64}
    assert "own puzzle" in fails(2, "estimate", "fifteen", "--puzzle", "snake")
    assert "contradict" in fails(2, "estimate", "fifteen", "--n", "3", "--max-depth", "4")


def test_estimate_refuses(run: Run, fails: Fails) -> None:
    run("run", "--n", "6", "-q")
    assert "the job has n=6, not 7" in fails(2, "estimate", "snake-6", "--n", "7")
    assert "there is no job" in fails(3, "estimate", "nothing")
    assert "depth to search to is -1" in fails(2, "estimate", "--puzzle", "fifteen", "--n", "-1")
    assert "too small" in fails(6, "estimate", "--n", "6", "--memory", "1MiB", "-q")
