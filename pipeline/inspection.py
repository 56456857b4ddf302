"""Looking into the levels of a job: single states, samples, and where a state is."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pipeline.spaces.contract import State, StateSpace
from pipeline.spaces.registry import make_space
from storage.attributes import writer_of
from storage.errors import CorruptJob, InvalidInput, JobError
from storage.jobs.job import Job
from storage.jobs.level import Level


def space_of(job: Job) -> StateSpace:
    """State space of a job.

    Raises
    ------
    JobError
        If there is no such space, or this version of the program builds its keys differently.
    """
    description = job.attributes["space"]
    try:
        space = make_space(description["name"], description["parameters"])
    except InvalidInput as error:
        raise JobError(f"{job.path} searches what this program does not know: {error.message}", error.remedy) from error
    if description.get("key_version") != space.layout.version:
        raise JobError(
            f"{job.path} has keys of version {description.get('key_version')}, "
            f"and this program has keys of version {space.layout.version}",
            f"use {writer_of(job.attributes) or 'the version of the program'}, which wrote it",
        )
    layout = {"field_bits": space.layout.field_bits, "mask_bits": space.layout.mask_bits}
    if layout != {name: description[name] for name in layout}:
        raise JobError(f"{job.path} says of its keys what no version of the program says", "restore it from a copy")
    return space


def level_with_arrays(job: Job, depth: int) -> Level:
    """A committed level whose states are still on disk.

    Raises
    ------
    InvalidInput
        If there is no such level.
    JobError
        If its states were deleted.
    """
    depths = [manifest.depth for manifest in job.manifests() if manifest.keys]
    if depth not in depths:
        known = f"it has the depths 0 to {depths[-1]}" if depths else "no level is done yet"
        raise InvalidInput(f"{job.path} has no level of depth {depth}", known)
    level = job.level(depth)
    if not level.manifest.arrays_kept:
        raise JobError(
            f"the states of depth {depth} of {job.path} were deleted by --keep frontier", "choose a deeper level"
        )
    return level


def _state_of(space: StateSpace, level: Level, key: int) -> State:
    """State of a key that was read from a level."""
    try:
        return space.state_of(key)
    except InvalidInput as error:
        raise CorruptJob(f"level {level.manifest.depth} ({level.path}): {error.message}") from error


def first_states(space: StateSpace, level: Level, count: int) -> Iterator[State]:
    """The states with the smallest keys of a level."""
    left = count
    for partition in level.manifest.partitions:
        for block in level.read(partition, 0, min(left, partition.keys)):
            for key in block.tolist():
                yield _state_of(space, level, key)
            left -= block.size
        if left <= 0:
            return


def sample_states(space: StateSpace, level: Level, count: int, seed: int = 0) -> Iterator[State]:
    """States chosen at random without repetition (all, if there are no more), by ascending key."""
    generator = np.random.default_rng(seed)
    total = level.manifest.keys
    places = np.sort(generator.choice(total, size=min(count, total), replace=False))
    start = 0
    for partition in level.manifest.partitions:
        inside = places[(places >= start) & (places < start + partition.keys)] - start
        position = 0
        if inside.size:
            for block in level.read(partition, 0, int(inside[-1]) + 1):
                here = inside[(inside >= position) & (inside < position + block.size)] - position
                for key in block[here].tolist():
                    yield _state_of(space, level, key)
                position += block.size
        start += partition.keys


def depth_of(space: StateSpace, job: Job, state: State) -> int | None:
    """Depth of the level that holds a state (or one that is equivalent); None if no level on disk does.

    Raises
    ------
    InvalidInput
        If the state cannot be of this space.
    """
    mask = (1 << space.layout.mask_bits) - 1
    key = space.key_of(state)
    for manifest in job.manifests():
        if not manifest.arrays_kept:
            continue
        for _ in job.level(manifest.depth).read_range(key, key | mask):
            return manifest.depth
    return None
