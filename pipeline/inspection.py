"""Looking into the levels of a job: single states, samples, and where a state is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from pipeline.spaces.contract import Keys, State, StateSpace
from pipeline.spaces.registry import make_space
from storage.errors import CorruptJob, InvalidInput, JobError
from storage.jobs.job import Job
from storage.jobs.level import Level
from storage.records import writer_of

# That are written at once.
LINES = 1 << 14
# For each place that is drawn: it, what it is joined with, and where it repeats another.
DRAWING_BYTES = 32


def space_of(job: Job, puzzle: str | None = None) -> StateSpace:
    """State space of a job.

    Parameters
    ----------
    job : Job
    puzzle : str, optional
        Where to find it, as :func:`~pipeline.spaces.registry.class_of` takes it; by the name that the job has unless
        given.

    Raises
    ------
    JobError
        If there is no such space, or this version of the program builds its keys differently.
    """
    description = job.attributes["space"]
    try:
        space = make_space(puzzle if puzzle is not None else description["name"], description["parameters"])
    except InvalidInput as error:
        raise JobError(f"{job.path} searches what this program does not know: {error.message}", error.remedy) from error
    if space.name != description["name"]:
        raise JobError(
            f"{job.path} is of the puzzle {description['name']}, not {space.name}", "name the right --puzzle"
        )
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


def first_keys(level: Level, count: int) -> Iterator[Keys]:
    """The smallest keys of a level, in ascending blocks."""
    left = count
    for partition in level.manifest.partitions:
        if left <= 0:
            return
        stop = min(left, partition.keys)
        yield from level.read(partition, 0, stop)
        left -= stop


def sampled_keys(level: Level, count: int, seed: int = 0) -> Iterator[Keys]:
    """Keys chosen at random without repetition (all, if there are no more), in ascending blocks."""
    places, chosen = _random_places(level.manifest.keys, count, seed)
    start = 0
    for partition in level.manifest.partitions:
        low, high = np.searchsorted(places, np.array([start, start + partition.keys]))
        if chosen and low == high:
            start += partition.keys
            continue
        stop = int(places[high - 1]) + 1 - start if chosen else partition.keys
        for block in level.read(partition, 0, stop):
            first, last = np.searchsorted(places, np.array([start, start + block.size]))
            picked = np.full(block.size, not chosen)
            picked[places[first:last] - start] = chosen
            yield block[picked]
            start += block.size
        start += partition.keys - stop


def sampling_bytes(total: int, count: int) -> int:
    """Memory that choosing ``count`` of ``total`` states takes."""
    return DRAWING_BYTES * min(count, max(total - count, 0))


def _random_places(total: int, count: int, seed: int) -> tuple[NDArray[np.int64], bool]:
    """Ascending places, and whether they are those of the sample or all others, whichever are fewer."""
    generator = np.random.default_rng(seed)
    chosen = count <= total // 2
    wanted = count if chosen else max(total - count, 0)
    places = np.empty(0, dtype=np.int64)
    # Draws that repeat others are made again. Any set of places comes out as often as any other.
    while places.size < wanted:
        drawn = generator.integers(0, total, wanted - places.size)
        places = np.concatenate([places, drawn])
        places.sort()
        places = places[np.concatenate([[True], places[1:] > places[:-1]])]
    return places, chosen


def lines_of(space: StateSpace, level: Level, blocks: Iterable[Keys]) -> Iterator[bytes]:
    """Keys of a level as lines of text, many at once.

    Yields
    ------
    bytes
        Whole lines, each with its end.

    Raises
    ------
    CorruptJob
        If there is no state with a key.
    """
    for block in blocks:
        for start in range(0, block.size, LINES):
            try:
                yield space.format_keys(block[start : start + LINES])
            except InvalidInput as error:
                raise CorruptJob(f"level {level.manifest.depth} ({level.path}): {error.message}") from error


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
