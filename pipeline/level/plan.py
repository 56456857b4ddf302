"""The plan of a level: how its frontier is cut into tasks and its keys into partitions."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from pipeline.level.duplicates import join_duplicates
from pipeline.level.expand import ExpandTask
from pipeline.level.places import aligned
from pipeline.level.sort import sort_keys
from pipeline.running.memory import Budget
from pipeline.running.tuning import DEFAULT, Tuning
from pipeline.spaces.contract import Keys, StateSpace
from pipeline.spaces.guards import expand_safely
from storage.jobs.level import Level
from storage.jobs.working import WorkingLevel
from storage.records import Manifest, parse, to_json


@dataclass(frozen=True)
class LevelPlan:
    """What the tasks of a level are. It is stored before the first task runs and holds until the level is committed.

    Attributes
    ----------
    tasks : tuple of ExpandTask
    splitters : tuple of int
        Smallest key of each partition but the first.
    exhaustive : bool
        Whether all neighbours are generated and earlier levels subtracted.
    expected_spill : int
        Estimate of the keys that the expand pass will spill.
    """

    tasks: tuple[ExpandTask, ...]
    splitters: tuple[Annotated[int, Field(ge=0, lt=2**64)], ...]
    exhaustive: bool
    expected_spill: Annotated[int, Field(ge=0, le=2**62)]

    @property
    def partitions(self) -> int:
        """Number of partitions of the next level."""
        return len(self.splitters) + 1

    def to_json(self) -> dict[str, Any]:
        """For the plan file."""
        return to_json(self)

    @classmethod
    def from_json(cls, entry: Any) -> LevelPlan:
        """Inverse of :meth:`to_json`.

        Raises
        ------
        ValueError
            If the entry is not what that makes.
        """
        plan = parse(LevelPlan, entry)
        if any(low >= high for low, high in pairwise(plan.splitters)):
            raise ValueError("the splitters do not ascend")
        if [task.number for task in plan.tasks] != list(range(len(plan.tasks))):
            raise ValueError("the tasks are not numbered one by one")
        return plan

    def check(self, frontier: Manifest, exhaustive: bool, mask_bits: int) -> None:
        """Make sure that this is a plan for the level after a frontier.

        Parameters
        ----------
        frontier : Manifest
        exhaustive : bool
            Whether it must generate all neighbours.
        mask_bits : int
            Width of the move mask: keys that differ there alone belong to the same partition.

        Raises
        ------
        ValueError
            If a key belongs to no task or to two, or the plan could part equal states or miss some.
        """
        if exhaustive and not self.exhaustive:
            raise ValueError("some neighbours would not be generated")
        if any(splitter % (1 << mask_bits) for splitter in self.splitters):
            raise ValueError("a splitter has a move mask")
        places = iter(self.tasks)
        for number, partition in enumerate(frontier.partitions):
            position = 0
            while position < partition.keys:
                task = next(places, None)
                if task is None or (task.partition, task.start) != (number, position) or task.stop <= position:
                    raise ValueError(f"no task begins at key {position} of partition {partition.name}")
                position = task.stop
            if position > partition.keys:
                raise ValueError(f"a task ends behind the last key of partition {partition.name}")
        if next(places, None) is not None:
            raise ValueError("there are tasks for more keys than there are")


def stored_plan(work: WorkingLevel, frontier: Manifest, exhaustive: bool, mask_bits: int) -> LevelPlan | None:
    """The plan that an earlier run made for the level after a frontier; None if there is none, or it is damaged.

    The parameters are those of :meth:`LevelPlan.check`.
    """
    stored = work.plan()
    if stored is None:
        return None
    try:
        plan = LevelPlan.from_json(stored)
        plan.check(frontier, exhaustive, mask_bits)
    except ValueError:
        return None
    return plan


def make_plan(space: StateSpace, frontier: Level, budget: Budget, exhaustive: bool, repetition: float) -> LevelPlan:
    """Plan the level after ``frontier``.

    Parameters
    ----------
    space : StateSpace
    frontier : Level
    budget : Budget
    exhaustive : bool
    repetition : float
        Keys spilled for each neighbour generated, as measured at the level before (1 if unknown).

    Returns
    -------
    LevelPlan
    """
    tasks = _tasks(frontier, budget)
    keys = frontier.manifest.keys
    if is_small(keys, max(space.max_neighbours, 1), budget.tuning):
        return LevelPlan(tasks, (), exhaustive, keys * space.max_neighbours)
    neighbours, sampled = _sample(space, frontier, exhaustive, budget.tuning.sampled)
    expected = expected_spill(neighbours.size / sampled * keys, repetition)
    partitions = partitions_for(expected, budget)
    sort_keys(neighbours)
    states = neighbours[: join_duplicates(neighbours, space.layout.mask_bits)]
    places = np.arange(1, partitions) * states.size // partitions
    mask = (1 << space.layout.mask_bits) - 1
    splitters = sorted({key & ~mask for key in states[places].tolist()}) if states.size else []
    if space.places is not None:
        # So that tables of places can be used, whether they are or not.
        splitters = sorted({aligned(key, space.places, space.layout.mask_bits) for key in splitters})
    return LevelPlan(tasks, tuple(splitters), exhaustive, expected)


def is_small(keys: float, max_neighbours: int, tuning: Tuning = DEFAULT) -> bool:
    """Whether a frontier is too small to look at: it is planned for the most neighbours that it can have."""
    return keys <= tuning.smallest_partition // max_neighbours


def expected_spill(generated: float, repetition: float) -> int:
    """Keys that the expand pass is expected to spill.

    Parameters
    ----------
    generated : float
        Neighbours.
    repetition : float
        Keys spilled for each of them at the level before.
    """
    return int(generated * min(1.0, 1.25 * repetition)) + 1


def partitions_for(expected: int, budget: Budget) -> int:
    """Partitions of a level for which the expand pass spills so many keys."""
    smallest, fill = budget.tuning.smallest_partition, budget.tuning.partition_fill
    # Spills that stay in memory are merged where they are, whatever the size of a partition.
    by_memory = 0.0 if budget.fits(expected) else expected / (fill * budget.buffer_keys)
    by_workers = min(2 * budget.workers, expected / smallest)
    by_workers = max(by_workers, min(4 * budget.workers, expected / (8 * smallest)))
    return max(1, ceil(by_memory), round(by_workers))


def _tasks(frontier: Level, budget: Budget) -> tuple[ExpandTask, ...]:
    """Slices of the frontier, whole chunks where they are larger than one."""
    tuning, chunk = budget.tuning, budget.tuning.cut.chunk
    size = frontier.manifest.keys // (tuning.tasks_for_each_worker * budget.workers) + 1
    size = min(max(size, tuning.smallest_task), max(tuning.largest_task, budget.buffer_keys // 4))
    tasks: list[ExpandTask] = []
    for number, partition in enumerate(frontier.manifest.partitions):
        frontier.check_presence(partition)
        # Equal pieces; of whole chunks if they are larger than one, so that no two tasks decode the same chunk.
        step = ceil(partition.keys / ceil(partition.keys / size))
        if step > chunk:
            step = ceil(step / chunk) * chunk
        for start in range(0, partition.keys, step):
            tasks.append(ExpandTask(len(tasks), number, start, min(start + step, partition.keys)))
    return tuple(tasks)


def _sample(space: StateSpace, frontier: Level, exhaustive: bool, most: int) -> tuple[Keys, int]:
    """Neighbours of keys spread over the frontier, and how many keys that are."""
    keys: list[int] = []
    for partition in frontier.manifest.partitions:
        keys.extend(frontier.sample(partition))
    step = -(-len(keys) // most)
    sampled = np.array(keys[::step], dtype=np.uint64)
    out = np.empty((sampled.size + 1) * max(space.max_neighbours, 1), dtype=np.uint64)
    return out[: expand_safely(space, sampled, out, exhaustive).written], sampled.size
