"""Going on with a job: what is done is not done again, and what does not belong is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline import Search, Sliding, Snake
from pipeline.level import passes
from pipeline.level.expand import expand
from pipeline.level.merge import merge
from pipeline.running.events import Observer, PassProgress
from storage.errors import CorruptJob, InvalidInput, JobError, OutOfBudget, Stopped
from storage.files.sealed import group_document, write_document
from storage.jobs.job import Job
from storage.records import Manifest
from tests.engine.jobs import summary
from tests.engine.tiny import Sizes, everything_small

MEMORY = 2**31


class Broken(Exception):
    """Ends a search in the middle of a pass."""


class Tasks:
    """Counts tasks, and breaks after some of them."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.expanded: list[tuple[int, int]] = []
        self.merged: list[tuple[int, int]] = []
        self.expand_limit = self.merge_limit = 10**9

        def counted_expand(space: Any, frontier: Any, task: Any, *rest: Any) -> Any:
            if len(self.expanded) == self.expand_limit:
                raise Broken
            self.expanded.append((frontier.manifest.depth + 1, task.number))
            return expand(space, frontier, task, *rest)

        def counted_merge(space: Any, work: Any, partition: int, *rest: Any) -> Any:
            if len(self.merged) == self.merge_limit:
                raise Broken
            self.merged.append((work.depth, partition))
            return merge(space, work, partition, *rest)

        patch.setattr(passes, "expand", counted_expand)
        patch.setattr(passes, "merge", counted_merge)


