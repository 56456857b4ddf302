"""The level loop: plan, expand, merge, commit. Resuming is reading what is committed."""

from __future__ import annotations

from functools import partial

import numpy as np

from pipeline.level.check import check_manifest
from pipeline.level.disk import Room
from pipeline.level.earlier import EarlierLevels
from pipeline.level.maker import LevelMaker
from pipeline.running.events import Observer
from pipeline.running.executors import Executor
from pipeline.running.memory import Budget
from pipeline.running.settings import Settings
from pipeline.spaces.claims import check_level
from pipeline.spaces.contract import Detection, StateSpace
from storage.errors import CorruptJob, FalseClaim, Mismatch
from storage.jobs.job import Job
from storage.jobs.level import Level
from storage.jobs.working import WorkingLevel
from storage.records import Manifest


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
        self._room = Room(job, settings.max_disk, settings.force, observer)
        self._cut = budget.tuning.cut
        self._maker = LevelMaker(space, executor, budget, observer, self._room)
        self._reference = space.reference()
        self._earlier = EarlierLevels(space, job, executor.shares_memory)
        # What is committed is looked through once; from then on this process alone adds to it.
        self._levels = self._states = self._dropped = 0

    def run(self) -> None:
        """Go on until the space is exhausted or the depth bound is reached.

        Raises
        ------
        Stopped
            If the executor was told to stop.
        OutOfBudget
            If the disk or the quota has no room for a level; what is done of it stays.
        Mismatch
            If more states are found than the space has; the level that brings them is not committed.
        """
        try:
            manifests = self._job.manifests()
            self._levels, self._states = len(manifests), sum(manifest.states for manifest in manifests)
            if not manifests:
                self._commit_roots()
            while self._make_next():
                pass
        finally:
            self._room.close()

    def _make_next(self) -> bool:
        """Make and commit the next level, unless there is nothing left to do."""
        depth = self._levels
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
        self._check_claims(frontier)
        work = self._job.working_level(depth, self._cut)
        with self._room.watching(work):
            earlier = partial(self._earlier.of, depth)
            self._commit(work, self._maker.make(work, frontier, earlier, frontier.manifest.exhaustive))
        return True

    def _commit_roots(self) -> None:
        work = self._job.working_level(0, self._cut)
        self._commit(work, self._maker.make_roots(work))

    def _commit(self, work: WorkingLevel, manifest: Manifest) -> None:
        self._states += manifest.states
        self._refuse_surplus(manifest.depth, manifest.keys)
        self._job.commit(work, manifest)
        self._levels += 1
        self._observer.level_committed(manifest)

    def _refuse_surplus(self, depth: int, keys: int) -> None:
        """Stop at what cannot be, whatever went wrong."""
        size = self._space.size
        if size is not None and (self._states > size or (not keys and self._states != size)):
            raise FalseClaim(
                f"the puzzle {self._space.name} claims to have {size} states, and has {self._states} to depth {depth}",
                "mend size, or leave it out",
            )
        reference = self._reference
        if reference is not None and reference.size is not None and self._states > reference.size:
            raise Mismatch(
                f"{self._job.path} has {self._states} states up to depth {depth}; {reference.source} says "
                f"{reference.size} in all",
                f"level {depth} was not committed; check the job with 'pipeline verify', and this machine's memory",
            )

    def _check_claims(self, frontier: Level) -> None:
        """Check what the puzzle claims on some states of a level, before anything is made of them."""
        if not self._space.is_checked:
            return
        manifest = frontier.manifest
        keys = [key for partition in manifest.partitions for key in frontier.sample(partition)]
        check_level(self._space, np.array(keys, dtype=np.uint64), manifest.depth, whole=len(keys) == manifest.keys)

    def _drop_levels(self, newest: int) -> None:
        """Delete arrays that no later level needs."""
        needed = 0 if self._space.detection is Detection.MASKS else 1
        for depth in range(self._dropped, newest - needed):
            self._job.drop_arrays(depth)
            self._dropped = depth + 1
