"""Checking a job: every chunk is read, counted and compared with the manifest, the counts with known ones."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from pipeline.audit.damage import Damage, LevelCheck, examine
from pipeline.level.disk import Room
from pipeline.level.earlier import earlier_levels
from pipeline.level.kernels import load_kernels
from pipeline.level.maker import LevelMaker
from pipeline.running.events import Observer
from pipeline.running.executors import ThreadExecutor
from pipeline.running.memory import Budget, available_workers, budget_for
from pipeline.running.tuning import wanted_tuning
from pipeline.spaces.contract import StateSpace
from storage.errors import CorruptJob, Mismatch, OutOfBudget
from storage.files.refusals import writing
from storage.jobs.job import REMEDY, Job
from storage.jobs.scratch import private_scratch
from storage.jobs.working import WorkingLevel
from storage.keys.gaps import release_scratch


def verify_levels(space: StateSpace, job: Job) -> Iterator[LevelCheck]:
    """Read all levels of a job.

    Yields
    ------
    LevelCheck
        For each level; ``read`` is False if its arrays were deleted by ``--keep frontier``.

    Raises
    ------
    CorruptJob
        At the first difference, with its place.
    """
    for found in examine(space, job):
        if isinstance(found, Damage):
            raise CorruptJob(found.message, REMEDY, found.path)
        yield found


def compare_with_reference(space: StateSpace, job: Job) -> str | None:
    """Compare the counts of a job with those that are known.

    Returns
    -------
    str or None
        What they were compared with; None if nothing is known.

    Raises
    ------
    Mismatch
        With the first depth that differs.
    """
    reference = space.reference()
    manifests = job.manifests()
    states = [manifest.states for manifest in manifests if manifest.keys]
    complete = bool(manifests) and manifests[-1].keys == 0
    if reference is None:
        return None
    compared = []
    if reference.states is not None:
        for depth, (ours, theirs) in enumerate(zip(states, reference.states, strict=False)):
            if ours != theirs:
                raise Mismatch(f"depth {depth} of {job.path} has {ours} states; {reference.source} says {theirs}")
        if reference.complete and (
            len(states) > len(reference.states) or (complete and len(states) < len(reference.states))
        ):
            raise Mismatch(f"{job.path} has {len(states)} depths; {reference.source} says {len(reference.states)}")
        compared.append(f"{min(len(states), len(reference.states))} depths")
    if reference.total is not None and complete:
        if sum(states) != reference.total:
            raise Mismatch(f"{job.path} has {sum(states)} states; {reference.source} says {reference.total}")
        compared.append("the total")
    if not compared:
        return None
    return f"{' and '.join(compared)} with {reference.source}"


def verify_expansion(
    space: StateSpace, job: Job, depth: int, memory: int | None = None, work_dir: Path | None = None
) -> None:
    """Make a level again from the one before, generating all neighbours, and compare it with what is on disk.

    Parameters
    ----------
    space : StateSpace
    job : Job
    depth : int
        1 or more; the arrays of the level before (and of the one before that) must be on disk.
    memory : int, optional
        Budget in bytes.
    work_dir : Path, optional
        Where it is made; beside the job unless given. Nothing of it stays.

    Raises
    ------
    CorruptJob
        If the levels differ.
    OutOfBudget
        If it is not expected to fit into the memory or on the disk, or does not.
    """
    load_kernels(space)
    frontier = job.level(depth - 1)
    expected = job.level(depth).manifest
    release_scratch()
    budget = _budget(space, memory)
    with private_scratch(job, work_dir) as directory, ThreadExecutor(budget.workers) as executor:
        room = Room(job, None, False, Observer(), directory)
        work = WorkingLevel(directory / "level", depth, space.layout.field_bits, cut=budget.tuning.cut)
        maker = LevelMaker(space, executor, budget, Observer(), room)
        earlier = partial(earlier_levels, space, job, depth, whole=True)
        with room.watching(work), writing(directory):
            again = maker.make(work, frontier, earlier, exhaustive=True)
    for name in ("keys", "states", "digest"):
        if getattr(again, name) != getattr(expected, name):
            raise CorruptJob(
                f"level {depth} of {job.path}: expanding level {depth - 1} again gives {name} {getattr(again, name)}, "
                f"on disk is {getattr(expected, name)}"
            )


def _budget(space: StateSpace, memory: int | None) -> Budget:
    """The budget for leaving out two levels; where it is too small for that, the one that the search had.

    A single worker finds room for the chunk of one more level in the reserve.
    """
    workers, tuning = available_workers(), wanted_tuning()
    try:
        return budget_for(memory, workers, tuning, earlier_levels=2)
    except OutOfBudget:
        return budget_for(memory, 1, tuning, earlier_levels=1 if space.bipartite else 2)
