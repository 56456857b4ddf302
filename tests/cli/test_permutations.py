"""Puzzles made of permutations on the command line."""

from __future__ import annotations

import json
from pathlib import Path

from tests.spaces import slow_permutations

GAP = Path(__file__).parents[1] / "data" / "pocket_cube.gap"
TURNS = "U:=(1,2,3,4);\nV:=(1,2);\n"


def test_families(run):
    result = run("run", "--puzzle", "permutations", "-p", "family=pancake", "-p", "size=6")
    states = [int(line.split()[1]) for line in result.stdout.splitlines()[1:-1]]
    assert states == [1, 5, 20, 79, 199, 281, 133, 2]
    assert Path("jobs/pancake-6").is_dir()
    assert "agrees in the total with the order of the group" in result.stderr
    assert "agrees in 6 depths" in run("run", "--puzzle", "permutations", "-p", "size=5").stderr


def test_a_file_belongs_to_the_job(run, fails):
    Path("turns.gap").write_text(TURNS)
    arguments = ["run", "--puzzle", "permutations", "-p", "file=turns.gap", "-p", "closed=true", "--job", "turns"]
    moves = [(1, 2, 3, 0), (3, 0, 1, 2), (1, 0, 2, 3)]
    states = [len(level) for level in slow_permutations.levels(moves, range(4))]
    document = json.loads(run(*arguments, "--json").stdout)
    assert document["states"] == states
    assert document["space"]["parameters"]["generators"] == '{"U":[1,2,3,0],"V":[1,0,2,3]}'
    assert "file" not in document["space"]["parameters"]
    Path("turns.gap").write_text(TURNS.replace("(1,2);", "(1,3);"))
    assert "generators" in fails(3, *arguments, "--resume")
    Path("turns.gap").write_text(json.dumps({"generators": {"U": [1, 2, 3, 0], "V": [1, 0, 2, 3]}}))
    assert json.loads(run(*arguments, "--resume", "--json").stdout) == document
    # Without the file the job can be read all the same.
    Path("turns.gap").unlink()
    assert run("verify", "turns", "--deep").exit_code == 0
    assert run("inspect", "turns", "--head", "1", "--depth", "0").stdout == "0 1 2 3\n"
    assert "cannot read turns.gap: no such file" in fails(2, *arguments, "--resume")


def test_a_word(run):
    result = run("run", "--puzzle", "permutations", "-p", "family=lrx", "-p", "size=6", "-p", "start=000111", "--json")
    assert sum(json.loads(result.stdout)["states"]) == 20


def test_pocket_cube_from_a_file(run):
    arguments = ["-p", f"file={GAP}", "-p", "closed=true", "--max-depth", "4", "--json"]
    assert json.loads(run("run", "--puzzle", "permutations", *arguments).stdout)["states"] == [1, 12, 114, 924, 6539]


def test_moves_have_names(run):
    stack = ["--puzzle", "permutations", "-p", "size=4"]
    assert run("moves", *stack, "3 1 0 2").stdout == "3 1 0 2\n  0 1 3 2\n  1 3 0 2\n  2 0 1 3\n"
    assert json.loads(run("moves", *stack, "--json", "3102").stdout) == {
        "state": "3 1 0 2",
        "neighbours": ["0 1 3 2", "1 3 0 2", "2 0 1 3"],
        "moves": ["R3", "R2", "R4"],
    }
    cycles = ["--puzzle", "permutations", "-p", "family=lrx", "-p", "size=3", "-p", "notation=cycles"]
    assert run("moves", *cycles, "()").stdout == "()\n  (1,2)\n  (1,2,3)\n  (1,3,2)\n"


def test_pictures(run):
    assert run("draw", "--puzzle", "permutations", "-p", "size=3", "1 2 0").stdout == " ▬▬▬\n▬▬▬▬▬\n  ▬\n"
    for name in ("cube.svg", "cube.png"):
        state = " ".join(map(str, range(24)))
        run("draw", "--puzzle", "permutations", "-p", "family=pocket-cube", "--output", name, state)
        assert Path(name).stat().st_size > 500


def test_groups_that_are_too_large(fails):
    message = fails(6, "run", "--puzzle", "permutations", "-p", "family=pancake", "-p", "size=21")
    assert "a group of 51090942171709440000 elements" in message
    assert not Path("jobs").exists()
