"""Jobs of every format there was can be used; those of a newer one are refused with the version they need."""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cli.main import command_line
from pipeline.search import Search
from pipeline.spaces.permutations.space import Permutation
from pipeline.spaces.registry import make_space, names
from storage.files.sealed import seal
from storage.jobs.formats import FORMAT_VERSION
from storage.jobs.job import Job
from tests.engine.jobs import Summary, leftovers, summary
from tests.golden import JOBS, GoldenJob, golden_jobs, path_of
from tests.spaces import slow_permutations

GOLDEN = list(golden_jobs())
IDS = [f"{path.parent.name}/{path.name}" for path in GOLDEN]
REMEDY = "run 'python -m tests.golden' and commit what it makes"


def run(*arguments: str) -> Result:
    """Run a command in this process; what is unforeseen is raised."""
    result = CliRunner().invoke(command_line, list(arguments), prog_name="pipeline")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def contents(path: Path) -> dict[str, bytes]:
    """Every file below a directory."""
    return {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}


@pytest.fixture
def counts(snake_counts: dict[str, Any], sliding_counts: dict[tuple[int, int], list[int]], golden: Path) -> list[int]:
    """The right counts of a golden job, from independent sources."""
    parameters = Job.open(golden).attributes["space"]["parameters"]
    if "n" in parameters:
        return list(snake_counts["depth_counts"][str(parameters["n"])])
    if "family" in parameters:
        space = Permutation(**parameters)
        start = space.parse(parameters["start"] or " ".join(map(str, range(space.generators.points))))
        return [len(level) for level in slow_permutations.levels(space.generators.images, start.tolist())]
    return sliding_counts[parameters["rows"], parameters["cols"]]


@pytest.fixture(params=GOLDEN, ids=IDS)
def golden(request: pytest.FixtureRequest) -> Path:
    """A golden job. Not to be changed."""
    path: Path = request.param
    return path


def test_there_are_golden_jobs_of_what_is_written_now() -> None:
    """Of this format and of the key versions of all puzzles of the project."""
    missing = [str(path_of(job)) for job in JOBS if not path_of(job).exists()]
    assert not missing, f"{missing} are missing: {REMEDY}"
    covered = {(job.space.name, job.space.layout.version) for job in JOBS}
    for name in names():
        space = make_space(name, {})
        assert (space.name, space.layout.version) in covered, f"tests/golden.py has no job of {name}"
    assert {path.parent.name for path in GOLDEN} == {f"format-{version}" for version in range(1, FORMAT_VERSION + 1)}


def test_the_golden_jobs_are_what_they_are_named_after() -> None:
    for path in GOLDEN:
        attributes = Job.open(path).attributes
        assert f"format-{attributes['format_version']}" == path.parent.name
        assert path.name.endswith(f"-keys-{attributes['space']['key_version']}")
        working = [entry for entry in (path / "work").iterdir() if entry.is_dir()]
        assert bool(working) == path.name.split("-")[1].endswith("ing")


def test_looking(golden: Path, counts: list[int], tmp_path: Path) -> None:
    """Listed, inspected, exported and verified, without a change to a single byte."""
    job = Path(shutil.copytree(golden, tmp_path / "jobs" / "job"))
    before = contents(job)
    (listed,) = json.loads(run("list", "--jobs-dir", str(tmp_path / "jobs"), "--json").stdout)
    assert "error" not in listed
    states = counts[: listed["depth"] + 1]
    assert listed["states"] == sum(states)
    inspected = json.loads(run("inspect", str(job), "--json").stdout)
    assert [level["states"] for level in inspected["levels"] if level["keys"]] == states
    exported = json.loads(run("export", str(job), "--format", "json").stdout)
    assert exported["states"] == states
    verified = run("verify", str(job), "--json")
    assert verified.exit_code == 0, verified.output
    assert json.loads(verified.stdout)["ok"]
    if all(level["arrays_kept"] for level in inspected["levels"]):
        head = run("inspect", str(job), "--head", "1000", "--depth", "2")
        assert head.stdout.count("\n") == inspected["levels"][2]["keys"]
    assert contents(job) == before


@cache
def undisturbed(name: str, parameters: tuple[tuple[str, Any], ...]) -> Summary:
    """What a search finds that nothing happens to."""
    with TemporaryDirectory() as directory:
        Search(make_space(name, dict(parameters)), Path(directory) / "job", memory=2**31).run()
        return summary(Path(directory) / "job")


