"""The passes over a level whose states lie densely: tables of places instead of spills."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pipeline.level.earlier import JoinedLevels
from pipeline.level.expand import ExpandTask, Report
from pipeline.level.merge import partition_name
from pipeline.level.places import PlaceTables
from pipeline.level.workspace import workspace
from pipeline.running.counters import Counters
from pipeline.spaces.contract import StateSpace
from pipeline.spaces.guards import expand_safely
from storage.jobs.level import Level
from storage.jobs.working import WorkingLevel
from storage.keys.digest import digest_of
from storage.keys.partition import PartitionWriter
from storage.records import PartitionRecord

# Neighbours that are collected before their places are set, and words of a table that are read at a time: both stay in
# the processor's caches.
MARKED_KEYS = 1 << 16
TAKEN_WORDS = 1 << 15
TAKEN_KEYS = 1 << 17


def mark(
    space: StateSpace,
    frontier: Level,
    task: ExpandTask,
    tables: PlaceTables,
    exhaustive: bool,
    report: Report,
) -> Counters:
    """Run one expand task: set the places of all neighbours of a slice of the frontier.

    The parameters are those of :func:`pipeline.level.expand.expand`, but for the tables. What is counted as spilled is
    what was generated.
    """
    buffer = workspace(max(MARKED_KEYS, 2 * space.max_neighbours))
    total = Counters()
    table = tables.borrow()
    try:
        for block in frontier.read(frontier.manifest.partitions[task.partition], task.start, task.stop):
            position = 0
            while position < block.size:
                step = expand_safely(space, block[position:], buffer, exhaustive)
                tables.mark(table, buffer[: step.written])
                counters = Counters(
                    step.consumed,
                    step.written,
                    spilled=step.written,
                    forward=step.forward,
                    backward=step.backward,
                    # Of what was expanded, afterwards: a bit that flips in memory meanwhile shows too.
                    digest=int(digest_of(block[position : position + step.consumed])),
                )
                position += step.consumed
                total += counters
                report(counters)
            # Not to be held while the next chunk is decoded.
            del block
    finally:
        tables.give_back(table)
    return total


def collect(
    space: StateSpace,
    work: WorkingLevel,
    partition: int,
    bounds: tuple[int, int],
    tables: PlaceTables,
    earlier: Sequence[Level | JoinedLevels],
    report: Callable[[int, int], None],
) -> PartitionRecord:
    """Run one merge task: store the states whose places are set, but for those of earlier levels.

    Parameters
    ----------
    space : StateSpace
    work : WorkingLevel
    partition : int
    bounds : tuple of int
        First word of the partition's places, and the first one behind them. The words are empty afterwards.
    tables : PlaceTables
    earlier : sequence of Level
        Levels whose states are removed.
    report : callable
        Called with the words read and the keys stored since the last call.

    Returns
    -------
    PartitionRecord
        With ``keys`` 0 if nothing is new.
    """
    name = partition_name(partition)
    first, end = bounds
    buffer = np.empty(TAKEN_KEYS, dtype=np.uint64)
    writer: PartitionWriter | None = None
    try:
        # It decides how the array is cut, and may be exceeded.
        most = max(1, tables.count(first, end))
        low, high = tables.keys_of(first, end)
        for level in earlier:
            for block in level.read_range(low, high):
                tables.clear(block)
                # Not to be held while the next chunk is decoded.
                del block
        while first < end:
            word, written = tables.take(first, min(first + TAKEN_WORDS, end), buffer)
            if written:
                if writer is None:
                    writer = work.writer(name, most)
                kept = buffer[:written]
                writer.append(kept, space.count_states(kept))
            report(word - first, written)
            first = word
        if writer is None:
            return PartitionRecord(name, 0, 0, 0, 0, 0, 0)
        return writer.close()
    except BaseException:
        if writer is not None:
            writer.abandon()
        raise
