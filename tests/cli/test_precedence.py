"""Command line before environment before file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


def _n(result):
    return json.loads(result.stdout)["space"]["parameters"]["n"]


@pytest.fixture
def config():
    """Write a configuration; returns its name."""

    def write(text: str) -> str:
        Path("a.toml").write_text(text)
        return "a.toml"

    return write


def test_command_line_environment_file(run, config):
    file = config('n = 3\njson = true\njobs-dir = "from-file"\nmemory = "2GiB"\nworkers = 1\nquiet = true\n')
    assert _n(run("run", "--config", file)) == 3
    assert Path("from-file/snake-3").is_dir()
    assert _n(run("run", "--config", file, env={"PIPELINE_RUN_N": "4"})) == 4
    assert _n(run("run", "--config", file, "--n", "5", env={"PIPELINE_RUN_N": "4"})) == 5


def test_environment_alone(run):
    environment = {"PIPELINE_RUN_MEMORY": "2GiB", "PIPELINE_RUN_JSON": "1", "PIPELINE_JOBS_DIR": "elsewhere"}
    assert _n(run("run", "--n", "3", env=environment)) == 3
    assert json.loads(run("list", "--json", env=environment).stdout)[0]["name"] == "snake-3"


def test_config_from_the_environment(run, config):
    assert _n(run("run", "--json", env={"PIPELINE_RUN_CONFIG": config("n = 4")})) == 4


def test_parameters_are_joined_one_by_one(run, config):
    file = config('puzzle = "sliding"\n[parameters]\nrows = 2\ncols = 2\n')
    result = run("run", "--config", file, "-p", "cols=3", "--json")
    assert json.loads(result.stdout)["space"]["parameters"] == {"rows": 2, "cols": 3, "blank": 5}


def test_n_and_the_parameter_n(run, fails, config):
    assert _n(run("run", "-p", "n=3", "--json")) == 3
    assert _n(run("run", "--n", "4", "-p", "n=4", "--json")) == 4
    assert _n(run("run", "--config", config("[parameters]\nn = 9\n"), "--n", "5", "--json")) == 5
    assert _n(run("run", "--config", config("n = 9"), "-p", "n=6", "--json")) == 6
    assert "contradict" in fails(2, "run", "--n", "3", "-p", "n=4")
    assert "contradict" in fails(2, "run", "--puzzle", "fifteen", "--n", "3", "--max-depth", "4")


def test_depth_on_the_command_line_beats_n_in_the_file(run, config):
    result = run("run", "--config", config('puzzle = "fifteen"\nn = 20\n'), "--max-depth", "3", "--json")
    assert json.loads(result.stdout)["depths"] == [0, 1, 2, 3]


def test_resume_on_the_command_line_beats_overwrite_in_the_file(run, fails, config):
    file = config("overwrite = true\nn = 4\n")
    run("run", "--config", file)
    run("run", "--config", file, "--resume")
    assert "exclude each other" in fails(2, "run", "--resume", "--overwrite")


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("memoryy = 3", "'memoryy' in a configuration (a.toml); did you mean 'memory'?"),
        ("[params]\nn = 3", "'params'"),
        ("config = 'b.toml'", "'config'"),
        ('memory = "lots"', "memory in a.toml: 'lots' is not a size"),
        ('keep = "some"', "keep in a.toml"),
        ("resume = 1", "true or false"),
        ("n = true", "a number or a text"),
        ("n = [1]", "a number or a text"),
        ("workers = 0", "workers in a.toml"),
        ("parameters = 3", "[parameters]"),
        ("[parameters]\nrows = [1]", "rows"),
        ("[parameters]\nfoo = 1", "'foo'"),
        ("n = ", "a.toml is not TOML"),
    ],
)
def test_errors_name_key_and_file(fails, config, text, fragment):
    assert fragment in fails(2, "run", "--config", config(text))


def test_unreadable_configurations(fails):
    Path("binary.toml").write_bytes(b"\xff\xfe\x00")
    assert "binary.toml" in fails(2, "run", "--config", "binary.toml")
    assert "nowhere.toml" in fails(2, "run", "--config", "nowhere.toml")
    assert "cannot be read" in fails(2, "run", "--config", ".")


def test_errors_in_the_environment_name_the_variable(fails):
    assert "PIPELINE_RUN_MEMORY" in fails(2, "run", env={"PIPELINE_RUN_MEMORY": "x"})


def test_shipped_configurations_are_valid(run):
    configs = sorted((Path(__file__).parents[2] / "configs").glob("*.toml"))
    assert {path.stem for path in configs} == {
        "eight-complete", "fifteen-20", "fifteen-31", "sliding-3x4-complete", "snake-17", "snake-20",
    }  # fmt: skip
    for path in configs:
        run("run", "--config", str(path), "--max-depth", "2", "--quiet")
    assert {entry.name for entry in Path("jobs").iterdir()} == {
        "fifteen", "sliding-3x3", "sliding-3x4", "snake-17", "snake-20",
    }  # fmt: skip
