"""The expand pass: neighbours of a slice of the frontier, sorted and without repetitions, to the spills."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pipeline.level.duplicates import drop_recent, join_duplicates, no_recent_keys
from pipeline.level.sort import sort_keys
from pipeline.level.workspace import workspace
from pipeline.running.counters import Counters
from pipeline.running.tuning import Tuning
from pipeline.spaces.contract import Keys, StateSpace
from pipeline.spaces.guards import expand_safely
from storage.jobs.level import Level
from storage.keys.digest import digest_of
from storage.keys.spills import Spills

Report = Callable[[Counters], None]

# Fewer keys than this part of the neighbours left by joining: use more of the buffer.
WORTH_JOINING = 0.75
# Neighbours that are remembered, so that they are not sorted again: as many as fit the second-level cache with what
# else is in it. That goes on if of so many neighbours at least this part is left out.
RECENT_KEYS = 1 << 15
TRIED_KEYS = 1 << 17
WORTH_DROPPING = 0.1


@dataclass(frozen=True)
class ExpandTask:
    """Keys ``start`` to ``stop`` of a partition of the frontier."""

    number: int
    partition: int
    start: int
    stop: int


def expand(
    space: StateSpace,
    frontier: Level,
    task: ExpandTask,
    splitters: np.ndarray,
    spills: Spills,
    buffer_keys: int,
    exhaustive: bool,
    tuning: Tuning,
    report: Report | None = None,
) -> Counters:
    """Run one expand task.

    Parameters
    ----------
    space : StateSpace
    frontier : Level
    task : ExpandTask
    splitters : ndarray of uint64, shape (partitions - 1,)
        Smallest key of each partition of the next level but the first, with empty move mask.
    spills : Spills
        Where the neighbours go.
    buffer_keys : int
        Size of the buffer that collects neighbours.
    exhaustive : bool
        See :meth:`StateSpace.expand`.
    tuning : Tuning
    report : callable, optional
        Called now and then with what was counted since the last call.

    Returns
    -------
    Counters
    """
    # What is kept after joining takes half of the buffer at most, and one key's neighbours must fit the rest.
    buffer_keys = max(buffer_keys, 2 * space.max_neighbours)
    buffer = workspace(buffer_keys)
    writer = spills.writer(task.number)
    mask_bits = space.layout.mask_bits
    total = Counters()

    def count(counters: Counters) -> None:
        nonlocal total
        total += counters
        if report is not None:
            report(counters)

    filled = entered = dropped = 0
    recent: Keys | None = no_recent_keys(RECENT_KEYS)
    # Sorting is fastest in the processor's caches, but pieces that are too small cost more than that gains. A larger
    # part of the buffer also pays where it finds more duplicates.
    limit = max(tuning.cache, tuning.piece * (splitters.size + 1), 2 * space.max_neighbours)
    limit = min(limit, buffer_keys)

    def join(last: bool) -> int:
        """Sort and join what is in the buffer, spill it unless more room will help; returns what stays in it."""
        nonlocal limit
        part = buffer[:filled]
        sort_keys(part)
        kept = int(join_duplicates(part, mask_bits))
        if not last:
            if kept <= limit // 2:
                return kept
            repeats = total.spilled + kept < WORTH_JOINING * entered
            if repeats and limit < buffer_keys:
                limit = min(2 * limit, buffer_keys)
                return kept
        cuts = [0, *np.searchsorted(part[:kept], splitters).tolist(), kept]
        writer.append(part[:kept], cuts)
        count(Counters(spilled=kept))
        return 0

    try:
        for block in frontier.read(frontier.manifest.partitions[task.partition], task.start, task.stop):
            position = 0
            while position < block.size:
                # At most a piece at a time, so that reports come often enough.
                keys = block[position : position + tuning.step]
                step = expand_safely(space, keys, buffer[filled:limit], exhaustive)
                # Of what was expanded, afterwards: a bit that flips in memory meanwhile shows too.
                digest = int(digest_of(block[position : position + step.consumed]))
                position += step.consumed
                stays = step.written
                if recent is not None:
                    stays = int(drop_recent(buffer[filled : filled + step.written], recent))
                    dropped += step.written - stays
                filled += stays
                entered += stays
                count(
                    Counters(step.consumed, step.written, forward=step.forward, backward=step.backward, digest=digest)
                )
                if entered + dropped > TRIED_KEYS and dropped < WORTH_DROPPING * (entered + dropped):
                    recent = None
                if filled + space.max_neighbours > limit:
                    filled = join(last=False)
            # Not to be held while the next chunk is decoded.
            del block, keys
        if filled:
            filled = join(last=True)
        writer.close(total.receipt())
    except BaseException:
        writer.abandon()
        raise
    return total
