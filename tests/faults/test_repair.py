"""What a repair does, in which order, and what it says when it cannot."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.main import command_line
from pipeline import Search, Sliding, Snake
from pipeline.audit.damage import Damage, examine
from pipeline.audit.repair import Outcome, repair
from pipeline.spaces.contract import StateSpace
from storage.errors import CorruptJob, JobLocked
from storage.jobs.job import Job
from tests.engine.jobs import keys_at, leftovers, summary
from tests.engine.tiny import Sizes, everything_small
from tests.faults.damaging import damage
from tests.faults.first_format import to_first_format

SNAKE = Snake(n=9)
BOARD = Sliding(rows=2, cols=4)
SIZES = Sizes(buffer=200, chunk=48, task=40, partition=50)


def searched(path: Path, space: StateSpace = SNAKE, **options: object) -> Path:
    """A job with several partitions in a level."""
    with everything_small(SIZES):
        Search(space, job=path, scheduler="sync", **options).run()
    return path


def damages(path: Path, space: StateSpace = SNAKE) -> list[Damage]:
    """What is damaged."""
    return [found for found in examine(space, Job.open(path)) if isinstance(found, Damage)]


def repaired(path: Path, space: StateSpace = SNAKE) -> list[Outcome]:
    """What a repair says."""
    with everything_small(SIZES):
        return list(repair(space, Job.open(path)))


def chunks(path: Path, depth: int) -> list[Path]:
    """The chunks of a level, relative to the job."""
    return sorted(file.relative_to(path) for file in (path / "levels" / f"{depth:04d}").glob("*/c/*"))


def test_all_damage_is_reported_and_shallow_levels_are_repaired_first(tmp_path: Path) -> None:
    path = searched(tmp_path / "job")
    expected = summary(path)
    hit = [file for depth in (3, 4, 5) for file in chunks(path, depth)]
    for file in hit:
        assert damage(path, file, "flip", 1)
    (path / "levels" / "0006" / "zarr.json").unlink()
    assert [entry.path for entry in damages(path)] == [*(path / file for file in hit), path / "levels/0006/zarr.json"]
    outcomes = repaired(path)
    assert all(outcome.repaired for outcome in outcomes), outcomes
    assert outcomes[0].message.startswith("level 3, partition 00000: made again from level 2, digest 0x")
    assert "level 6: the manifest was restored from the ledger" in outcomes[-1].message
    assert damages(path) == []
    assert summary(path) == expected
    assert leftovers(path) == []


def test_metadata_alone_are_written_again_from_the_chunks(tmp_path: Path) -> None:
    """No level before is needed, so this works where there is none."""
    path = searched(tmp_path / "job", BOARD, max_depth=14, keep="frontier")
    expected = summary(path)
    before = keys_at(Job.open(path), 14)
    for array in sorted((path / "levels" / "0014").glob("[0-9]*")):
        (array / "zarr.json").write_text("{}")
    outcomes = repaired(path, BOARD)
    assert outcomes
    assert all(outcome.repaired and "its metadata were written again" in outcome.message for outcome in outcomes)
    assert damages(path, BOARD) == []
    assert summary(path) == expected
    assert keys_at(Job.open(path), 14).tolist() == before.tolist()


def test_what_it_cannot_make_again(tmp_path: Path) -> None:
    """The states of the level before were deleted."""
    path = searched(tmp_path / "job", BOARD, max_depth=14, keep="frontier")
    (file, *_) = chunks(path, 14)
    damage(path, file, "truncate", 1)
    (outcome,) = repaired(path, BOARD)
    assert not outcome.repaired
    assert "level 14, partition 00000 cannot be repaired: the states of level 13" in outcome.message
    assert "were deleted by --keep frontier" in outcome.message
    assert [entry.path for entry in damages(path, BOARD)] == [path / file]
    with pytest.raises(CorruptJob, match="level 14"):
        Search(BOARD, job=path, memory=2**31).run(resume=True)


def test_a_level_whose_predecessor_cannot_be_repaired(tmp_path: Path) -> None:
    """No shapes of level 2 remain to compare it with, and its metadata contradict themselves."""
    path = searched(tmp_path / "job", BOARD, max_depth=14)
    for depth in range(12):
        Job.open(path).drop_arrays(depth)
    for depth in (12, 13):
        damage(path, chunks(path, depth)[0], "empty", 1)
    outcomes = repaired(path, BOARD)
    assert [outcome.repaired for outcome in outcomes] == [False, False]
    assert "the states of level 11" in outcomes[0].message
    assert "the level before is damaged (chunk 0 of level 12" in outcomes[1].message


def test_counts_of_levels_whose_states_were_deleted(tmp_path: Path) -> None:
    """Their manifests can be restored from the ledger."""
    path = searched(tmp_path / "job", BOARD, max_depth=14, keep="frontier")
    expected = summary(path)
    for depth in (3, 7, 13):
        damage(path, Path("levels") / f"{depth:04d}" / "zarr.json", "flip", depth)
    assert [entry.depth for entry in damages(path, BOARD)] == [3, 7, 13]
    for outcome in repaired(path, BOARD):
        assert outcome.repaired
        assert "the manifest was restored from the ledger" in outcome.message
        assert outcome.message.endswith("its states are not on disk")
    assert damages(path, BOARD) == []
    assert summary(path) == expected
    Search(BOARD, job=path, memory=2**31).run(resume=True)
    Search(BOARD, job=tmp_path / "whole", memory=2**31).run()
    assert summary(path) == summary(tmp_path / "whole")


def test_a_search_from_the_roots(tmp_path: Path) -> None:
    """If all is lost but the ledger, every level is made again, one from the other."""
    path = searched(tmp_path / "job", BOARD, max_depth=14)
    expected = summary(path)
    for depth in range(15):
        shutil.rmtree(path / "levels" / f"{depth:04d}")
    outcomes = repaired(path, BOARD)
    assert len(outcomes) == 15
    assert all(outcome.repaired and "as the ledger says" in outcome.message for outcome in outcomes)
    assert damages(path, BOARD) == []
    assert summary(path) == expected


@pytest.mark.parametrize("removed", [1, 3])
def test_levels_that_vanished_from_the_end(removed: int, tmp_path: Path) -> None:
    """They are missed, not taken for levels that were never there, and made again."""
    path = searched(tmp_path / "job")
    expected = summary(path)
    for depth in range(len(expected) - removed, len(expected)):
        shutil.rmtree(path / "levels" / f"{depth:04d}")
    with pytest.raises(CorruptJob, match=f"level {len(expected) - removed} of the job .* is missing"):
        Search(SNAKE, job=path, memory=2**31).run(resume=True)
    assert len(damages(path)) == removed
    outcomes = repaired(path)
    assert all(outcome.repaired for outcome in outcomes), outcomes
    assert f"level {len(expected) - removed}: made again from level" in outcomes[0].message or not expected[-1][1]
    assert damages(path) == []
    assert summary(path) == expected


def test_the_ledger_is_written_again(tmp_path: Path) -> None:
    path = searched(tmp_path / "job")
    before = (path / "levels" / "zarr.json").read_bytes()
    (path / "levels" / "zarr.json").write_bytes(before[:-40])
    with pytest.raises(CorruptJob, match=r"ledger of the job .*levels/zarr\.json"):
        Search(SNAKE, job=path, memory=2**31).run(resume=True)
    assert [outcome.repaired for outcome in repaired(path)] == [True]
    assert (path / "levels" / "zarr.json").read_bytes() == before


def test_a_level_of_all_neighbours(tmp_path: Path) -> None:
    """From this start one-sided expansion misses moves: earlier levels have to be subtracted."""
    space = Snake(start="2112011")
    path = searched(tmp_path / "job", space)
    expected = summary(path)
    exhaustive = [manifest.depth for manifest in Job.open(path).manifests() if manifest.exhaustive and manifest.keys]
    assert exhaustive
    for depth in exhaustive[:3]:
        for file in chunks(path, depth):
            damage(path, file, "empty", 1)
    assert all(outcome.repaired for outcome in repaired(path, space))
    assert damages(path, space) == []
    assert summary(path) == expected


def test_a_job_that_is_being_written_is_not_repaired(tmp_path: Path) -> None:
    path = searched(tmp_path / "job")
    with Job.open(path).lock(), pytest.raises(JobLocked):
        list(repair(SNAKE, Job.open(path)))


def test_the_first_format(tmp_path: Path) -> None:
    """Two chunks of one size that changed places are noticed before anything is made from them."""
    path = to_first_format(searched(tmp_path / "job"))
    expected = summary(path)
    (first, second, *_) = (path / file for file in chunks(path, 4) if file.name == "0")
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)
    assert {entry.partition for entry in damages(path)} == {first.parent.parent.name, second.parent.parent.name}
    with pytest.raises(CorruptJob, match="level 4, partition"):
        keys_at(Job.open(path), 4)
    for depth in range(5, len(expected)):
        shutil.rmtree(path / "levels" / f"{depth:04d}")
    with pytest.raises(CorruptJob, match="level 4, partition"):
        Search(SNAKE, job=path, memory=2**31).run(resume=True)
    assert all(outcome.repaired for outcome in repaired(path))
    assert damages(path) == []
    Search(SNAKE, job=path, memory=2**31).run(resume=True)
    assert summary(path) == expected
    assert Job.open(path).attributes["format_version"] == 1


def run(*arguments: str) -> Result:
    """Run a command in this process; what is unforeseen is raised."""
    result = CliRunner().invoke(command_line, list(arguments), prog_name="pipeline")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_the_command(tmp_path: Path) -> None:
    path = searched(tmp_path / "job")
    files = [chunks(path, depth)[0] for depth in (3, 5)]
    for file in files:
        damage(path, file, "flip", 1)
    result = run("verify", str(path))
    assert result.exit_code == 5
    lines = [line for line in result.stdout.splitlines() if line.startswith("damaged: ")]
    assert len(lines) == 2
    for line, file in zip(lines, files, strict=True):
        assert str(path / file) in line
    assert result.stderr.startswith(f"error: 2 things are damaged in {path}, the first: chunk 0 of level 3, partition")
    assert result.stderr.count("\n") == 1
    document = json.loads(run("verify", str(path), "--json").stdout)
    assert not document["ok"]
    assert [(entry["depth"], entry["partition"], entry["file"]) for entry in document["damage"]] == [
        (3, "00000", str(path / files[0])),
        (5, "00000", str(path / files[1])),
    ]

    (path / "zarr.json").write_text("")
    assert run("verify", str(path)).exit_code == 5
    result = run("verify", str(path), "--repair", "--memory", "2GiB")
    assert result.exit_code == 0, result.output
    assert f"repaired: {path}/zarr.json: restored from the ledger" in result.stdout
    assert result.stdout.count("is restored") == 2
    assert "levels are as they were committed" in result.stdout
    assert "nothing to repair" in run("verify", str(path), "--repair").stdout
    document = json.loads(run("verify", str(path), "--repair", "--json").stdout)
    assert document["ok"]
    assert document["repaired"] == []


def test_the_command_when_something_cannot_be_repaired(tmp_path: Path) -> None:
    path = searched(tmp_path / "job", BOARD, max_depth=14, keep="frontier")
    damage(path, chunks(path, 14)[0], "remove", 1)
    result = run("verify", str(path), "--repair", "--memory", "2GiB")
    assert result.exit_code == 5
    assert "level 14, partition 00000 cannot be repaired: the states of level 13" in result.stdout
    assert result.stderr.startswith("error: chunk 0 of level 14")
