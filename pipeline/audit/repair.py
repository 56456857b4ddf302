"""Repairing a job: what is damaged is made again from the level before it, and compared with what was committed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from pipeline.audit.damage import Damage, examine, examine_level, levels_expected, whole_ledger
from pipeline.level.check import check_partition
from pipeline.level.earlier import EarlierLevels, levels_read
from pipeline.level.kernels import load_kernels
from pipeline.level.maker import LevelMaker, Selection
from pipeline.running.events import Observer
from pipeline.running.executors import Executor, ThreadExecutor
from pipeline.running.memory import Budget, available_workers, budget_for
from pipeline.running.tuning import wanted_tuning
from pipeline.spaces.contract import StateSpace
from storage.errors import CorruptJob
from storage.files.durable import make_directories, remove, remove_orphans
from storage.files.reading import DAMAGED, remove_links
from storage.files.refusals import writing
from storage.jobs.job import LEVEL_NAME, LEVELS, REPAIR, WORK, Job
from storage.jobs.ledger import ESSENTIAL
from storage.jobs.level import Level
from storage.jobs.restoring import replace_level, replace_partition, restore_ledger, restore_work
from storage.jobs.working import WorkingLevel
from storage.keys.array import read_facts
from storage.keys.partition import read_loosely
from storage.records import LevelSummary, Manifest, PartitionRecord, hexadecimal, to_json


class _CannotRepair(Exception):
    """Says why, in words that follow a colon."""


@dataclass(frozen=True)
class Outcome:
    """What became of something that was damaged.

    Attributes
    ----------
    repaired : bool
    message : str
        What was done, or why nothing could be.
    """

    repaired: bool
    message: str


def repair(
    space: StateSpace, job: Job, memory: int | None = None, tell: Callable[[str], None] = lambda line: None
) -> Iterator[Outcome]:
    """Repair all that can be repaired, shallow levels first: deeper ones are made from them.

    Parameters
    ----------
    space : StateSpace
    job : Job
    memory : int, optional
        Budget in bytes; half of what the machine allows unless given.
    tell : callable, optional
        Gets a line for the user when a lock has to be watched.

    Yields
    ------
    Outcome
        For everything that was damaged.

    Raises
    ------
    JobError, JobLocked, OutOfBudget
    """
    load_kernels(space)
    budget = budget_for(memory, available_workers(), wanted_tuning(), earlier_levels=levels_read(space))
    with ThreadExecutor(budget.workers) as executor, job.lock(tell), writing(job.path):
        # The program makes none; what they stand for counts as missing.
        remove_links(job.path / LEVELS)
        remove_links(job.path / WORK)
        remove_orphans(job.path)
        try:
            yield from _Repairer(space, job, executor, budget).run()
        finally:
            remove(job.path / WORK / REPAIR)


class _Repairer:
    def __init__(self, space: StateSpace, job: Job, executor: Executor, budget: Budget) -> None:
        self._space = space
        self._job = job
        self._budget = budget
        self._maker = LevelMaker(space, executor, budget, Observer())

    def run(self) -> Iterator[Outcome]:
        damages = [found for found in examine(self._space, self._job) if isinstance(found, Damage)]
        yield from self._repair_work(damages)
        for depth in range(levels_expected(self._job)):
            here = [found for found in damages if found.depth == depth]
            if any(found.what == "manifest" for found in here):
                yield self._attempt(f"level {depth}", self._repair_manifest, depth)
                # What the manifest hid shows only now.
                here = [
                    found
                    for found in examine_level(self._space, self._job, depth, whole_ledger(self._job))
                    if found.what == "partition"
                ]
            names = {found.partition: None for found in here if found.what == "partition"}
            for name in names:
                if name is not None:
                    yield self._attempt(f"level {depth}, partition {name}", self._repair_partition, depth, name)
        if any(found.what == "ledger" for found in damages):
            yield self._attempt("the metadata of the levels", self._repair_ledger)

    def _attempt(self, place: str, action: Callable[..., str], *arguments: object) -> Outcome:
        try:
            return Outcome(True, f"{place}: {action(*arguments)}")
        except _CannotRepair as error:
            return Outcome(False, f"{place} cannot be repaired: {error}")
        except CorruptJob as error:
            return Outcome(False, f"{place} cannot be repaired: {error.message}")
        finally:
            self._maker.release()

    def _repair_work(self, damages: list[Damage]) -> Iterator[Outcome]:
        """What is damaged of unfinished work is removed; the next run makes it again."""
        for found in damages:
            if found.what == "work":
                restore_work(self._job)
                yield Outcome(True, "the metadata of the directory for work: written again")
            elif found.what in ("plan", "spill", "working partition"):
                # Without its plan nobody knows what the rest of the work is.
                remove(found.path.parent if found.what == "plan" else found.path)
                yield Outcome(True, f"{found.path}: removed, the next run makes it again")

    def _repair_ledger(self) -> str:
        restore_ledger(self._job, levels_expected(self._job))
        return "written again from the manifests"

    def _repair_manifest(self, depth: int) -> str:
        """Restore a manifest from the ledger and the arrays, or make the level again."""
        summary = self._summary(depth)
        if summary is not None:
            records = self._records_found(depth)
            again = Manifest(**vars(summary), partitions=tuple(records))
            counted = Manifest.of(depth, records)
            if (counted.keys, counted.states, counted.digest) == (again.keys, again.states, again.digest):
                self._write_manifest(replace(again, bytes=counted.bytes))
                return f"the manifest was restored from the ledger, digest {hexadecimal(again.digest)}"
        try:
            return self._make_level(depth, summary)
        except (_CannotRepair, CorruptJob):
            if summary is None or depth + 1 >= levels_expected(self._job) or self._has_arrays(depth):
                raise
        # Of a level whose states were deleted, and are no longer needed.
        self._write_manifest(Manifest(**vars(summary), arrays_kept=False))
        digest = hexadecimal(summary.digest)
        return f"the manifest was restored from the ledger, digest {digest}; its states are not on disk"

    def _summary(self, depth: int) -> LevelSummary | None:
        """What the ledger says of a level."""
        ledger = whole_ledger(self._job)
        return None if ledger is None or depth >= len(ledger.committed) else ledger.committed[depth]

    def _has_arrays(self, depth: int) -> bool:
        path = self._job.level_path(depth)
        return path.is_dir() and any(entry.is_dir() for entry in path.iterdir())

    def _records_found(self, depth: int) -> list[PartitionRecord]:
        """What the arrays of a level say of themselves, if all of them are whole."""
        records = []
        path = self._job.level_path(depth)
        for entry in sorted(path.iterdir()) if path.is_dir() else []:
            if entry.is_dir() and LEVEL_NAME.fullmatch(entry.name):
                try:
                    records.append(read_facts(entry, self._job.sealed).record.partition)
                except DAMAGED:
                    return []
        return records

    def _write_manifest(self, manifest: Manifest) -> None:
        path = self._job.level_path(manifest.depth)
        make_directories(path)
        self._job.write_manifest(path, manifest)

    def _work(self, depth: int) -> WorkingLevel:
        """An empty directory for making something of a level again."""
        path = self._job.path / WORK / REPAIR
        remove(path)
        work = WorkingLevel(path, depth, self._space.layout.field_bits, self._job.sealed, self._budget.tuning.cut)
        make_directories(work.partitions)
        return work

    def _make_level(self, depth: int, summary: LevelSummary | None) -> str:
        """Make a level again as the search did."""
        work = self._work(depth)
        manifest = self._made_again(work) if depth else self._maker.make_roots(work)
        if summary is not None:
            self._compare(depth, manifest, summary)
        replace_level(self._job, work, manifest)
        known = "as the ledger says" if summary is not None else "for which nothing is known to compare it with"
        return f"made again {self._source(depth)}, digest {hexadecimal(manifest.digest)}, {known}"

    def _made_again(self, work: WorkingLevel) -> Manifest:
        frontier = self._before(work.depth)
        earlier = partial(EarlierLevels(self._space, self._job).of, work.depth)
        return self._maker.make(work, frontier, earlier, frontier.manifest.exhaustive)

    def _compare(self, depth: int, manifest: Manifest, summary: LevelSummary) -> None:
        ours, theirs = to_json(manifest), to_json(summary)
        for name in ESSENTIAL:
            if ours[name] != theirs[name]:
                raise _CannotRepair(f"made again {self._source(depth)} it has {name} {ours[name]}, not {theirs[name]}")

    def _source(self, depth: int) -> str:
        return f"from level {depth - 1}" if depth else "from the roots"

    def _before(self, depth: int) -> Level:
        """The level before, if its states can be expanded."""
        level = self._job.level(depth - 1)
        if level.manifest.keys and not (level.manifest.arrays_kept and self._has_arrays(depth - 1)):
            raise _CannotRepair(
                f"the states of level {depth - 1}, from which it could be made again, were deleted by --keep frontier"
            )
        for record in level.manifest.partitions:
            try:
                check_partition(self._space, level, record)
            except CorruptJob as error:
                raise _CannotRepair(f"the level before is damaged ({error.message})") from error
        return level

    def _repair_partition(self, depth: int, name: str) -> str:
        """Make a partition again from its own chunks, if they are whole, or from the level before."""
        level = self._job.level(depth)
        (record,) = (entry for entry in level.manifest.partitions if entry.name == name)
        work = self._work(depth)
        how = "its metadata were written again"
        if not self._copy_chunks(level, record, work):
            work = self._work(depth)
            how = f"made again {self._source(depth)}"
            if depth:
                self._make_partition(level.manifest, record, work)
            else:
                self._maker.make_roots(work)
        made = work.read_record(name) if (work.partitions / name).exists() else None
        if made is None or replace(made, bytes=record.bytes) != record:
            found = "nothing" if made is None else f"digest {hexadecimal(made.digest)}"
            raise _CannotRepair(f"{how} it has {found}, where the manifest says {hexadecimal(record.digest)}")
        replace_partition(self._job, depth, name, work.partitions / name)
        if made.bytes != record.bytes:
            self._write_manifest(_with_bytes(level.manifest, made))
        return f"{how}, digest {hexadecimal(made.digest)} is restored"

    def _copy_chunks(self, level: Level, record: PartitionRecord, work: WorkingLevel) -> bool:
        """Write an array anew from its chunks; whether they are the right ones."""
        writer = work.writer(record.name, record.keys)
        try:
            for keys in read_loosely(level.path / record.name):
                writer.append(keys, self._space.count_states(keys))
            made = writer.close()
        except DAMAGED:
            writer.abandon()
            return False
        return replace(made, bytes=record.bytes) == record

    def _make_partition(self, manifest: Manifest, record: PartitionRecord, work: WorkingLevel) -> None:
        """Expand the level before, and merge what belongs to one partition."""
        frontier = self._before(work.depth)
        mask = (1 << self._space.layout.mask_bits) - 1
        firsts = {int(entry.name): entry.first & ~mask for entry in manifest.partitions}
        # Partitions by their number; the search left out those that are empty.
        splitters = [
            firsts[min(number for number in firsts if number >= wanted)] for wanted in range(1, max(firsts) + 1)
        ]
        earlier = partial(EarlierLevels(self._space, self._job).of, work.depth)
        selection = Selection(tuple(splitters), int(record.name))
        self._maker.make(work, frontier, earlier, manifest.exhaustive, selection)


def _with_bytes(manifest: Manifest, record: PartitionRecord) -> Manifest:
    """The manifest with the size of a partition that was cut into other chunks."""
    partitions = tuple(record if entry.name == record.name else entry for entry in manifest.partitions)
    return replace(manifest, partitions=partitions, bytes=sum(entry.bytes for entry in partitions))
