"""The power fails between any two steps of a job: it goes on to the right end, whatever was not flushed yet."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest

import storage.locking.lock
from pipeline import Search, Snake
from storage.errors import PipelineError
from storage.files import durable
from tests.engine.jobs import Summary, leftovers, summary
from tests.engine.tiny import Sizes, everything_small
from tests.faults.power import Operation, Recorder, Tree, after_power_loss, build, policies

SPACE = Snake(n=6)
DISK = Sizes(buffer=60, chunk=8, frame=8, task=8, partition=10)
MEMORY = Sizes(buffer=60, chunk=8, frame=8, task=8, partition=10, memory=10**6)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Summary:
    """What an undisturbed search finds."""
    path = tmp_path_factory.mktemp("jobs") / "whole"
    Search(SPACE, job=path, memory=2**31).run()
    return summary(path)


def record(directory: Path) -> list[Operation]:
    """Create a job below a new directory, delete states that are not needed, end it; then begin it again, twice."""
    directory.mkdir()
    recorder = Recorder(directory)
    job = directory / "jobs" / "job"
    for sizes, options, action in (
        (DISK, {"max_depth": 3}, {}),
        (DISK, {"keep": "frontier"}, {"resume": True}),
        (MEMORY, {}, {"overwrite": True}),
        (DISK, {"work_dir": directory / "fast"}, {"overwrite": True}),
    ):
        with everything_small(sizes), recorder.recording():
            Search(SPACE, job=job, scheduler="sync", **options).run(**action)
    return recorder.operations


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Operation]]:
    """A directory, and how it came about."""
    directory = tmp_path_factory.mktemp("recorded") / "here"
    return directory, record(directory)


def states(operations: list[Operation], step: int) -> Iterator[tuple[str, Tree]]:
    """What may be there after a power loss at every ``step``-th operation, each different state once."""
    seen: set[int] = set()
    for count in range(0, len(operations) + 1, step):
        for name, policy in policies(count).items():
            tree = after_power_loss(operations, count, policy)
            # Who held the lock is not flushed, and does not matter.
            fingerprint = hash(frozenset((path, tree[path]) for path in tree if not path.endswith("holder.json")))
            if fingerprint not in seen:
                seen.add(fingerprint)
                yield f"{name} after {count}", tree


def what_comes_of(tree: Tree, directory: Path) -> Summary | str:
    """The levels after going on with what is there, or what the search says."""
    build(tree, directory)
    path = directory / "jobs" / "job"
    try:
        with everything_small(DISK):
            Search(SPACE, job=path, scheduler="sync").run(resume=True)
        assert leftovers(path) == []
        return summary(path)
    except PipelineError as error:
        return str(error)
    finally:
        shutil.rmtree(directory)


@pytest.fixture(autouse=True)
def _no_wait_for_holders(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a loss of power the holder file is empty, and is watched for a while."""
    monkeypatch.setattr(storage.locking.lock, "SILENCE_SECONDS", 0.0)


def check(operations: list[Operation], step: int, expected: Summary, directory: Path) -> int:
    """Cut the power at every ``step``-th operation; returns the number of states."""
    assert {operation.kind for operation in operations} == {"create", "rename", "remove", "data", "sync"}
    count = 0
    for place, tree in states(operations, step):
        assert what_comes_of(tree, directory / "after") == expected, place
        count += 1
    return count


def test_power_loss_at_some_steps(recorded: tuple[Path, list[Operation]], expected: Summary, tmp_path: Path) -> None:
    assert check(recorded[1], 41, expected, tmp_path) > 60


@pytest.mark.slow
def test_power_loss_at_every_step(recorded: tuple[Path, list[Operation]], expected: Summary, tmp_path: Path) -> None:
    assert check(recorded[1], 1, expected, tmp_path) > 1000


def test_the_recorder_sees_what_is_there(recorded: tuple[Path, list[Operation]]) -> None:
    """If everything has happened, the tree is the one on disk."""
    directory, operations = recorded
    tree = after_power_loss(operations, len(operations), policies(0)["all"])
    found: Tree = {
        str(path.relative_to(directory)): path.read_bytes() if path.is_file() else None for path in directory.rglob("*")
    }
    assert tree == found


def renamed_first(
    temporary: Path, final: Path, last_look: Callable[[], None] = lambda: None, flushed: bool = False
) -> None:
    """:func:`storage.files.durable.publish` in the wrong order."""
    last_look()
    if final.is_dir() and not temporary.is_dir():
        raise AssertionError
    temporary.replace(final)
    if final.is_dir():
        durable.sync_tree(final)
    else:
        durable.sync_file(final)


MISTAKES: dict[str, tuple[str, Any]] = {
    "files are not flushed": ("sync_file", lambda path: None),
    "directories are not flushed": ("sync_directory", lambda path: None),
    "renamed before it is flushed": ("publish", renamed_first),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_noticed(mistake: str, expected: Summary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaving out a flush, or doing it too late, costs a job somewhere."""
    name, wrong = MISTAKES[mistake]
    with monkeypatch.context() as patch:
        for module in (found.name for found in walk_packages(storage.__path__, "storage.")):
            if hasattr(__import__(module, fromlist=[name]), name):
                patch.setattr(f"{module}.{name}", wrong)
        operations = record(tmp_path / "recorded")
    found = (what_comes_of(tree, tmp_path / "after") for _, tree in states(operations, 13))
    assert any(outcome != expected for outcome in found)