def test_going_on(golden: Path, counts: list[int], tmp_path: Path) -> None:
    """A job that was stopped in the middle of a pass comes to the right end."""
    job = Path(shutil.copytree(golden, tmp_path / "job"))
    name, parameters = (Job.open(job).attributes["space"][key] for key in ("name", "parameters"))
    assert list(Search(make_space(name, parameters), job, memory=2**31).run(resume=True).states) == counts
    assert summary(job) == undisturbed(name, tuple(parameters.items()))
    assert leftovers(job) == []
    assert run("verify", str(job)).exit_code == 0


READERS = ["inspect", "export --format csv", "verify", "run --resume --n 7 --job"]


def edited(golden: Path, path: Path, **changes: Any) -> Path:
    """A copy with other attributes; ``None`` removes one."""
    job = Path(shutil.copytree(golden, path / "job"))
    document = json.loads((job / "zarr.json").read_text())
    attributes = document["attributes"]
    for name, value in changes.items():
        place = attributes if name in ("format_version", "provenance") else attributes["space"]
        place.pop(name)
        if value is not None:
            place[name] = value
    (job / "zarr.json").write_text(json.dumps(seal(document)))
    return job


@pytest.mark.parametrize("reader", READERS)
def test_a_newer_format(reader: str, tmp_path: Path) -> None:
    """The message names the version that wrote the job; nothing is changed."""
    written = {"versions": {"frontier-pipeline": "7.1.0"}}
    job = edited(path_of(JOBS[0]), tmp_path, format_version=FORMAT_VERSION + 1, provenance=written)
    before = contents(job)
    command, *options = reader.split()
    result = run(command, *options, str(job))
    assert result.exit_code == 3
    assert result.stderr.startswith(f"error: {job} has format {FORMAT_VERSION + 1}")
    assert result.stderr.endswith("; use frontier-pipeline 7.1.0 or newer\n")
    assert contents(job) == before


@pytest.mark.parametrize("digit", ["3", "6"])
def test_a_damaged_version_is_no_newer_format(digit: str, tmp_path: Path) -> None:
    """One bit turns 2 into either; the checksum tells, and the ledger has a copy."""
    job = Path(shutil.copytree(path_of(JOBS[0]), tmp_path / "job"))
    text = (job / "zarr.json").read_text()
    assert '"format_version": 2' in text
    (job / "zarr.json").write_text(text.replace('"format_version": 2', f'"format_version": {digit}'))
    for reader in READERS:
        command, *options = reader.split()
        result = run(command, *options, str(job))
        assert result.exit_code == 5
        assert f"({job / 'zarr.json'}) are damaged (its checksum is wrong)" in result.stderr
    assert run("verify", str(job), "--repair").exit_code == 0
    assert contents(job) == contents(path_of(JOBS[0]))


@pytest.mark.parametrize("provenance", [None, 3, {"versions": []}, {"versions": {"frontier-pipeline": "rm -rf /"}}])
def test_a_newer_format_that_does_not_say_who_wrote_it(provenance: Any, tmp_path: Path) -> None:
    job = edited(path_of(JOBS[0]), tmp_path, format_version=FORMAT_VERSION + 1, provenance=provenance)
    assert "use a newer version of frontier-pipeline" in run("inspect", str(job)).stderr


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("version", [0, 2])
def test_another_version_of_the_keys(reader: str, version: Any, tmp_path: Path) -> None:
    """Keys of another meaning are not read as if they were ours."""
    job = edited(path_of(JOBS[0]), tmp_path, key_version=version)
    before = contents(job)
    command, *options = reader.split()
    result = run(command, *options, str(job))
    assert result.exit_code == 3
    assert result.stderr.startswith("error: ")
    assert "keys of version" in result.stderr
    assert "use frontier-pipeline 0.1.0" in result.stderr or "resume it with its own parameters" in result.stderr
    assert contents(job) == before


def test_making_golden_jobs(tmp_path: Path) -> None:
    """The jobs that are made now are those that are there, whatever their bytes are."""
    from tests.golden import make

    job: GoldenJob
    for job in JOBS:
        make(job, tmp_path / job.name)
        assert summary(tmp_path / job.name) == summary(path_of(job))
