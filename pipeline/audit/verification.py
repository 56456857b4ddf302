"""Checking a job: every chunk is read, counted and compared with the manifest, the counts with known ones."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from pipeline.level.disk import Room
from pipeline.level.earlier import EarlierLevels, levels_read
from pipeline.level.kernels import load_kernels
from pipeline.level.maker import LevelMaker
from pipeline.running.events import Observer
from pipeline.running.executors import ThreadExecutor
from pipeline.running.memory import Budget, available_workers, budget_for
from pipeline.running.tuning import wanted_tuning
from pipeline.spaces.contract import StateSpace
from pipeline.spaces.guards import described, expand_safely
from storage.errors import CorruptJob, FalseClaim, Mismatch, OutOfBudget
from storage.files.refusals import writing
from storage.jobs.job import Job
from storage.jobs.level import Level
from storage.jobs.scratch import private_scratch
from storage.jobs.working import WorkingLevel
from storage.keys.gaps import release_scratch


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
        earlier = partial(EarlierLevels(space, job, believing=False).of, depth)
        with room.watching(work), writing(directory):
            again = maker.make(work, frontier, earlier, exhaustive=True)
    if again.digest != expected.digest and space.bipartite:
        _refuse_false_claim(space, job.level(depth), frontier)
    for name in ("keys", "states", "digest"):
        if getattr(again, name) != getattr(expected, name):
            raise CorruptJob(
                f"level {depth} of {job.path}: expanding level {depth - 1} again gives {name} {getattr(again, name)}, "
                f"on disk is {getattr(expected, name)}"
            )


def _refuse_false_claim(space: StateSpace, level: Level, frontier: Level) -> None:
    """Look whether a level that differs has states of the level before, which is no damage.

    Raises
    ------
    FalseClaim
        With two states that disprove that the graph is bipartite.
    """
    mask_bits = np.uint64(space.layout.mask_bits)
    mask = (1 << space.layout.mask_bits) - 1
    for partition in level.manifest.partitions:
        for block in level.read(partition):
            bare = block >> mask_bits
            for other in frontier.read_range(int(block[0]) & ~mask, int(block[-1]) | mask):
                for state in np.intersect1d(bare, other >> mask_bits, assume_unique=True).tolist():
                    key = state << space.layout.mask_bits
                    out = np.empty(max(space.max_neighbours, 1), dtype=np.uint64)
                    step = expand_safely(space, np.array([key], dtype=np.uint64), out, True)
                    for neighbour in (out[: step.written] >> mask_bits << mask_bits).tolist():
                        if any(True for _ in frontier.read_range(neighbour, neighbour | mask)):
                            raise FalseClaim(
                                f"the puzzle {space.name} claims to be bipartite, and one move leads from "
                                f"{described(space, key)} to "
                                f"{'itself' if neighbour == key else described(space, neighbour)}, both of depth "
                                f"{frontier.manifest.depth}",
                                "set bipartite = False and Detection.LEVELS, and search again",
                            )


def _budget(space: StateSpace, memory: int | None) -> Budget:
    """The budget for leaving out two levels; where it is too small for that, the one that the search had.

    A single worker finds room for the chunk of one more level in the reserve.
    """
    workers, tuning = available_workers(), wanted_tuning()
    try:
        return budget_for(memory, workers, tuning, earlier_levels=max(2, levels_read(space)))
    except OutOfBudget:
        return budget_for(memory, 1, tuning, earlier_levels=levels_read(space))
