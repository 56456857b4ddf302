"""Making one level: both passes over the executor, what is done already left out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np

from pipeline.level.expand import ExpandTask, expand
from pipeline.level.merge import merge, partition_name
from pipeline.level.plan import LevelPlan
from pipeline.running.events import Observer, PassProgress
from pipeline.running.executors import Executor
from pipeline.running.memory import Budget
from pipeline.spaces.contract import Keys, StateSpace
from storage.errors import CorruptSpill
from storage.jobs.level import Level
from storage.jobs.working import WorkingLevel
from storage.keys.spill_file import REMEDY, Receipt
from storage.keys.spills import MemorySpills, Spills
from storage.manifest import PartitionRecord

RECEIPT = ("keys", "generated", "spilled", "forward", "backward")


def _check_receipt(work: WorkingLevel, task: ExpandTask, receipt: Receipt | None) -> None:
    """Make sure that a receipt from the disk is one of this task."""
    if receipt is not None and (set(receipt) != set(RECEIPT) or receipt["keys"] != task.stop - task.start):
        path = work.spills().path_of(task.number)
        raise CorruptSpill(f"the spill file {path} is of another task", REMEDY, path)


class LevelMaker:
    """Runs the passes of a level.

    Parameters
    ----------
    space : StateSpace
    executor : Executor
    budget : Budget
    observer : Observer
    """

    def __init__(self, space: StateSpace, executor: Executor, budget: Budget, observer: Observer) -> None:
        self._space = space
        self._executor = executor
        self._budget = budget
        self._observer = observer
        self._arena: Keys | None = None

    def spills(self, work: WorkingLevel, plan: LevelPlan) -> Spills:
        """Where the spills of a level go: to memory if they fit and no task's are on disk already."""
        disk = work.spills()
        disk.check_partitions(plan.partitions)
        started_on_disk = any(disk.receipt(task.number) is not None for task in plan.tasks)
        if self._executor.shares_memory and self._budget.fits(plan.expected_spill) and not started_on_disk:
            if self._arena is None:
                self._arena = np.empty(self._budget.memory_spill_keys, dtype=np.uint64)
            return MemorySpills(self._arena.size, disk, self._arena)
        self._arena = None
        return disk

    def _buffer_keys(self, spills: Spills) -> int:
        return self._budget.memory_buffer_keys if isinstance(spills, MemorySpills) else self._budget.buffer_keys

    def expand(self, work: WorkingLevel, frontier: Level, plan: LevelPlan, spills: Spills) -> Receipt:
        """Run the expand pass; returns the sums of the receipts of all tasks."""
        receipts = {task.number: spills.receipt(task.number) for task in plan.tasks}
        for task in plan.tasks:
            _check_receipt(work, task, receipts[task.number])
        finished = [receipt for receipt in receipts.values() if receipt is not None]
        progress = PassProgress(work.depth, "expand", frontier.manifest.keys)
        for receipt in finished:
            progress.done += receipt["keys"]
            progress.generated += receipt["generated"]
            progress.stored += receipt["spilled"]
        self._observer.pass_started(progress)
        report = self._reporter(progress)
        splitters = np.array(plan.splitters, dtype=np.uint64)
        buffer_keys = self._buffer_keys(spills)
        tasks = [
            (
                expand,
                (self._space, frontier, task, splitters, spills, buffer_keys, plan.exhaustive, report),
            )
            for task in plan.tasks
            if receipts[task.number] is None
        ]

        def done(receipt: Receipt) -> None:
            finished.append(receipt)
            if report is None:
                self._advance(progress, receipt["keys"], receipt["generated"], receipt["spilled"])

        self._executor.run(tasks, done)
        return {name: sum(receipt[name] for receipt in finished) for name in RECEIPT}

    def merge(
        self, work: WorkingLevel, plan: LevelPlan, spills: Spills, totals: Receipt, earlier: Sequence[Level]
    ) -> list[PartitionRecord]:
        """Run the merge pass; returns the records of all partitions."""
        records = []
        missing = []
        for partition in range(plan.partitions):
            record = work.record(partition_name(partition))
            if record is None:
                missing.append(partition)
            else:
                records.append(record)
        progress = PassProgress(work.depth, "merge", totals["spilled"])
        progress.done = totals["spilled"] * len(records) // plan.partitions
        progress.stored = sum(record.keys for record in records)
        self._observer.pass_started(progress)
        report = self._reporter(progress)

        def report_merge(read: int, stored: int) -> None:
            if report is not None:
                report(read, 0, stored)

        reporter = report_merge if report is not None else None
        tasks = [
            (merge, (self._space, work, partition, spills, earlier, self._buffer_keys(spills), reporter))
            for partition in missing
        ]

        def done(record: PartitionRecord) -> None:
            records.append(record)
            if report is None:
                self._advance(progress, totals["spilled"] // plan.partitions, 0, record.keys)

        self._executor.run(tasks, done)
        return records

    def _advance(self, progress: PassProgress, done: int, generated: int, stored: int) -> None:
        progress.done += done
        progress.generated += generated
        progress.stored += stored
        self._observer.progressed(progress)

    def _reporter(self, progress: PassProgress) -> Callable[[int, int, int], None] | None:
        """Called by tasks of this process; also ends them when a stop was asked for."""
        if not self._executor.shares_memory:
            return None

        lock = threading.Lock()

        def report(done: int, generated: int, stored: int) -> None:
            self._executor.check()
            with lock:
                self._advance(progress, done, generated, stored)

        return report
