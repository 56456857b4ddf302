"""The level loop: plan, expand, merge, commit. Resuming is reading what is committed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from pipeline.level.check import check_manifest
from pipeline.level.disk import Room
from pipeline.level.maker import LevelMaker
from pipeline.level.merge import partition_name
from pipeline.level.plan import LevelPlan, make_plan
from pipeline.running.events import Observer
from pipeline.running.executors import Executor
from pipeline.running.memory import Budget
from pipeline.running.settings import Settings
from pipeline.spaces.contract import Detection, StateSpace
from storage.errors import CorruptJob, CorruptSpill
from storage.files.durable import bytes_below, make_directories
from storage.jobs.job import Job
from storage.jobs.level import Level
from storage.jobs.working import WorkingLevel
from storage.keys.spill_file import Receipt
from storage.manifest import Manifest


class LevelLoop:
    """Makes and commits level after level.

    Parameters
    ----------
    space : StateSpace
    settings : Settings
    job : Job
        Locked by this process.
    executor : Executor
    budget : Budget
    observer : Observer
    """

    def __init__(
        self,
        space: StateSpace,
        settings: Settings,
        job: Job,
        executor: Executor,
        budget: Budget,
        observer: Observer,
    ) -> None:
        self._space = space
        self._settings = settings
        self._observer = observer
        self._job = job
        self._executor = executor
        self._budget = budget
        self._maker = LevelMaker(space, executor, budget, observer)
        self._room = Room(job, settings.max_disk, settings.force, observer)

    def run(self) -> None:
        """Go on until the space is exhausted or the depth bound is reached.

        Raises
        ------
        Stopped
            If the executor was told to stop.
        OutOfBudget
            If the disk or the quota has no room for a level; what is done of it stays.
        """
        try:
            if not self._job.depths():
                self._commit_roots()
            while self._make_next():
                pass
        finally:
            self._room.close()

    def _make_next(self) -> bool:
        """Make and commit the next level, unless there is nothing left to do."""
        depth = len(self._job.depths())
        frontier = self._job.level(depth - 1)
        if self._settings.keep == "frontier":
            self._drop_levels(depth - 1)
        bound = self._settings.max_depth
        if not frontier.manifest.keys or (bound is not None and depth > bound):
            return False
        if not frontier.manifest.arrays_kept:
            raise CorruptJob(
                f"the states of level {depth - 1} of {self._job.path}, which the next one is made from, are gone",
                "'pipeline verify --repair' makes them again if it can, otherwise use a copy or --overwrite",
            )
        check_manifest(frontier)
        self._executor.check()
        work = self._job.working_level(depth)
        with self._room.watching(work):
            self._commit(work, self.make(work, frontier))
        return True

    def _commit_roots(self) -> None:
        work = self._job.working_level(0)
        self._commit(work, self.make_roots(work))

    def make_roots(self, work: WorkingLevel) -> Manifest:
        """Make level 0, without committing it."""
        roots = self._space.roots()
        make_directories(work.partitions)
        writer = work.writer(partition_name(0), roots.size)
        writer.append(roots, self._space.count_states(roots))
        return Manifest.of(0, [writer.close()])

    def _commit(self, work: WorkingLevel, manifest: Manifest) -> None:
        self._job.commit(work, manifest)
        self._observer.level_committed(manifest)

    def _drop_levels(self, newest: int) -> None:
        """Delete arrays that no later level needs."""
        needed = 0 if self._space.detection is Detection.MASKS else 1
        for depth in range(newest - needed):
            self._job.drop_arrays(depth)

    def make(self, work: WorkingLevel, frontier: Level) -> Manifest:
        """Make the level after ``frontier``, without committing it. A spill file that is damaged is made again."""
        damaged: set[Path] = set()
        while True:
            try:
                return self._passes(work, frontier)
            except CorruptSpill as error:
                if error.path is None or error.path in damaged:
                    raise
                damaged.add(error.path)
                self._observer.message(f"level {work.depth}: {error.message}; its task is run again")
                error.path.unlink(missing_ok=True)

    def _passes(self, work: WorkingLevel, frontier: Level) -> Manifest:
        started = time.monotonic()
        plan = self._plan(work, frontier, self._always_exhaustive() or frontier.manifest.exhaustive)
        spills = self._maker.spills(work, plan)
        totals = self._maker.expand(work, frontier, plan, spills)
        if not plan.exhaustive and self._misses_moves(frontier, totals):
            self._observer.message(
                f"level {work.depth}: some moves that one-sided expansion leaves out do not lead back; "
                "from here on all neighbours are generated"
            )
            work.discard()
            plan = self._plan(work, frontier, exhaustive=True)
            spills = self._maker.spills(work, plan)
            totals = self._maker.expand(work, frontier, plan, spills)
        earlier = self._job.earlier_levels(work.depth, self._space.bipartite) if plan.exhaustive else []
        records = self._maker.merge(work, plan, spills, totals, earlier)
        return Manifest.of(
            work.depth,
            records,
            generated=totals["generated"],
            spilled=totals["spilled"],
            forward=totals["forward"],
            exhaustive=plan.exhaustive,
            seconds=round(time.monotonic() - started, 3),
            peak_spill_bytes=bytes_below(work.path / "spills"),
        )

    def _always_exhaustive(self) -> bool:
        return self._space.detection is Detection.LEVELS

    def _misses_moves(self, frontier: Level, totals: Receipt) -> bool:
        """Whether one-sided expansion left out a move that is not the reverse of one generated a level before."""
        return self._space.detection is Detection.ONE_SIDED and totals["backward"] != frontier.manifest.forward

    def _plan(self, work: WorkingLevel, frontier: Level, exhaustive: bool) -> LevelPlan:
        stored = work.plan()
        plan = self._stored_plan(stored, frontier, exhaustive) if stored is not None else None
        begun = plan is not None
        if plan is None:
            # What was made by another plan must not be taken for what belongs to this one.
            work.discard()
            before = frontier.manifest
            repetition = before.spilled / before.generated if before.generated else 1.0
            plan = make_plan(self._space, frontier, self._budget, exhaustive, repetition)
        in_memory = self._executor.shares_memory and self._budget.fits(plan.expected_spill)
        self._room.begin(work, plan, in_memory)
        if not begun:
            work.save_plan(plan.to_json())
        return plan

    def _stored_plan(self, stored: dict[str, Any], frontier: Level, exhaustive: bool) -> LevelPlan | None:
        """The plan that an earlier run made; None if it is damaged."""
        try:
            plan = LevelPlan.from_json(stored)
            plan.check(frontier.manifest, exhaustive, self._space.layout.mask_bits)
        except ValueError:
            return None
        return plan
