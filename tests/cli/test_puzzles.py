"""Puzzles of others on the command line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from pipeline.spaces.registry import names

Run = Callable[..., Result]
Fails = Callable[..., str]
EXAMPLES = Path(__file__).parents[2] / "examples"

STACK = """
import numpy as np
from pydantic import BaseModel, Field
from pipeline import StateSpace
from pipeline.spaces.contract import Expansion

class Line(StateSpace):
    max_neighbours = 2
    def __init__(self, length: int, step: int = 1, label: str = ""):
        self.length, self.step = length, 10 // step and step
    def roots(self):
        return [0]
    def expand(self, keys, out, exhaustive):
        neighbours = [key + s for key in keys.tolist() for s in (-self.step, self.step) if 0 <= key + s < self.length]
        out[:len(neighbours)] = neighbours
        return Expansion(len(keys), len(neighbours))

class Bounded(Line):
    class Parameters(BaseModel):
        n: int = Field(ge=1, le=50)
    def __init__(self, n):
        self.parameters = self.Parameters(n=n)
        self.length, self.step = n, 1

class Lists(Line):
    def __init__(self, length: int = 3, shape: list[int] = [1, 2]):
        super().__init__(length)

class Missing(StateSpace):
    max_neighbours = 1

nothing = 5
"""


@pytest.fixture
def line(tmp_path: Path) -> Path:
    """A file with puzzles."""
    path = tmp_path / "line.py"
    path.write_text(STACK)
    return path


def test_all_are_listed(run: Run) -> None:
    puzzles = json.loads(run("puzzles", "--json").stdout)
    assert [puzzle["name"] for puzzle in puzzles] == names()
    (snake,) = (puzzle for puzzle in puzzles if puzzle["name"] == "snake")
    assert snake["parameters"][0] == {"name": "n", "type": "int", "required": False, "default": 17, "ge": 0}
    text = run("puzzles").stdout
    assert all(f"--puzzle {name}" in text for name in names())


def test_a_puzzle_in_a_file(run: Run, fails: Fails, line: Path) -> None:
    table = run("run", "--puzzle", "./line.py:Line", "-p", "length=7", "--json", "-q").stdout
    assert json.loads(table)["states"] == [1] * 7
    assert run("export", "line-label--length-7-step-1", "-f", "csv").stdout.startswith("depth,states\n0,1\n")
    assert "puzzle" in run("inspect", "line-label--length-7-step-1").stdout
    assert "--head" not in fails(3, "inspect", "line-label--length-7-step-1", "--head", "2")
    shown = run("inspect", "line-label--length-7-step-1", "--depth", "3", "--head", "2", "--puzzle", "line.py:Line")
    assert shown.stdout == "3\n"
    assert (
        "comes out the same"
        in run("verify", "line-label--length-7-step-1", "--deep", "--puzzle", "line.py:Line").stdout
    )


def test_a_parameter_n_without_a_default(run: Run, fails: Fails, line: Path) -> None:
    for given in (["--n", "5"], ["-p", "n=5"]):
        table = run("run", "--puzzle", "line.py:Bounded", *given, "--json", "-q", "--overwrite").stdout
        assert json.loads(table)["states"] == [1] * 5
    assert "n is missing" in fails(2, "run", "--puzzle", "line.py:Bounded")
    assert "less than or equal to 50" in fails(2, "run", "--puzzle", "line.py:Bounded", "--n", "51")


def test_a_slash_in_a_parameter(run: Run, line: Path) -> None:
    run("run", "--puzzle", "line.py:Line", "-p", "length=2", "-p", "label=a/../b", "-q")
    assert [path.name for path in Path("jobs").iterdir()] == ["line-label-a_.._b-length-2-step-1"]


@pytest.mark.parametrize(
    ("code", "arguments", "words"),
    [
        (
            2,
            ["line.py:Line", "-p", "length=7", "-p", "stepp=2"],
            "no parameter 'stepp'; the parameters are length, step",
        ),
        (2, ["line.py:Line", "-p", "length=abc"], "length is 'abc'"),
        (2, ["line.py:Line"], "length is missing"),
        (9, ["line.py:Line", "-p", "length=7", "-p", "step=0"], "ZeroDivisionError"),
        (2, ["line.py:Lists"], "shape"),
        (9, ["line.py:Missing"], "abstract"),
        (9, ["line.py:nothing"], "no subclass"),
        (2, ["line.py:Other"], "no class 'Other'"),
        (2, ["other.py:Line"], "no file other.py"),
        (2, ["nonsense"], "no puzzle called 'nonsense'"),
        (2, ["snake", "-p", "nonsense=5"], "no parameter 'nonsense'"),
    ],
)
def test_what_is_wrong_is_one_line(fails: Fails, line: Path, code: int, arguments: list[str], words: str) -> None:
    assert words in fails(code, "run", "--puzzle", *arguments)
    assert not Path("jobs").exists()


def test_a_file_that_cannot_be_imported(fails: Fails, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import no_such_module\n")
    message = fails(9, "run", "--puzzle", "broken.py:Any")
    assert "ModuleNotFoundError" in message
    assert "broken.py, line 1" in message


def test_states_of_others(fails: Fails, line: Path) -> None:
    for command in ("moves", "draw"):
        assert "'a b'" in fails(2, command, "--puzzle", "line.py:Line", "-p", "length=7", "a b")
    assert "no pictures" in fails(2, "draw", "-o", "a.png", "--puzzle", "line.py:Line", "-p", "length=7", "3")
    assert not Path("a.png").exists()


def test_a_changed_puzzle_does_not_resume(process: Callable[..., subprocess.CompletedProcess[str]], line: Path) -> None:
    arguments = ["run", "--puzzle", "./line.py:Line", "-p", "length=9", "-q", "--resume"]
    environment = {**os.environ, "PYTHONPATH": str(EXAMPLES.parent)}
    assert process(*arguments, "--max-depth", "3", env=environment, cwd=line.parent).returncode == 0
    line.write_text(STACK.replace("(-self.step, self.step)", "(-self.step, self.step, 2)"))
    ended = process(*arguments, env=environment, cwd=line.parent)
    assert ended.returncode == 3
    assert "has changed" in ended.stderr


def test_a_new_puzzle(run: Run, fails: Fails) -> None:
    text = run("new-puzzle", "a-knight").stdout
    assert "check-puzzle" in text
    assert "64 states" in run("check-puzzle", "a-knight-puzzle/a_knight/space.py:AKnight").stdout
    assert "exists" in fails(2, "new-puzzle", "a-knight")
    assert "no name" in fails(2, "new-puzzle", "a/b")


@pytest.mark.slow
def test_the_examples_in_a_fresh_environment(tmp_path: Path) -> None:
    """Installed as a user would, without the network."""
    venv.create(tmp_path / "fresh", with_pip=False)
    python = tmp_path / "fresh" / "bin" / "python"
    # What is installed here can be seen there, but for what lies in this directory alone.
    (library,) = (tmp_path / "fresh" / "lib").glob("python*/site-packages")
    here = [path for path in sys.path if path.endswith("site-packages")]
    (library / "here.pth").write_text("\n".join([*here, str(EXAMPLES.parent)]) + "\n")
    source = shutil.copytree(EXAMPLES, tmp_path / "examples")
    pip = ["-m", "pip", "install", "--no-deps", "--no-build-isolation", "--no-index", "--quiet", str(source)]
    subprocess.run([python, *pip], check=True, cwd=tmp_path)

    def pipeline(*arguments: str) -> str:
        command = [python, "-m", "cli", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path).stdout

    assert {"hanoi", "peg-solitaire", "pocket-cube"} <= {
        entry["name"] for entry in json.loads(pipeline("puzzles", "--json"))
    }
    for name in ("hanoi", "peg-solitaire", "pocket-cube"):
        assert "as it claims" in pipeline("check-puzzle", name)
    assert json.loads(pipeline("run", "--puzzle", "peg-solitaire", "--json"))["total"] == 3016
    assert json.loads(pipeline("run", "--puzzle", "pocket-cube", "--json"))["total"] == 3674160
