"""The level loop: plan, expand, merge, commit. Resuming is reading what is committed."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pipeline.budget import (
    MIB,
    Budget,
    available_memory,
    available_workers,
    divide,
    resident_bytes,
    return_memory_at_once,
)
from pipeline.events import Observer, PassProgress
from pipeline.executors import Executor, make_executor
from pipeline.passes.expand import expand
from pipeline.passes.merge import merge, partition_name
from pipeline.plan import LevelPlan, make_plan
from pipeline.spaces.contract import Detection, StateSpace
from pipeline.spaces.registry import short_name
from pipeline.table import Table
from storage.durable import bytes_below
from storage.errors import JobError, OutOfBudget
from storage.job import Job, WorkingLevel, writing
from storage.level import Level, Manifest, PartitionRecord
from storage.spill import DiskSpills, MemorySpills, Receipt, Spills

DEFAULT_JOBS_DIRECTORY = Path("jobs")
DISTRIBUTIONS = ("numpy", "numba", "zarr", "blosc2", "dask")
# Disk needed for a key: measured on the fifteen puzzle (1.3) and the snake (0.2), with some room.
BYTES_PER_KEY = 1.6


@dataclass(frozen=True)
class Settings:
    """How a search runs; none of it changes the result.

    Attributes
    ----------
    memory : int, optional
        Budget in bytes; half of what the machine or its container allows unless given.
    workers : int, optional
        Tasks at a time; one for each processor unless given.
    scheduler : str
        ``threads``, ``sync``, or the address of a dask.distributed scheduler.
    max_depth : int, optional
        Last depth to search.
    keep : {"all", "frontier"}
        Levels whose arrays stay on disk: all, or those that the search still needs.
    """

    memory: int | None = None
    workers: int | None = None
    scheduler: str = "threads"
    max_depth: int | None = None
    keep: Literal["all", "frontier"] = "all"


class Search:
    """A search with its job directory.

    Parameters
    ----------
    space : StateSpace
    job : path-like, optional
        Job directory; ``jobs/<short name of the space>`` unless given.
    settings : Settings, optional
    observer : Observer, optional
    **options
        Fields of :class:`Settings`, instead of ``settings``.

    Examples
    --------
    >>> from pipeline import Search, Snake
    >>> Search(Snake(n=6), job=tmp_path / "snake-6").run().states
    (1, 3, 12, 19, 16, 5)
    """

    def __init__(
        self,
        space: StateSpace,
        job: str | os.PathLike[str] | None = None,
        settings: Settings | None = None,
        observer: Observer | None = None,
        **options: Any,
    ) -> None:
        self.space = space
        self.path = Path(job) if job is not None else DEFAULT_JOBS_DIRECTORY / short_name(space)
        self.settings = settings if settings is not None else Settings(**options)
        self.observer = observer if observer is not None else Observer()
        self._executor: Executor | None = None

    def run(self, resume: bool = False, overwrite: bool = False, command: str | None = None) -> Table:
        """Search until the space is exhausted or ``max_depth`` is reached.

        Parameters
        ----------
        resume : bool
            Go on with the job if there is one.
        overwrite : bool
            Delete the job first if there is one.
        command : str, optional
            Recorded in the job's provenance.

        Returns
        -------
        Table
            States at each depth.

        Raises
        ------
        JobError, JobLocked, CorruptJob, OutOfBudget, InvalidInput
        Stopped
            After :meth:`stop`; the job can be resumed.
        """
        return_memory_at_once()
        self._refuse_early(resume, overwrite)
        workers = self.settings.workers or available_workers()
        with make_executor(self.settings.scheduler, workers) as executor:
            self._executor = executor
            self._warm_up()
            budget = self._divide_memory(executor)
            if overwrite:
                Job.remove(self.path)
            job = self._open_or_create(command)
            with job.lock(), writing(job.path):
                job.sweep()
                _LevelLoop(self, job, executor, budget).run()
            return Table.of(self.space, job)

    def stop(self) -> None:
        """Ask a running search to end at the next safe point; may be called from a signal handler."""
        if self._executor is not None:
            self._executor.stop.set()

    def _refuse_early(self, resume: bool, overwrite: bool) -> None:
        """Look at what can go wrong before the kernels are compiled and before anything is written."""
        if Job.exists(self.path):
            if resume:
                self._check_same(Job.open(self.path))
            elif not overwrite:
                Job.open(self.path)
                raise JobError(
                    f"the job {self.path} exists", "go on with it with --resume, or start again with --overwrite"
                )
        if self.settings.max_depth is not None and self.settings.max_depth < 0:
            raise JobError(f"the depth to search to is {self.settings.max_depth}", "give 0 or more")

    def _description(self) -> dict[str, Any]:
        layout = self.space.layout
        return {
            "name": self.space.name,
            "parameters": self.space.parameters.model_dump(),
            "key_version": layout.version,
            "field_bits": layout.field_bits,
            "mask_bits": layout.mask_bits,
        }

    def _check_same(self, job: Job) -> None:
        theirs, ours = job.attributes["space"], self._description()
        if theirs != ours:
            raise JobError(
                f"the job {self.path} is {_named(theirs)}, not {_named(ours)}",
                "resume it with its own parameters, or choose another place with --job",
            )

    def _open_or_create(self, command: str | None) -> Job:
        if Job.exists(self.path):
            return Job.open(self.path)
        versions = {"python": platform.python_version(), "frontier-pipeline": _version("frontier-pipeline")}
        versions.update({name: _version(name) for name in DISTRIBUTIONS})
        provenance = {
            "versions": versions,
            "command": command if command is not None else " ".join(sys.argv),
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        return Job.create(self.path, self._description(), provenance)

    def _warm_up(self) -> None:
        """Compile or load every kernel once, in this thread: several at once may spoil the cache."""
        roots = self.space.roots()
        out = np.empty(4 * self.space.max_neighbours + 4, dtype=np.uint64)
        self.space.expand(roots, out, False)
        self.space.count_states(roots)

    def _divide_memory(self, executor: Executor) -> Budget:
        total = self.settings.memory if self.settings.memory is not None else available_memory() // 2
        budget = divide(total, resident_bytes(), executor.workers)
        if budget.workers < executor.workers:
            self.observer.message(
                f"{budget.workers} of {executor.workers} workers: a memory budget of {total // MIB} MiB "
                "does not suffice for more"
            )
            executor.workers = budget.workers
        return budget


def _version(distribution: str) -> str:
    with suppress(PackageNotFoundError):
        return version(distribution)
    return "unknown"


def _named(space: dict[str, Any]) -> str:
    parameters = ", ".join(f"{key}={value}" for key, value in space["parameters"].items())
    return f"{space['name']} with {parameters} (keys of version {space['key_version']})"


class _LevelLoop:
    """The work of one call of :meth:`Search.run`."""

    def __init__(self, search: Search, job: Job, executor: Executor, budget: Budget) -> None:
        self._space = search.space
        self._settings = search.settings
        self._observer = search.observer
        self._job = job
        self._executor = executor
        self._budget = budget

    def run(self) -> None:
        if not self._job.depths():
            self._commit_roots()
        while True:
            depth = len(self._job.depths())
            frontier = self._job.level(depth - 1)
            bound = self._settings.max_depth
            if not frontier.manifest.keys or (bound is not None and depth > bound):
                return
            self._executor.check()
            self._make_level(frontier)
            if self._settings.keep == "frontier":
                self._drop_levels(depth)

    def _commit_roots(self) -> None:
        from storage.level import PartitionWriter

        roots = self._space.roots()
        work = self._job.working_level(0)
        work.partitions.mkdir(parents=True, exist_ok=True)
        writer = PartitionWriter(work.partitions, partition_name(0), roots.size, self._space.layout.field_bits)
        writer.append(roots, self._space.count_states(roots))
        manifest = Manifest.of(0, [writer.close()])
        self._job.commit(work, manifest)
        self._observer.level_committed(manifest)

    def _drop_levels(self, newest: int) -> None:
        """Delete arrays that no later level needs."""
        needed = 0 if self._space.detection is Detection.MASKS else 1
        for depth in range(newest - needed):
            self._job.drop_arrays(depth)

    def _make_level(self, frontier: Level) -> None:
        started = time.monotonic()
        depth = frontier.manifest.depth + 1
        work = self._job.working_level(depth)
        plan = self._plan(work, frontier, self._always_exhaustive() or frontier.manifest.exhaustive)
        spills = self._spills(work, plan)
        totals = self._expand(work, frontier, plan, spills)
        if not plan.exhaustive and self._misses_moves(frontier, totals):
            self._observer.message(
                f"level {depth}: some moves that reduce bends do not lead back; all neighbours are generated from here"
            )
            work.discard()
            plan = self._plan(work, frontier, exhaustive=True)
            spills = self._spills(work, plan)
            totals = self._expand(work, frontier, plan, spills)
        records = self._merge(work, plan, spills, totals)
        peak = bytes_below(work.path / "spills")
        work.drop_spills()
        manifest = Manifest.of(
            depth,
            records,
            generated=totals["generated"],
            spilled=totals["spilled"],
            forward=totals["forward"],
            exhaustive=plan.exhaustive,
            seconds=round(time.monotonic() - started, 3),
            peak_spill_bytes=peak,
        )
        self._job.commit(work, manifest)
        self._observer.level_committed(manifest)

    def _always_exhaustive(self) -> bool:
        return self._space.detection is Detection.LEVELS

    def _misses_moves(self, frontier: Level, totals: Receipt) -> bool:
        """Whether one-sided expansion left out a move that is not the reverse of one generated a level before."""
        return self._space.detection is Detection.ONE_SIDED and totals["backward"] != frontier.manifest.forward

    def _plan(self, work: WorkingLevel, frontier: Level, exhaustive: bool) -> LevelPlan:
        stored = work.plan()
        if stored is not None:
            return LevelPlan.from_json(stored)
        before = frontier.manifest
        repetition = before.spilled / before.generated if before.generated else 1.0
        plan = make_plan(self._space, frontier, self._budget, exhaustive, repetition)
        self._check_disk(plan, before.depth + 1)
        work.save_plan(plan.to_json())
        return plan

    def _check_disk(self, plan: LevelPlan, depth: int) -> None:
        needed = int(plan.expected_spill * BYTES_PER_KEY)
        if plan.expected_spill > self._budget.memory_spill_keys:
            needed *= 2
        free = shutil.disk_usage(self._job.path).free
        if needed > free:
            raise OutOfBudget(
                f"level {depth} of {self._job.path} may take {needed // MIB} MiB of disk, and {free // MIB} MiB are free",
                "free some space and resume the job; --keep frontier deletes levels that are no longer needed",
            )

    def _spills(self, work: WorkingLevel, plan: LevelPlan) -> Spills:
        disk = work.spills()
        started_on_disk = any(disk.receipt(task.number) is not None for task in plan.tasks)
        fits = plan.expected_spill <= self._budget.memory_spill_keys
        if self._executor.shares_memory and fits and not started_on_disk:
            return MemorySpills(self._budget.memory_spill_keys, disk)
        return disk

    def _expand(self, work: WorkingLevel, frontier: Level, plan: LevelPlan, spills: Spills) -> Receipt:
        receipts = {task.number: spills.receipt(task.number) for task in plan.tasks}
        finished = [receipt for receipt in receipts.values() if receipt is not None]
        progress = PassProgress(work.depth, "expand", frontier.manifest.keys)
        for receipt in finished:
            progress.done += receipt["keys"]
            progress.generated += receipt["generated"]
            progress.stored += receipt["spilled"]
        self._observer.pass_started(progress)
        report = self._reporter(progress)
        splitters = np.array(plan.splitters, dtype=np.uint64)
        tasks = [
            (
                expand,
                (self._space, frontier, task, splitters, spills, self._budget.buffer_keys, plan.exhaustive, report),
            )
            for task in plan.tasks
            if receipts[task.number] is None
        ]

        def done(receipt: Receipt) -> None:
            finished.append(receipt)
            if report is None:
                self._advance(progress, receipt["keys"], receipt["generated"], receipt["spilled"])

        self._executor.run(tasks, done)
        names = ("keys", "generated", "spilled", "forward", "backward")
        return {name: sum(receipt[name] for receipt in finished) for name in names}

    def _merge(self, work: WorkingLevel, plan: LevelPlan, spills: Spills, totals: Receipt) -> list[PartitionRecord]:
        records = []
        missing = []
        for partition in range(plan.partitions):
            record = work.record(partition_name(partition))
            if record is None:
                missing.append(partition)
            else:
                records.append(record)
        progress = PassProgress(work.depth, "merge", totals["spilled"])
        self._observer.pass_started(progress)
        report = self._reporter(progress)

        def report_merge(read: int, stored: int) -> None:
            if report is not None:
                report(read, 0, stored)

        earlier = self._earlier_levels(work.depth) if plan.exhaustive else []
        reporter = report_merge if report is not None else None
        tasks = [
            (merge, (self._space, work, partition, spills, earlier, self._budget.buffer_keys, reporter))
            for partition in missing
        ]

        def done(record: PartitionRecord) -> None:
            records.append(record)
            if report is None:
                self._advance(progress, totals["spilled"] // plan.partitions, 0, record.keys)

        self._executor.run(tasks, done)
        return records

    def _earlier_levels(self, depth: int) -> list[Level]:
        back = (2,) if self._space.bipartite else (1, 2)
        return [self._job.level(depth - step) for step in back if depth >= step]

    def _advance(self, progress: PassProgress, done: int, generated: int, stored: int) -> None:
        progress.done += done
        progress.generated += generated
        progress.stored += stored
        self._observer.progressed(progress)

    def _reporter(self, progress: PassProgress) -> Callable[[int, int, int], None] | None:
        """Called by tasks of this process; also ends them when a stop was asked for."""
        if not self._executor.shares_memory:
            return None

        def report(done: int, generated: int, stored: int) -> None:
            self._executor.check()
            self._advance(progress, done, generated, stored)

        return report
