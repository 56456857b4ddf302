"""Making one level: plan, expand, merge, with what happens when that does not go as planned.

The search, ``verify --deep`` and repair make levels by the same code; they differ in where a level is made, and in what
becomes of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pipeline.level.disk import Room
from pipeline.level.earlier import JoinedLevels
from pipeline.level.merge import partition_name
from pipeline.level.passes import Passes
from pipeline.level.places import PlaceTables, aligned, table_words
from pipeline.level.plan import LevelPlan, make_plan, stored_plan
from pipeline.level.workspace import release_workspaces
from pipeline.running.counters import Counters
from pipeline.running.events import Observer
from pipeline.running.executors import Executor
from pipeline.running.memory import Budget, release_free_memory
from pipeline.spaces.contract import Detection, Keys, StateSpace
from pipeline.spaces.guards import roots_of
from storage.errors import CorruptJob, CorruptSpill
from storage.files.durable import bytes_below, make_directories
from storage.jobs.level import Level
from storage.jobs.working import WorkingLevel
from storage.keys.gaps import release_scratch
from storage.keys.spills import DiskSpills, MemorySpills, SelectedSpills, Spills
from storage.records import Manifest

# Smaller levels say little of what a key takes in a file, and their chunks are small.
TELLING_KEYS = 1 << 17
# The next level may take more.
ALLOWANCE = 1.1
# Words of tables that are read and emptied in the time that sorting saves on a key.
WORDS_WORTH_A_KEY = 8


@dataclass(frozen=True)
class Selection:
    """One partition of a level that is cut in a given way.

    Attributes
    ----------
    splitters : tuple of int
        Smallest key of each partition but the first.
    partition : int
        The one to make; the others stay empty.
    """

    splitters: tuple[int, ...]
    partition: int


class LevelMaker:
    """Makes levels, without committing them.

    Parameters
    ----------
    space : StateSpace
    executor : Executor
    budget : Budget
    observer : Observer
    room : Room, optional
        Looks after the disk.
    """

    def __init__(
        self, space: StateSpace, executor: Executor, budget: Budget, observer: Observer, room: Room | None = None
    ) -> None:
        self._space = space
        self._executor = executor
        self._budget = budget
        self._observer = observer
        self._room = room
        self._passes = Passes(space, executor, observer, budget.tuning)
        self._arena: Keys | None = None
        self._tables: PlaceTables | None = None

    def make_roots(self, work: WorkingLevel) -> Manifest:
        """Make level 0."""
        roots = roots_of(self._space)
        make_directories(work.partitions)
        writer = work.writer(partition_name(0), roots.size)
        writer.append(roots, self._space.count_states(roots))
        return Manifest.of(0, [writer.close()])

    def make(
        self,
        work: WorkingLevel,
        frontier: Level,
        earlier: Callable[[], Sequence[Level | JoinedLevels]],
        exhaustive: bool,
        selection: Selection | None = None,
    ) -> Manifest:
        """Make the level after ``frontier``, or go on making it. A spill file that is damaged is made again.

        Parameters
        ----------
        work : WorkingLevel
        frontier : Level
        earlier : callable
            Gives the levels that neighbours of the frontier can belong to.
        exhaustive : bool
            Generate all neighbours, whatever the state space would allow to leave out.
        selection : Selection, optional
            Make one partition alone.

        Returns
        -------
        Manifest

        Raises
        ------
        CorruptJob
            If an earlier level or a spill that was made again is damaged.
        OutOfBudget
            If the disk is not expected to have room.
        Stopped
        """
        damaged: set[Path] = set()
        while True:
            try:
                return self._make(work, frontier, earlier, exhaustive or self._always_exhaustive(), selection)
            except CorruptSpill as error:
                if error.path is None or error.path in damaged:
                    raise
                damaged.add(error.path)
                self._observer.message(f"level {work.depth}: {error.message}; its task is run again")
                error.path.unlink(missing_ok=True)

    def _make(
        self,
        work: WorkingLevel,
        frontier: Level,
        earlier: Callable[[], Sequence[Level | JoinedLevels]],
        exhaustive: bool,
        selection: Selection | None,
    ) -> Manifest:
        started = time.monotonic()
        self._adapt_budget(frontier.manifest)
        plan = self._plan(work, frontier, exhaustive, selection)
        found_in = self._tables_for(work, plan, selection) or self.spills(work, plan, selection)
        try:
            if isinstance(found_in, PlaceTables):
                totals = self._passes.mark(work, frontier, plan, found_in)
            else:
                totals = self._passes.expand(work, frontier, plan, found_in, self._buffer_keys(found_in))
            self._check_read(work, frontier, totals)
            if not plan.exhaustive and self._misses_moves(frontier, totals):
                self._observer.message(
                    f"level {work.depth}: some moves that one-sided expansion leaves out do not lead back; "
                    "from here on all neighbours are generated"
                )
                work.discard()
                self._tables = None
                return self._make(work, frontier, earlier, exhaustive=True, selection=selection)
            removed = earlier() if plan.exhaustive else []
            if isinstance(found_in, PlaceTables):
                records = self._passes.collect(work, plan, found_in, totals.spilled, removed)
            else:
                buffer_keys = self._buffer_keys(found_in)
                records = self._passes.merge(work, plan, found_in, totals.spilled, removed, buffer_keys)
        except BaseException:
            # What half a level left in the tables must not come into the next one.
            self._tables = None
            raise
        return Manifest.of(
            work.depth,
            records,
            generated=totals.generated,
            spilled=totals.spilled,
            forward=totals.forward,
            exhaustive=plan.exhaustive,
            seconds=round(time.monotonic() - started, 3),
            peak_spill_bytes=bytes_below(work.path / "spills"),
        )

    def release(self) -> None:
        """Let go of what is kept for the next level: what else the process does has to fit into the same memory."""
        self._arena = self._tables = None
        release_workspaces()
        release_scratch()
        release_free_memory()

    def _check_read(self, work: WorkingLevel, frontier: Level, totals: Counters) -> None:
        """Make sure that what was expanded is what was committed."""
        if (totals.keys, totals.digest) != (frontier.manifest.keys, frontier.manifest.digest):
            work.discard()
            raise CorruptJob(
                f"level {work.depth}: what was read of the level before ({frontier.path}) is not what was committed",
                "resume the job; if it happens again, check the memory of this machine, and the job with "
                "'pipeline verify'",
            )

    def _always_exhaustive(self) -> bool:
        return self._space.detection is Detection.LEVELS

    def _misses_moves(self, frontier: Level, totals: Counters) -> bool:
        """Whether one-sided expansion left out a move that is not the reverse of one generated a level before."""
        return self._space.detection is Detection.ONE_SIDED and totals.backward != frontier.manifest.forward

    def _plan(self, work: WorkingLevel, frontier: Level, exhaustive: bool, selection: Selection | None) -> LevelPlan:
        """The plan that an earlier run made, or a new one."""
        plan = stored_plan(work, frontier.manifest, exhaustive, self._space.layout.mask_bits)
        begun = plan is not None
        if plan is None:
            # What was made by another plan must not be taken for what belongs to this one.
            work.discard()
            before = frontier.manifest
            repetition = before.spilled / before.generated if before.generated else 1.0
            plan = make_plan(self._space, frontier, self._budget, exhaustive, repetition)
            if selection is not None:
                plan = replace(plan, splitters=selection.splitters)
        in_memory = self._executor.shares_memory and self._budget.fits(plan.expected_spill)
        in_memory = in_memory or (selection is None and self._uses_tables(work, plan))
        if self._room is not None:
            self._room.begin(work, plan, in_memory)
        if in_memory and plan.partitions == 1:
            # Of a level in one piece nothing that is done outlives the process but the whole.
            make_directories(work.partitions)
        elif not begun:
            work.save_plan(plan.to_json())
        return plan

    def _uses_tables(self, work: WorkingLevel, plan: LevelPlan) -> bool:
        """Whether a level is so dense that tables of places are faster than sorting, and they fit in memory."""
        places, mask_bits = self._space.places, self._space.layout.mask_bits
        if places is None or not self._executor.shares_memory:
            return False
        words = table_words(places, mask_bits)
        if words is None or words * self._budget.workers > self._budget.memory_spill_keys:
            return False
        if plan.expected_spill * WORDS_WORTH_A_KEY < words * self._budget.workers:
            return False
        # A plan that another version made may be cut elsewhere.
        cut_at_words = all(aligned(splitter, places, mask_bits) == splitter for splitter in plan.splitters)
        return cut_at_words and not _begun(work.spills(), plan)

    def _tables_for(self, work: WorkingLevel, plan: LevelPlan, selection: Selection | None) -> PlaceTables | None:
        """The tables of places, all of them empty, if the level is made with them."""
        if selection is not None or not self._uses_tables(work, plan):
            self._tables = None
            return None
        if self._tables is None:
            self._arena = None
            release_workspaces()
            assert self._space.places is not None
            self._tables = PlaceTables(self._space.places, self._space.layout.mask_bits, self._budget.workers)
        return self._tables

    def spills(self, work: WorkingLevel, plan: LevelPlan, selection: Selection | None = None) -> Spills:
        """Where the spills of a level go: to memory if they fit and no task's are on disk already."""
        if selection is not None:
            directory = work.path / "spills"
            return SelectedSpills(directory, work.field_bits, work.depth, frozenset([selection.partition]), work.cut)
        disk = work.spills()
        disk.check_partitions(plan.partitions)
        if self._executor.shares_memory and self._budget.fits(plan.expected_spill) and not _begun(disk, plan):
            if self._arena is None:
                # Threads that have nothing to do at this level would keep buffers of the size that spilling takes.
                release_workspaces()
                self._arena = np.empty(self._budget.memory_spill_keys, dtype=np.uint64)
            return MemorySpills(self._arena.size, disk, self._arena)
        self._arena = None
        return disk

    def _adapt_budget(self, frontier: Manifest) -> None:
        """Give the workers more for coding if the keys of the frontier take more bytes than is usual.

        Raises
        ------
        OutOfBudget
            If not even one worker fits then.
        """
        if frontier.keys < TELLING_KEYS:
            return
        workers = self._budget.workers
        self._budget = self._budget.for_keys_of(ALLOWANCE * frontier.bytes / frontier.keys)
        if self._budget.workers < workers:
            self._observer.message(
                f"{self._budget.workers} of {workers} workers: the keys are sparse, and take more memory"
            )
            self._executor.limit(self._budget.workers)

    def _buffer_keys(self, spills: Spills) -> int:
        return self._budget.memory_buffer_keys if isinstance(spills, MemorySpills) else self._budget.buffer_keys


def _begun(disk: DiskSpills, plan: LevelPlan) -> bool:
    """Whether some task's spills are on disk."""
    return any(disk.receipt(task.number) is not None for task in plan.tasks)
