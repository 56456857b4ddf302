"""The steps of a level one by one, on one thread."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pipeline.bench.timing import shortest
from pipeline.level.duplicates import join_duplicates
from pipeline.level.sort import sort_keys
from pipeline.spaces.contract import Keys, StateSpace
from storage.errors import JobError
from storage.jobs.job import Job
from storage.jobs.level import Level
from storage.keys.digest import digest_of
from storage.keys.gaps import decode, encode

MOST_KEYS = 1 << 19
# What is sorted at a time while a level is made; see pipeline.level.expand and pipeline.level.runs.
SORTED_KEYS = 1 << 19


@dataclass(frozen=True)
class Steps:
    """Nanoseconds that one thread takes.

    Attributes
    ----------
    expand : float
        For each key expanded.
    sort, join : float
        For each neighbour.
    count, digest, encode : float
        For each key stored.
    decode : float
        For each key read.
    neighbours : float
        Neighbours of a key.
    """

    expand: float
    sort: float
    join: float
    count: float
    digest: float
    encode: float
    decode: float
    neighbours: float

    def document(self) -> dict[str, float]:
        """By name."""
        return asdict(self)


UNITS = {
    "expand": "key expanded",
    "sort": "neighbour",
    "join": "neighbour",
    "count": "key stored",
    "digest": "key stored",
    "encode": "key stored",
    "decode": "key read",
}


def time_steps(space: StateSpace, keys: Keys, repetitions: int = 5) -> Steps:
    """Time the steps on some keys of a level.

    Parameters
    ----------
    space : StateSpace
    keys : ndarray of uint64, shape (n,)
        Ascending.
    repetitions : int
        Of each step at most; the shortest time counts.
    """
    keys = _divided(space, keys)
    out = np.empty(max(2 * SORTED_KEYS, 2 * space.max_neighbours), dtype=np.uint64)
    step = space.expand(keys, out, False)
    expanded, written = max(step.consumed, 1), max(step.written, 1)
    neighbours = out[: step.written].copy()
    ordered = np.sort(neighbours)
    work = neighbours.copy()
    frame = encode(keys, space.layout.field_bits)
    decoded = np.empty(keys.size, dtype=np.uint64)

    def refill(source: Keys) -> None:
        work[:] = source

    def nanoseconds(action: Any, count: int, prepare: Any = lambda: None) -> float:
        return shortest(action, prepare, repetitions) / count * 1e9

    return Steps(
        expand=nanoseconds(lambda: space.expand(keys, out, False), expanded),
        sort=nanoseconds(lambda: sort_keys(work), written, lambda: refill(neighbours)),
        join=nanoseconds(lambda: join_duplicates(work, space.layout.mask_bits), written, lambda: refill(ordered)),
        count=nanoseconds(lambda: space.count_states(keys), keys.size),
        digest=nanoseconds(lambda: digest_of(keys), keys.size),
        encode=nanoseconds(lambda: encode(keys, space.layout.field_bits), keys.size),
        decode=nanoseconds(lambda: decode(frame, decoded), keys.size),
        neighbours=step.written / expanded,
    )


def _divided(space: StateSpace, keys: Keys) -> Keys:
    """As many of the keys as have no more neighbours than are sorted at a time."""
    return keys[: max(1, min(MOST_KEYS, 2 * SORTED_KEYS // space.max_neighbours))]


def keys_of(level: Level, most: int = MOST_KEYS) -> Keys:
    """Keys from the middle of a level, ascending, one behind the other."""
    partitions = level.manifest.partitions
    if not partitions:
        raise JobError(f"level {level.manifest.depth} of {level.path} has no states")
    partition = partitions[len(partitions) // 2]
    start = max(0, (partition.keys - most) // 2)
    return np.concatenate(list(level.read(partition, start, min(partition.keys, start + most))))


def largest_level(job: Job) -> Level:
    """The level with the most keys."""
    manifests = [manifest for manifest in job.manifests() if manifest.arrays_kept]
    return job.level(max(manifests, key=lambda manifest: manifest.keys).depth)
