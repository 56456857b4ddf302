"""The two passes over a level, task by task on the executor; what is done already is left out."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from pipeline.level.dense import collect, mark
from pipeline.level.earlier import JoinedLevels
from pipeline.level.expand import ExpandTask, Report, expand
from pipeline.level.merge import merge, partition_name
from pipeline.level.places import PlaceTables
from pipeline.level.plan import LevelPlan
from pipeline.running.counters import Counters
from pipeline.running.events import Observer, PassProgress
from pipeline.running.executors import Executor
from pipeline.running.tuning import Tuning
from pipeline.spaces.contract import StateSpace
from storage.errors import CorruptSpill
from storage.jobs.level import Level
from storage.jobs.working import WorkingLevel
from storage.keys.spill_file import REMEDY, Receipt
from storage.keys.spills import Spills
from storage.records import PartitionRecord


class Passes:
    """Runs expand and merge.

    Parameters
    ----------
    space : StateSpace
    executor : Executor
    observer : Observer
    tuning : Tuning
    """

    def __init__(self, space: StateSpace, executor: Executor, observer: Observer, tuning: Tuning) -> None:
        self._space = space
        self._executor = executor
        self._observer = observer
        self._tuning = tuning

    def expand(
        self, work: WorkingLevel, frontier: Level, plan: LevelPlan, spills: Spills, buffer_keys: int
    ) -> Counters:
        """Run the expand pass; returns what all tasks counted, those of earlier runs included."""
        receipts = {task.number: _receipt(spills, task) for task in plan.tasks}
        finished = [_checked(work, task, receipts[task.number]) for task in plan.tasks if receipts[task.number]]
        progress = PassProgress(work.depth, "expand", frontier.manifest.keys, sum(finished, Counters()))
        self._observer.pass_started(progress)
        report = self._reporter(progress)
        splitters = np.array(plan.splitters, dtype=np.uint64)
        tasks = [
            (
                expand,
                (self._space, frontier, task, splitters, spills, buffer_keys, plan.exhaustive, self._tuning, report),
            )
            for task in plan.tasks
            if receipts[task.number] is None
        ]

        def done(counters: Counters) -> None:
            finished.append(counters)
            if report is None:
                self._advance(progress, counters)

        self._executor.run(tasks, done)
        return sum(finished, Counters())

    def merge(
        self,
        work: WorkingLevel,
        plan: LevelPlan,
        spills: Spills,
        spilled: int,
        earlier: Sequence[Level | JoinedLevels],
        buffer_keys: int,
    ) -> list[PartitionRecord]:
        """Run the merge pass over ``spilled`` keys; returns the records of all partitions."""
        names = [partition_name(partition) for partition in range(plan.partitions)]
        found = {name: work.record(name) for name in names}
        records = [record for record in found.values() if record is not None]
        done_already = Counters(
            keys=spilled * len(records) // plan.partitions, stored=sum(record.keys for record in records)
        )
        progress = PassProgress(work.depth, "merge", spilled, done_already)
        self._observer.pass_started(progress)
        report = self._reporter(progress)
        tasks = [
            (merge, (self._space, work, partition, spills, earlier, buffer_keys, self._tuning.window, report))
            for partition, name in enumerate(names)
            if found[name] is None
        ]

        def done(record: PartitionRecord) -> None:
            records.append(record)
            if report is None:
                self._advance(progress, Counters(keys=spilled // plan.partitions, stored=record.keys))

        self._executor.run(tasks, done)
        return records

    def mark(self, work: WorkingLevel, frontier: Level, plan: LevelPlan, tables: PlaceTables) -> Counters:
        """Run the expand pass with tables of places; returns what all tasks counted."""
        progress = PassProgress(work.depth, "expand", frontier.manifest.keys)
        self._observer.pass_started(progress)
        report = self._local_reporter(progress)
        finished: list[Counters] = []
        tasks = [(mark, (self._space, frontier, task, tables, plan.exhaustive, report)) for task in plan.tasks]
        self._executor.run(tasks, finished.append)
        return sum(finished, Counters())

    def collect(
        self,
        work: WorkingLevel,
        plan: LevelPlan,
        tables: PlaceTables,
        spilled: int,
        earlier: Sequence[Level | JoinedLevels],
    ) -> list[PartitionRecord]:
        """Run the merge pass over tables of places; returns the records of all partitions."""
        names = [partition_name(partition) for partition in range(plan.partitions)]
        found = {name: work.record(name) for name in names}
        records = [record for record in found.values() if record is not None]
        progress = PassProgress(work.depth, "merge", spilled, Counters(stored=sum(record.keys for record in records)))
        self._observer.pass_started(progress)
        report = self._local_reporter(progress)

        def report_words(words: int, stored: int) -> None:
            # Where in the tables the neighbours lie is not counted.
            report(Counters(keys=spilled * words // tables.words, stored=stored))

        bounds = [0, *(tables.word_of(splitter) for splitter in plan.splitters), tables.words]
        tasks = []
        for partition, (first, end) in enumerate(pairwise(bounds)):
            if found[names[partition]] is not None:
                # An earlier run has stored it.
                tables.empty(first, end)
                report_words(end - first, 0)
            else:
                tasks.append((collect, (self._space, work, partition, (first, end), tables, earlier, report_words)))
        self._executor.run(tasks, records.append)
        return records

    def _advance(self, progress: PassProgress, counters: Counters) -> None:
        progress.counters += counters
        self._observer.progressed(progress)

    def _reporter(self, progress: PassProgress) -> Report | None:
        """Called by tasks of this process; also ends them when a stop was asked for."""
        return self._local_reporter(progress) if self._executor.shares_memory else None

    def _local_reporter(self, progress: PassProgress) -> Report:
        lock = threading.Lock()

        def report(counters: Counters) -> None:
            self._executor.check()
            with lock:
                self._advance(progress, counters)

        return report


def _receipt(spills: Spills, task: ExpandTask) -> Receipt | None:
    """What a task of an earlier run counted; None if it is not done, or if its version did not sum up what it read."""
    receipt = spills.receipt(task.number)
    return receipt if receipt is not None and "digest" in receipt else None


def _checked(work: WorkingLevel, task: ExpandTask, receipt: Receipt | None) -> Counters:
    """What a task of an earlier run counted, after it was found to be of this task."""
    try:
        counters = Counters.of_receipt(receipt or {})
        if counters.keys != task.stop - task.start:
            raise ValueError(f"it is of {counters.keys} keys")
    except ValueError as error:
        path = work.spills().path_of(task.number)
        raise CorruptSpill(f"the spill file {path} is of another task ({error})", REMEDY, path) from error
    return replace(counters, stored=0)
