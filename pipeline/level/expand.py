"""The expand pass: neighbours of a slice of the frontier, sorted and without repetitions, to the spills."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pipeline.level.duplicates import join_duplicates
from pipeline.level.sort import sort_keys
from pipeline.level.workspace import workspace
from pipeline.running.counters import Counters
from pipeline.running.tuning import Tuning
from pipeline.spaces.contract import StateSpace
from pipeline.spaces.guards import expand_checked
from storage.jobs.level import Level
from storage.keys.digest import digest_of
from storage.keys.spills import Spills

Report = Callable[[Counters], None]

# Fewer keys than this part of the neighbours left by joining: use more of the buffer.
WORTH_JOINING = 0.75


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

    filled = 0
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
            repeats = total.spilled + kept < WORTH_JOINING * total.generated
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
                part = block[position : position + tuning.step]
                step = expand_checked(space, part, buffer[filled:limit], exhaustive)
                # Of what was expanded, afterwards: a bit that flips in memory meanwhile shows too.
                digest = int(digest_of(block[position : position + step.consumed]))
                position += step.consumed
                filled += step.written
                count(
                    Counters(step.consumed, step.written, forward=step.forward, backward=step.backward, digest=digest)
                )
                if filled + space.max_neighbours > limit:
                    filled = join(last=False)
            # Not to be held while the next chunk is decoded.
            del block, part
        if filled:
            filled = join(last=True)
        writer.close(total.receipt())
    except BaseException:
        writer.abandon()
        raise
    return total
