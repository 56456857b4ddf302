"""What the next level will take on disk, from what the levels before it took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.level.plan import LevelPlan
from storage.records import Manifest

# Of a key on disk where nothing was measured yet.
UNKNOWN_KEY_BYTES = 10.0
# Bytes that a spilled key takes more than a stored one, until that is measured: pieces are sparser than the level.
SPARSE_KEY_BYTES = 1.0
# The rates change little from level to level, and grow slowly.
ALLOWANCE = 1.1
# Metadata of an array without its sample, and what the file system takes for a file or directory.
ARRAY_BYTES = 2000
SAMPLE_KEY_BYTES = 22
FILE_BYTES = 4096
# What the smallest of levels says of a rate is little more than the header of its chunk.
TELLING_KEYS = 1 << 12


@dataclass(frozen=True)
class Forecast:
    """Disk that a level takes while it is made.

    Attributes
    ----------
    spills : int
        Bytes of spills, which go when it is committed.
    arrays : int
        Bytes of its arrays and metadata, which stay.
    """

    spills: int
    arrays: int

    @property
    def total(self) -> int:
        """Bytes that are there at the same time, before the commit."""
        return self.spills + self.arrays


def forecast(plan: LevelPlan, before: Sequence[Manifest], in_memory: bool, sample: int) -> Forecast:
    """Forecast the level after those that are committed.

    Parameters
    ----------
    plan : LevelPlan
        Of the level.
    before : sequence of Manifest
        Of the levels before, in order.
    in_memory : bool
        Whether the spills are expected to stay in memory.
    sample : int
        Keys that the metadata of a partition repeat.

    Returns
    -------
    Forecast
    """
    last = before[-1]
    kept = min(1.0, ALLOWANCE * last.keys / last.spilled) if last.spilled else 1.0
    keys = kept * plan.expected_spill
    stored = _stored_key_bytes(before)
    arrays = (
        ALLOWANCE * stored * keys + metadata_bytes(keys, plan.partitions, sample) + 4 * FILE_BYTES * plan.partitions
    )
    if in_memory:
        return Forecast(0, int(arrays))
    spills = ALLOWANCE * _spilled_key_bytes(before, stored) * plan.expected_spill + len(plan.tasks) * FILE_BYTES
    return Forecast(int(spills), int(arrays))


def metadata_bytes(keys: float, partitions: int, sample: int) -> float:
    """Bytes of the metadata of a level's arrays, which repeat some of their keys."""
    return partitions * ARRAY_BYTES + min(keys, sample * partitions) * SAMPLE_KEY_BYTES


def _stored_key_bytes(before: Sequence[Manifest]) -> float:
    """Bytes of a key in arrays, as measured at the last two levels that tell."""
    rates = [manifest.bytes / manifest.keys for manifest in before if manifest.keys >= TELLING_KEYS]
    if rates:
        return max(rates[-2:])
    rates = [manifest.bytes / manifest.keys for manifest in before if manifest.keys]
    return min(rates[-1], UNKNOWN_KEY_BYTES) if rates else UNKNOWN_KEY_BYTES


def _spilled_key_bytes(before: Sequence[Manifest], stored: float) -> float:
    """Bytes of a key in spills, as measured at the last two levels that went to disk."""
    rates = [
        manifest.peak_spill_bytes / manifest.spilled
        for manifest in before
        if manifest.peak_spill_bytes and manifest.spilled >= TELLING_KEYS
    ]
    # Of a level that stayed in memory in part the rate is too small.
    return max([stored, *rates[-2:]]) if rates else stored + SPARSE_KEY_BYTES
