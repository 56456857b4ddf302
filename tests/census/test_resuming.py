"""A census that is stopped, killed, or run elsewhere gives the same result, and does nothing twice."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pipeline import Census
from pipeline.census import tasks
from pipeline.census.events import CensusObserver
from storage.errors import JobError, Stopped
from storage.journal import Journal
from tests.faults.servers import two_workers

ROOT = Path(__file__).parents[2]


class StopAfter(CensusObserver):
    """Stops the census after some tasks."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.census: Census | None = None
        self.done: list[str] = []

    def task_done(self, phase: str, result: dict[str, Any]) -> None:
        self.done.append(phase)
        if len(self.done) == self.count:
            assert self.census is not None
            self.census.stop()


def stopped(path: Path, count: int, n: int = 24, **options: Any) -> None:
    """Begin a census and stop it after some tasks."""
    observer = StopAfter(count)
    # Two workers, so that at most two more tasks are done after the last one that counts.
    census = Census(n, journal=path, observer=observer, workers=2, **options)
    observer.census = census
    with pytest.raises(Stopped):
        census.run(resume=True)


def test_stopping_and_going_on(tmp_path: Path) -> None:
    expected = Census(24).run()
    for _ in range(3):
        stopped(tmp_path / "census", 10)
    observer = StopAfter(-1)
    found = Census(24, journal=tmp_path / "census", observer=observer).run(resume=True)
    assert (found.stuck_shapes, found.locked_shapes, found.nodes) == (
        expected.stuck_shapes,
        expected.locked_shapes,
        expected.nodes,
    )
    entries = Journal.open(tmp_path / "census").entries()
    names = [(entry["phase"], entry["task"]) for entry in entries]
    assert len(names) == len(set(names))
    assert len(names) - 36 <= len(observer.done) <= len(names) - 30


def test_a_finished_census_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Census(24, journal=tmp_path / "census").run()
    observer = StopAfter(-1)
    again = Census(24, journal=tmp_path / "census", observer=observer).run(resume=True)
    assert observer.done == []
    assert again.document() | {"seconds": 0} == first.document() | {"seconds": 0}


def test_an_exhaustive_census_goes_on(tmp_path: Path) -> None:
    stopped(tmp_path / "census", 3, n=17, exhaustive=True)
    found = Census(17, exhaustive=True, journal=tmp_path / "census").run(resume=True)
    assert found.bends == Census(17, exhaustive=True).run().bends


def test_what_exists_is_not_touched_unasked(tmp_path: Path) -> None:
    Census(12, journal=tmp_path / "census").run()
    with pytest.raises(JobError, match="--resume"):
        Census(12, journal=tmp_path / "census").run()
    with pytest.raises(JobError, match="another one: census=pruned, n=12"):
        Census(13, journal=tmp_path / "census").run(resume=True)
    with pytest.raises(JobError, match="another one"):
        Census(12, exhaustive=True, journal=tmp_path / "census").run(resume=True)
    assert Census(13, journal=tmp_path / "census").run(overwrite=True).n == 13


def test_damaged_lines_are_done_again(tmp_path: Path) -> None:
    expected = Census(24, journal=tmp_path / "census").run()
    path = tmp_path / "census" / "finished.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    middle = len(lines) // 2
    lines[middle] = lines[middle].replace(b'"nodes":', b'"nodes":9', 1)
    path.write_bytes(b"".join(lines))
    again = Census(24, journal=tmp_path / "census").run(resume=True)
    assert again.nodes == expected.nodes
    assert len(path.read_bytes().splitlines()) == len(lines)


HOSTILE: list[Any] = [
    None,
    [],
    {},
    {"phase": "stuck"},
    {"phase": "stuck", "task": "0", "result": {}},
    {"phase": "stuck", "task": 0, "result": {"walks": 1, "shapes": ["../../x"], "nodes": 1}},
    {"phase": "stuck", "task": 0, "result": {"walks": -1, "shapes": [], "nodes": 1}},
    {"phase": "stuck", "task": 0, "result": {"walks": 1, "shapes": ["111"], "nodes": 1}},
    {"phase": "stuck", "task": 10**30, "result": {"walks": 0, "shapes": [], "nodes": 0}},
    {"phase": "other", "task": 0, "result": {}},
    {"phase": "components", "task": 0, "result": {"locked": [None]}},
    {"phase": "exhaustive", "task": 0, "result": {"shapes": 1, "bends": [1], "stuck": [], "nodes": 1}},
]


@pytest.mark.parametrize("entry", HOSTILE)
def test_entries_of_others_are_left_out(entry: Any, tmp_path: Path) -> None:
    """Lines with a right checksum that no census has written."""
    Census(8, journal=tmp_path / "census").run()
    (tmp_path / "census" / "finished.jsonl").write_bytes(b"")
    journal = Journal.open(tmp_path / "census")
    with journal.lock(), journal.writer() as writer:
        writer.add(entry)
    found = Census(8, journal=tmp_path / "census").run(resume=True)
    assert found.document() | {"seconds": 0} == Census(8).run().document() | {"seconds": 0}


@pytest.mark.parametrize("scheduler", ["sync", "threads"])
def test_the_executor_does_not_matter(scheduler: str) -> None:
    found = Census(24, scheduler=scheduler, workers=3).run()
    assert (len(found.stuck_shapes), found.nodes) == (2, Census(24).run().nodes)


def test_on_a_cluster() -> None:
    with two_workers() as address:
        found = Census(20, scheduler=address).run()
    assert found.document() | {"seconds": 0} == Census(20).run().document() | {"seconds": 0}


@pytest.mark.parametrize("blocks", [1, 7, 500])
def test_the_split_does_not_matter(blocks: int) -> None:
    from pipeline.census.prefixes import prefix_edges
    from pipeline.census.rules import swept

    parts = [tasks.find_stuck(swept, 20, prefix_edges(20, False), block, blocks) for block in range(blocks)]
    assert sum(part["nodes"] for part in parts) == Census(20).run().nodes
    counted = [tasks.count_block(swept, 14, 7, block, blocks) for block in range(blocks)]
    assert sum(part["shapes"] for part in counted) == 148752


def ended(path: Path, n: int, count: int) -> None:
    """A census in a process of its own, killed as soon as it has added some entries."""
    arguments = ["census", "--n", str(n), "--job", str(path), "--workers", "2", "--resume", "-q"]
    command = [sys.executable, "-m", "tests.census.ending", str(count), str(int(signal.SIGKILL)), *arguments]
    process = subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
    assert process.returncode == -signal.SIGKILL


def test_killed_again_and_again(tmp_path: Path) -> None:
    expected = Census(24).run()
    path = tmp_path / "census"
    for kills, count in enumerate((1, 12, 12)):
        ended(path, 24, count)
        assert len(Journal.open(path).entries()) == 1 + 12 * kills
    found = Census(24, journal=path).run(resume=True)
    assert found.document() | {"seconds": 0} == expected.document() | {"seconds": 0}


def test_the_current_directory_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    for place in (".", "..", tmp_path):
        with pytest.raises(JobError, match="current directory"):
            Census(9, journal=place).run(overwrite=True)
    assert list(Path.cwd().iterdir()) == []
