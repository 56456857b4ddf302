"""Comparing a committed level with its manifest."""

from __future__ import annotations

import numpy as np

from pipeline.spaces.contract import StateSpace
from storage.errors import CorruptJob
from storage.jobs.level import Level
from storage.keys.digest import add_digests, digest_of
from storage.records import Manifest, PartitionRecord, hexadecimal


def check_manifest(level: Level) -> None:
    """Compare the totals of a manifest with its partitions.

    Raises
    ------
    CorruptJob
    """
    manifest = level.manifest
    if not manifest.arrays_kept and not manifest.partitions:
        # Restored from the ledger, which does not say how a level was cut up.
        return
    again = Manifest.of(manifest.depth, list(manifest.partitions))
    for name in ("keys", "states", "digest", "bytes"):
        if getattr(again, name) != getattr(manifest, name):
            raise CorruptJob(
                f"level {manifest.depth} ({level.path / 'zarr.json'}): the partitions add up to "
                f"{name} {getattr(again, name)}, the manifest says {getattr(manifest, name)}"
            )
    for before, after in zip(manifest.partitions, manifest.partitions[1:], strict=False):
        if before.last >= after.first:
            raise CorruptJob(f"level {manifest.depth}: the partitions {before.name} and {after.name} overlap")


def check_partition(space: StateSpace, level: Level, record: PartitionRecord) -> None:
    """Read a partition and compare it with its record: checksums, order, repetitions, range, counts and digest.

    Raises
    ------
    CorruptJob
        At the first difference, with its place.
    """
    place = f"level {level.manifest.depth}, partition {record.name}"
    mask_bits = np.uint64(space.layout.mask_bits)
    keys = states = digest = 0
    last: np.uint64 | None = None
    for chunk, block in enumerate(level.read(record)):
        bare = block >> mask_bits
        wrong = np.flatnonzero(bare[1:] <= bare[:-1])
        if last is not None and bare[0] <= last:
            wrong = np.array([-1])
        if wrong.size:
            position = keys + int(wrong[0]) + 1
            raise CorruptJob(f"{place}, chunk {chunk}: the keys do not ascend at position {position}")
        if keys == 0 and int(block[0]) != record.first:
            raise CorruptJob(
                f"{place}: the first key is {hexadecimal(int(block[0]))}, the manifest says {hexadecimal(record.first)}"
            )
        last = bare[-1]
        final = int(block[-1])
        keys += block.size
        states += space.count_states(block)
        digest = add_digests(digest, int(digest_of(block)))
        # Not to be held while the next chunk is decoded.
        del block, bare, wrong
    found = {"keys": keys, "states": states, "last": final, "digest": digest}
    for name, value in found.items():
        if value != getattr(record, name):
            raise CorruptJob(f"{place}: {name} is {value}, the manifest says {getattr(record, name)}")
