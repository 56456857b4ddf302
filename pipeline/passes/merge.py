"""The merge pass: all spilled keys of one partition become its array, without repetitions and earlier states."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pipeline.passes.duplicates import join_duplicates, mark_members, remove_marked
from pipeline.passes.workspace import workspace
from pipeline.spaces.contract import Keys, StateSpace
from storage.job import WorkingLevel
from storage.level import Level, PartitionRecord, PartitionWriter
from storage.spill import FRAME_KEYS, Piece, Spills


def partition_name(partition: int) -> str:
    """Name of the array of a partition."""
    return f"{partition:05d}"


def merge(
    space: StateSpace,
    work: WorkingLevel,
    partition: int,
    spills: Spills,
    earlier: Sequence[Level],
    buffer_keys: int,
    report: Callable[[int, int], None] | None = None,
) -> PartitionRecord:
    """Run one merge task.

    Parameters
    ----------
    space : StateSpace
    work : WorkingLevel
        Where the array goes.
    partition : int
    spills : Spills
        Where the keys come from.
    earlier : sequence of Level
        Levels whose states are removed.
    buffer_keys : int
        Most keys that are merged at once. A partition with more is merged range by range.
    report : callable, optional
        Called with the keys read and the keys stored since the last call.

    Returns
    -------
    PartitionRecord
        With ``keys`` 0 if nothing is new.
    """
    name = partition_name(partition)
    pieces = [piece for piece in spills.pieces(partition) if piece.keys]
    total = sum(piece.keys for piece in pieces)
    if not total:
        return PartitionRecord(name, 0, 0, 0, 0, 0, 0)
    buffer = workspace(buffer_keys)
    writer: PartitionWriter | None = None
    for low, high in ranges(pieces, total, buffer, space.layout.mask_bits):
        filled = gather(pieces, low, high, buffer)
        part = buffer[:filled]
        part.sort()
        kept = part[: join_duplicates(part, space.layout.mask_bits)]
        if earlier and kept.size:
            found = np.zeros(kept.size, dtype=np.bool_)
            mask = (1 << space.layout.mask_bits) - 1
            for level in earlier:
                for block in level.read_range(int(kept[0]) & ~mask, int(kept[-1]) | mask):
                    mark_members(kept, block, space.layout.mask_bits, found)
            kept = kept[: remove_marked(kept, found)]
        if kept.size:
            if writer is None:
                most = kept.size if filled == total else total
                writer = PartitionWriter(work.partitions, name, most, space.layout.field_bits)
            writer.append(kept, space.count_states(kept))
        if report is not None:
            report(filled, kept.size)
    if writer is None:
        return PartitionRecord(name, 0, 0, 0, 0, 0, 0)
    return writer.close()


def gather(pieces: Sequence[Piece], low: int | None, high: int | None, buffer: Keys) -> int:
    """Copy the keys from ``low`` up to below ``high`` of all pieces to the buffer; returns how many."""
    filled = 0
    frame = np.empty(0, dtype=np.uint64)
    for piece in pieces:
        if low is None and high is None:
            piece.read(buffer[filled : filled + piece.keys])
            filled += piece.keys
            continue
        if frame.size < piece.keys:
            frame = np.empty(max(piece.keys, FRAME_KEYS), dtype=np.uint64)
        keys = frame[: piece.keys]
        piece.read(keys)
        start = 0 if low is None else int(np.searchsorted(keys, np.uint64(low)))
        stop = keys.size if high is None else int(np.searchsorted(keys, np.uint64(high)))
        if start < stop:
            buffer[filled : filled + stop - start] = keys[start:stop]
            filled += stop - start
    return filled


def ranges(pieces: Sequence[Piece], total: int, buffer: Keys, mask_bits: int) -> list[tuple[int | None, int | None]]:
    """Cut the keys of a partition into ranges that fit the buffer."""
    if total <= buffer.size:
        return [(None, None)]
    # Every stride-th key of every piece: between two neighbours of the sorted sample lie at most
    # ``stride * len(pieces)`` keys more than the sample says.
    stride = max(1, buffer.size // (4 * len(pieces)))
    sample = []
    for piece in pieces:
        keys = np.empty(piece.keys, dtype=np.uint64)
        piece.read(keys)
        sample.append(keys[::stride].copy())
    points = np.sort(np.concatenate(sample))
    step = max(1, (buffer.size // 2) // stride)
    mask = (1 << mask_bits) - 1
    bounds = sorted({key & ~mask for key in points[step::step].tolist()})
    return list(zip([None, *bounds], [*bounds, None], strict=True))
