"""The merge pass: all spilled keys of one partition become its array, without repetitions and earlier states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from pipeline.level.duplicates import mark_members, remove_marked
from pipeline.level.earlier import JoinedLevels
from pipeline.level.runs import Runs, bounds_of, load_runs, runs_in_memory, windows
from pipeline.level.workspace import workspace
from pipeline.running.counters import Counters
from pipeline.spaces.contract import Keys, StateSpace
from storage.jobs.level import Level
from storage.jobs.working import WorkingLevel
from storage.keys.partition import PartitionWriter
from storage.keys.spill_file import Piece
from storage.keys.spills import Spills
from storage.records import PartitionRecord


def partition_name(partition: int) -> str:
    """Name of the array of a partition."""
    return f"{partition:05d}"


def merge(
    space: StateSpace,
    work: WorkingLevel,
    partition: int,
    spills: Spills,
    earlier: Sequence[Level | JoinedLevels],
    buffer_keys: int,
    window_keys: int,
    report: Callable[[Counters], None] | None = None,
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
        Most keys from the disk that are held at once. A partition with more is merged range by range.
    window_keys : int
        Keys that are merged at once.
    report : callable, optional
        Called with what was counted since the last call.

    Returns
    -------
    PartitionRecord
        With ``keys`` 0 if nothing is new.
    """
    name = partition_name(partition)
    mask_bits = space.layout.mask_bits
    pieces = [piece for piece in spills.pieces(partition) if piece.keys]
    most = sum(piece.keys for piece in pieces)
    writer: PartitionWriter | None = None
    window_buffer = np.empty(min(window_keys, most), dtype=np.uint64)
    try:
        for runs in _parts(pieces, most, buffer_keys, mask_bits):
            known = [_EarlierStates(level, runs, mask_bits) for level in earlier]
            for keys, read in windows(runs, mask_bits, window_buffer):
                kept = _without(keys, known)
                if kept.size:
                    if writer is None:
                        writer = work.writer(name, kept.size if read == most else most)
                    writer.append(kept, space.count_states(kept))
                if report is not None:
                    report(Counters(keys=read, stored=kept.size))
            for states in known:
                states.close()
        if writer is None:
            return PartitionRecord(name, 0, 0, 0, 0, 0, 0)
        return writer.close()
    except BaseException:
        if writer is not None:
            writer.abandon()
        raise


def _parts(pieces: Sequence[Piece], total: int, buffer_keys: int, mask_bits: int) -> Iterator[Runs]:
    """Runs of a partition: where they are if they are in memory, otherwise read into a buffer, in parts if need be."""
    if not pieces:
        return
    in_memory = runs_in_memory(pieces)
    if in_memory is not None:
        yield in_memory
        return
    buffer = workspace(buffer_keys)
    if total <= buffer.size:
        yield load_runs(pieces, None, None, buffer)
        return
    stride = max(1, buffer.size // (4 * len(pieces)))
    samples = []
    for piece in pieces:
        keys = np.empty(piece.keys, dtype=np.uint64)
        piece.read(keys)
        samples.append(keys[::stride].copy())
    bounds = bounds_of(samples, stride, buffer.size, mask_bits)
    for low, high in zip([None, *bounds], [*bounds, None], strict=True):
        yield load_runs(pieces, low, high, buffer)


class _EarlierStates:
    """The states of a level in the range of some runs, block by block; windows ask for them in ascending order."""

    def __init__(self, level: Level | JoinedLevels, runs: Runs, mask_bits: int) -> None:
        mask = (1 << mask_bits) - 1
        used = runs.starts < runs.stops
        low = int(runs.keys[runs.starts[used]].min()) if used.any() else 1
        high = int(runs.keys[runs.stops[used] - 1].max()) if used.any() else 0
        self._mask_bits = mask_bits
        self._blocks = level.read_range(low & ~mask, high | mask)
        self._block: Keys | None = next(self._blocks, None)

    def mark(self, keys: Keys, found: np.ndarray) -> None:
        """Set ``found`` where a key's state is in the level."""
        last = int(keys[-1]) >> self._mask_bits
        while self._block is not None:
            mark_members(keys, self._block, self._mask_bits, found)
            if int(self._block[-1]) >> self._mask_bits > last:
                # The next window may lie in this block too.
                return
            # Not to be held while the next chunk is decoded.
            self._block = None
            self._block = next(self._blocks, None)

    def close(self) -> None:
        """End reading; what was read is compared with what was stored.

        Raises
        ------
        CorruptJob
            If it differs.
        """
        self._block = None
        self._blocks.close()


def _without(keys: Keys, known: Sequence[_EarlierStates]) -> Keys:
    """The keys whose states are in none of the earlier levels."""
    if not known or not keys.size:
        return keys
    found = np.zeros(keys.size, dtype=np.bool_)
    for states in known:
        states.mark(keys, found)
    return keys[: remove_marked(keys, found)]
