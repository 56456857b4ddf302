"""``pipeline moves`` and ``pipeline draw``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

SNAKES = json.loads((Path(__file__).parents[1] / "data" / "snake_moves.json").read_text())
BOARD = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 0 15"


def test_every_reference_snake(run):
    lines = run("moves", "--json", input="".join(f"{snake['joints']}\n" for snake in SNAKES)).stdout.splitlines()
    assert len(lines) == len(SNAKES)
    for line, snake in zip(lines, SNAKES, strict=True):
        found = json.loads(line)
        assert list(found) == ["state", "neighbours", "moves"]
        assert found["state"] == snake["joints"]
        assert sorted(found["neighbours"]) == sorted(snake["neighbours"])


def test_text(run):
    assert run("moves", "12").stdout == "12\n  02\n  11\n  22\n"


@pytest.mark.parametrize("state", ["1120", "SSLR", "3,1,1", " 1120 "])
def test_notations(run, state):
    run("draw", state)
    assert json.loads(run("moves", "--json", state).stdout)["state"] == ("1122" if "," in state else "1120")


def test_collision(run):
    """The swing of the tail is blocked, its end is not."""
    blocked = [
        snake["joints"]
        for snake in SNAKES[:200]
        if run("moves", snake["joints"]).stdout != run("moves", "-p", "collision=static", snake["joints"]).stdout
    ]
    assert blocked


def test_long_snakes(run):
    state = 100 * "1"
    assert len(json.loads(run("moves", "--json", state).stdout)["neighbours"]) == 200
    assert len(run("draw", state).stdout) > 100


def test_the_snake_of_one_edge(run):
    assert json.loads(run("moves", "--json", "").stdout) == {"state": "", "neighbours": [], "moves": []}


def test_length_may_be_demanded(run, fails):
    run("moves", "-p", "n=3", "12")
    assert "edges" in fails(2, "moves", "-p", "n=4", "12")


def test_blank_lines_are_skipped(run):
    assert run("moves", input="\n12\n \n").stdout == run("moves", "12").stdout
    assert run("moves", input="").stdout == ""


@pytest.mark.parametrize(("text", "line"), [("12\n\n1x\n", 3), ("113", 1)])
def test_bad_lines_are_numbered(run, text, line):
    result = run("moves", "--json", input=text, code=2)
    assert result.stderr.startswith(f"error: line {line}: ")
    assert len(result.stdout.splitlines()) == line // 2


def test_bytes_that_are_no_text(fails):
    assert "line 1: byte 2" in fails(2, "moves", input=b"1\xff\n")


@pytest.mark.parametrize("form", [BOARD, BOARD.replace(" ", ","), BOARD.replace(" ", "/")])
def test_sixteen_numbers_are_the_fifteen_puzzle(run, form):
    found = json.loads(run("moves", "--json", form).stdout)
    assert found["state"] == "1 2 3 4/5 6 7 8/9 10 11 12/13 14 0 15"
    assert len(found["neighbours"]) == 3
    assert "│ 13 │ 14 │    │ 15 │" in run("draw", form).stdout


def test_a_board_in_single_arguments(run):
    assert run("moves", *BOARD.split()).stdout == run("moves", BOARD).stdout
    assert run("draw", *BOARD.split()).stdout == run("draw", BOARD).stdout
    small = ["--puzzle", "sliding", "-p", "rows=2", "-p", "cols=2"]
    assert run("moves", *small, "1", "2", "3", "0").stdout == "1 2/3 0\n  1 0/3 2\n  1 2/0 3\n"


def test_other_boards_need_a_puzzle(run, fails):
    assert "--puzzle sliding" in fails(2, "moves", "1 2 3 4 5 0")
    assert "line 2: a board" in run("moves", input="12\n1 2 3 0\n", code=2).stderr


def test_sixteen_runs_are_a_snake(run):
    runs = "1," + ",".join(["1", "-1"] * 7) + ",1"
    assert set(json.loads(run("moves", "--json", runs).stdout)["state"]) == {"0", "2"}


@pytest.mark.parametrize("state", ["1120", BOARD])
def test_pictures(run, state):
    text = run("draw", state).stdout
    for name in ("a.svg", "a.PNG", "a.txt"):
        assert run("draw", state, "--output", name).stdout == ""
    assert Path("a.svg").read_text().lstrip().startswith("<")
    assert Path("a.PNG").read_bytes().startswith(b"\x89PNG")
    assert Path("a.txt").read_text() == text
