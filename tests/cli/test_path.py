"""``pipeline path`` and ``pipeline hardest``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

Run = Callable[..., Result]
BOARD = ("--puzzle", "sliding", "-p", "rows=2", "-p", "cols=3")


@pytest.fixture
def job(run: Run, tmp_path: Path) -> str:
    path = tmp_path / "board"
    run("run", *BOARD, "-q", "--job", str(path))
    return str(path)


def test_a_path(run: Run, job: str) -> None:
    first, second = map(json.loads, run("path", job, "--json", "1 2 3 4 0 5", "1 2 3/0 4 5").stdout.splitlines())
    expected: dict[str, Any] = {
        "state": "1 2 3/4 0 5",
        "length": 1,
        "moves": ["5 right"],
        "states": ["1 2 3/4 5 0", "1 2 3/4 0 5"],
    }
    assert first == expected
    assert second["length"] == 2
    assert run("path", job, input="1 2 3 0 4 5\n").stdout.splitlines()[0] == "1 2 3/0 4 5 is 2 moves away"
    assert run("path", job, "1", "2", "3", "0", "4", "5").stdout.splitlines()[0] == "1 2 3/0 4 5 is 2 moves away"


def test_the_number_of_paths(run: Run, job: str) -> None:
    counted = run("path", job, "--count", "1 2 3 0 4 5").stdout
    assert counted == "1 2 3/0 4 5 is 2 moves away, by 1 shortest path\n"


def test_a_bound(run: Run, job: str) -> None:
    assert run("path", job, "--within", "1", "1 2 3 0 4 5").stdout == "1 2 3/0 4 5 cannot be reached within 1 moves\n"


def test_the_hardest(run: Run, job: str) -> None:
    found = json.loads(run("hardest", job, "--json").stdout)
    assert (found["depth"], found["states"], found["complete"]) == (21, 1, True)
    assert len(found["shown"][0]["moves"]) == 21
    assert run("hardest", job).stdout.splitlines()[0].startswith("depth 21: 1 states")


def test_states_that_are_none(run: Run, job: str, fails: Callable[..., str]) -> None:
    assert "missing" in fails(2, "path", job, "1 2 3")
    assert "line 2" in fails(2, "path", job, input="1 2 3 0 4 5\n1 2\n")