@pytest.mark.parametrize("scheduler", ["sync", "threads"])
def test_finished_expand_tasks_are_not_run_again(
    scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with everything_small():
        Search(Snake(n=9), job=tmp_path / "whole").run()
        Search(Snake(n=9), job=tmp_path / "job", max_depth=4).run()
        tasks = Tasks(monkeypatch)
        tasks.expand_limit = 2
        with pytest.raises(Broken):
            Search(Snake(n=9), job=tmp_path / "job", max_depth=5, scheduler=scheduler, workers=1).run(resume=True)
        first = list(tasks.expanded)
        assert len(first) == 2
        tasks.expand_limit = 10**9
        # Other sizes and workers: the plan of the level that was begun holds.
        with everything_small(Sizes(task=10, partition=20, memory=10**6)):
            Search(Snake(n=9), job=tmp_path / "job", max_depth=5, scheduler=scheduler).run(resume=True)
        assert len(set(tasks.expanded)) == len(tasks.expanded) > 2
        Search(Snake(n=9), job=tmp_path / "job").run(resume=True)
    assert summary(tmp_path / "job") == summary(tmp_path / "whole")


@pytest.mark.parametrize("memory", [0, 10**6])
def test_finished_partitions_are_not_merged_again(memory: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their files are the same ones, before and after."""
    with everything_small(Sizes(memory=memory)):
        Search(Snake(n=9), job=tmp_path / "whole").run()
        Search(Snake(n=9), job=tmp_path / "job", max_depth=4).run()
        tasks = Tasks(monkeypatch)
        tasks.merge_limit = 1
        with pytest.raises(Broken):
            Search(Snake(n=9), job=tmp_path / "job", max_depth=5, scheduler="sync").run(resume=True)
        done = tmp_path / "job" / "work" / "0005" / "partitions"
        before = {path.relative_to(done): path.stat() for path in done.rglob("*") if path.is_file()}
        assert len(tasks.merged) == 1
        assert before
        tasks.merge_limit = 10**9
        Search(Snake(n=9), job=tmp_path / "job", max_depth=5).run(resume=True)
        assert len(set(tasks.merged)) == len(tasks.merged) > 1
        level = tmp_path / "job" / "levels" / "0005"
        for name, facts in before.items():
            after = (level / name).stat()
            assert (after.st_ino, after.st_mtime_ns) == (facts.st_ino, facts.st_mtime_ns)
        Search(Snake(n=9), job=tmp_path / "job").run(resume=True)
    assert summary(tmp_path / "job") == summary(tmp_path / "whole")


def test_a_finished_job_is_not_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Search(Snake(n=7), job=tmp_path / "job", memory=MEMORY).run()
    tasks = Tasks(monkeypatch)
    table = Search(Snake(n=7), job=tmp_path / "job", memory=MEMORY).run(resume=True)
    assert table.total == 147
    assert tasks.expanded == tasks.merged == []


def test_spills_of_a_plan_that_is_gone_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left of a level whose plan was deleted may mean something else under another plan."""
    with everything_small():
        Search(Snake(n=9), job=tmp_path / "whole").run()
        Search(Snake(n=9), job=tmp_path / "job", max_depth=4).run()
        tasks = Tasks(monkeypatch)
        tasks.merge_limit = 1
        with pytest.raises(Broken):
            Search(Snake(n=9), job=tmp_path / "job", max_depth=5, scheduler="sync").run(resume=True)
        tasks.merge_limit = 10**9
        (tmp_path / "job" / "work" / "0005" / "plan.json").unlink()
        with everything_small(Sizes(task=10, partition=23)):
            Search(Snake(n=9), job=tmp_path / "job").run(resume=True)
    assert summary(tmp_path / "job") == summary(tmp_path / "whole")


def test_deeper_step_by_step(tmp_path: Path, sliding_counts: dict[tuple[int, int], list[int]]) -> None:
    """The bound is no part of the job, and one that is less than what is done changes nothing."""
    for depth in (0, 3, 3, 1, 10, 12):
        table = Search(Sliding(), job=tmp_path / "job", memory=MEMORY, max_depth=depth).run(resume=True)
        done = len(table.states) - 1
        assert done == max(depth, 3 if depth == 1 else depth)
        assert list(table.states) == sliding_counts[4, 4][: done + 1]
        assert not table.complete


@pytest.mark.parametrize("keep", ["all", "frontier"])
def test_keep_may_change(keep: str, tmp_path: Path) -> None:
    other = "all" if keep == "frontier" else "frontier"
    Search(Snake(n=8), job=tmp_path / "job", memory=MEMORY, max_depth=3, keep=other).run()
    Search(Snake(n=8), job=tmp_path / "job", memory=MEMORY, keep=keep).run(resume=True)
    Search(Snake(n=8), job=tmp_path / "whole", memory=MEMORY).run()
    assert summary(tmp_path / "job") == summary(tmp_path / "whole")


def test_other_parameters_are_refused(tmp_path: Path) -> None:
    """Both sets are shown, and nothing is changed."""
    Search(Snake(n=6), job=tmp_path / "job", memory=MEMORY).run()
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    for other, name in (
        (Snake(n=7), "n=7"),
        (Snake(n=6, collision="static"), "collision=static"),
        (Sliding(), "rows=4"),
    ):
        with pytest.raises(JobError) as caught:
            Search(other, job=tmp_path / "job", memory=MEMORY).run(resume=True)
        assert "n=6, collision=swept" in str(caught.value)
        assert name in str(caught.value)
        assert "\n" not in str(caught.value)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_an_existing_job_needs_a_decision(tmp_path: Path) -> None:
    path = tmp_path / "job"
    Search(Snake(n=6), job=path, memory=MEMORY).run()
    with pytest.raises(JobError, match=r"--resume.*--overwrite"):
        Search(Snake(n=6), job=path, memory=MEMORY).run()
    assert Search(Snake(n=7), job=path, memory=MEMORY).run(overwrite=True).total == 147
    assert Job.open(path).attributes["space"]["parameters"]["n"] == 7
    assert [entry.name for entry in tmp_path.iterdir()] == ["job"]


def test_overwriting_never_takes_a_foreign_directory(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    for options in ({"overwrite": True}, {"resume": True}, {}):
        with pytest.raises(JobError):
            Search(Snake(n=6), job=tmp_path, memory=MEMORY).run(**options)
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("memory", [1, 2**20, 2**25])
def test_a_budget_that_cannot_work_is_refused_before_anything_is_written(memory: int, tmp_path: Path) -> None:
    with pytest.raises(OutOfBudget, match=r"too small.*--memory \d+MiB"):
        Search(Snake(n=12), job=tmp_path / "jobs" / "job", memory=memory).run()
    assert list(tmp_path.iterdir()) == []


def test_a_budget_that_cannot_work_does_not_cost_the_old_job(tmp_path: Path) -> None:
    Search(Snake(n=6), job=tmp_path / "job", memory=MEMORY).run()
    with pytest.raises(OutOfBudget):
        Search(Snake(n=6), job=tmp_path / "job", memory=1).run(overwrite=True)
    assert len(Job.open(tmp_path / "job").depths()) == 7


def test_a_negative_depth_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="-1"):
        Search(Snake(n=6), job=tmp_path / "job", max_depth=-1).run()
    assert list(tmp_path.iterdir()) == []


class StopAt(Observer):
    """Stops a search at its n-th event."""

    def __init__(self, event: int) -> None:
        self.left = event
        self.search: Search | None = None
        self.committed: list[int] = []

    def count(self) -> None:
        self.left -= 1
        if self.left == 0:
            assert self.search is not None
            self.search.stop()

    def pass_started(self, progress: PassProgress) -> None:
        self.count()

    def progressed(self, progress: PassProgress) -> None:
        self.count()

    def level_committed(self, manifest: Manifest) -> None:
        self.committed.append(manifest.depth)
        self.count()


@pytest.mark.parametrize("options", [{"scheduler": "sync"}, {"workers": 2}], ids=["sync", "threads"])
@pytest.mark.parametrize("memory", [0, 10**6])
def test_stopped_at_any_event(options: dict[str, Any], memory: int, tmp_path: Path) -> None:
    """Each run gets a little further; no thread works on after it."""
    with everything_small(Sizes(memory=memory)):
        Search(Snake(n=8), job=tmp_path / "whole").run()
        stops = 0
        for event in [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 1000]:
            observer = StopAt(event)
            observer.search = Search(Snake(n=8), job=tmp_path / "job", observer=observer, **options)
            try:
                observer.search.run(resume=True)
                break
            except Stopped:
                stops += 1
            with Job.open(tmp_path / "job").lock():
                pass
    assert stops > 3
    assert summary(tmp_path / "job") == summary(tmp_path / "whole")


def test_a_search_can_be_run_again_after_it_was_stopped(tmp_path: Path) -> None:
    observer = StopAt(5)
    search = Search(Snake(n=8), job=tmp_path / "job", memory=MEMORY, observer=observer)
    observer.search = search
    with pytest.raises(Stopped):
        search.run()
    assert search.run(resume=True).total == 388


def test_a_search_that_is_stopped_before_it_runs(tmp_path: Path) -> None:
    search = Search(Snake(n=8), job=tmp_path / "job", memory=MEMORY)
    search.stop()
    with pytest.raises(Stopped):
        search.run()


def test_a_frontier_whose_states_are_gone(tmp_path: Path) -> None:
    """The manifest of the newest level says that its states were deleted, or names no partitions."""
    Search(Snake(n=7), job=tmp_path / "job", max_depth=3).run()
    job = Job.open(tmp_path / "job")
    level = job.level(3)
    bare = level.manifest.to_json() | {"partitions": []}
    write_document(level.path / "zarr.json", group_document(bare | {"arrays_kept": False}))
    with pytest.raises(CorruptJob, match="states of level 3"):
        Search(Snake(n=7), job=tmp_path / "job").run(resume=True)
    write_document(level.path / "zarr.json", group_document(bare))
    with pytest.raises(CorruptJob, match="add up"):
        Search(Snake(n=7), job=tmp_path / "job").run(resume=True)
