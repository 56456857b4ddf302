"""What is nearly right is noticed, and what is meant is said."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("arguments", "suggestion"),
    [
        (["run", "--nn", "3"], "'--n'"),
        (["run", "--memroy", "2GiB"], "'--memory'"),
        (["run", "--no-progres"], "'--no-progress'"),
        (["verify", "--dep", "x"], "'--deep'"),
    ],
)
def test_options(fails, arguments, suggestion):
    assert f"Did you mean {suggestion}?" in fails(2, *arguments)


def test_options_that_are_like_none(fails):
    assert "Did you mean" not in fails(2, "run", "--xyzzy")


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("PIPELINE_RUN_MEMROY", "PIPELINE_RUN_MEMORY"),
        ("PIPELINE_RNU_MEMORY", "PIPELINE_RUN_MEMORY"),
        ("PIPELINE_JOB_DIR", "PIPELINE_JOBS_DIR"),
    ],
)
def test_variables(fails, variable, meant):
    message = fails(2, "run", "--n", "3", env={variable: "1GiB"})
    assert variable in message
    assert f"did you mean {meant}?" in message
    assert not Path("jobs").exists()


def test_variables_of_other_commands_and_programs(run):
    run("list", env={"PIPELINE_RUN_MEMORY": "1GiB", "PIPELINE_ID": "7", "PIPELINE_RUN_MEMROY": "x"})


def test_help_comes_first(run):
    assert "Usage" in run("run", "--help", env={"PIPELINE_RUN_MEMROY": "1"}).stdout


def test_what_is_no_boolean(fails):
    message = fails(2, "run", env={"PIPELINE_RUN_RESUME": "maybe"})
    assert "'maybe' is neither true nor false; write 1 or 0" in message
    assert "PIPELINE_RUN_RESUME" in message


@pytest.mark.parametrize("place", [".", "./", "..", "/", "a/.."])
@pytest.mark.parametrize("command", ["run", "census"])
def test_directories_without_a_name_of_their_own(fails, command, place):
    Path("a").mkdir()
    assert "no job" in fails(2, command, "--n", "5", "--job", place)
    assert [path.name for path in Path().iterdir()] == ["a"]


def test_a_job_from_inside(run, monkeypatch):
    run("run", "--n", "6", "--max-depth", "3", "--job", "job")
    monkeypatch.chdir("job")
    assert "total      56" in run("run", "--n", "6", "--job", ".", "--resume").stdout


def test_help_names_the_parameters_of_puzzles(run):
    from pipeline.spaces.registry import BUILT_IN, make_space

    text = run("run", "--help").stdout
    block = text[text.index("Parameters of the puzzles") : text.index("Options:")]
    given = {"permutations": {"family": "pancake", "size": 4}}
    for name in BUILT_IN:
        (line,) = (line.split(maxsplit=1)[1] for line in block.splitlines() if line.split()[:1] == [name])
        words = {word.split("=")[0] for word in line.replace(",", " ").split()}
        fields = set(type(make_space(name, given.get(name, {})).parameters).model_fields)
        if name not in ("permutations", "fifteen"):
            assert words == fields
        else:
            assert words & fields


def test_completion(run):
    run("run", "--n", "3", "-q")
    assert "complete -o" in run(env={"_PIPELINE_COMPLETE": "bash_source"}).stdout

    def complete(*words: str) -> list[str]:
        where = {"COMP_WORDS": " ".join(["pipeline", *words]), "COMP_CWORD": str(len(words))}
        lines = run(env={**where, "_PIPELINE_COMPLETE": "bash_complete"}).stdout.splitlines()
        return [line.partition(",")[2] for line in lines]

    assert complete("in") == ["inspect"]
    assert complete("inspect", "sn") == ["snake-3"]
    assert complete("run", "--puzzle", "sl") == ["sliding"]
