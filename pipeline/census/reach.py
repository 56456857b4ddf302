"""Which cells of a window a walk can still reach, and whether that suffices to block all open bends.

Sets of cells are grown step by step through free cells. Cells may be visited repeatedly, so this is more than what a
self-avoiding walk can reach, and only its converse is used: what cannot be reached so cannot be reached at all.

A set is a vector of four words in a window of radius 15, and of sixteen in one of radius 31; the loops that grow sets
are in :mod:`~pipeline.census.vectors`.
"""

from __future__ import annotations

import numpy as np

from pipeline.census.vectors import reach_after_large, reach_after_small, reach_large, reach_small
from pipeline.census.windows import LARGE_RADIUS, SMALL_RADIUS, bit_of
from storage.compiler.kernel import kernel


@kernel(counts_references=False)
def reach(free, blocking, reached, ends, hits, x, y, steps, joints, row, count):
    """Find what a walk can reach, and which open bends have blocking cells there.

    Parameters
    ----------
    free, blocking, reached, ends, hits : ndarray
        Of a :class:`~pipeline.census.windows.Window`. Row t of ``reached`` gets the cells of one parity that can be
        reached in t steps, or fewer by an even number; ``ends`` gets what can be reached behind a visit to the blocking
        cells of the oldest open bend, and of the newest one, and their places in ``hits`` a bit for each open bend
        that has blocking cells there.
    x, y : int64
        Where the walk stands, from the centre of the window.
    steps : int64
        Edges that are left; the cells within so many steps must be in the window.
    joints : ndarray of int64
        The open bends in one of its rows, by age.
    row, count : int64
        Which row, and how many they are.

    Returns
    -------
    uint64
        A bit for each open bend, whether it has blocking cells among those that can be reached.
    """
    parity = (x + y) & 1
    if free.shape[1] == 4:
        bit = bit_of(x, y, SMALL_RADIUS)
        return reach_small(free, blocking, reached, ends, hits, bit, parity, steps, joints, row, count)
    bit = bit_of(x, y, LARGE_RADIUS)
    return reach_large(free, blocking, reached, ends, hits, bit, parity, steps, joints, row, count)


@kernel(counts_references=False)
def reach_after(free, blocking, joint, reached, parity, steps, joints, row, count):
    """As :func:`reach`, which must have been called before, of the ways that visit blocking cells of a bend first."""
    if free.shape[1] == 4:
        return reach_after_small(free, blocking, joint, reached, parity, steps, joints, row, count)
    return reach_after_large(free, blocking, joint, reached, parity, steps, joints, row, count)


@kernel(counts_references=False)
def pairs_fit(free, blocking, reached, hits, known, x, y, steps, joints, row, count, end):
    """Whether each open bend can be blocked before or after a certain one; parameters as :func:`reach`.

    Parameters
    ----------
    known : uint64
        For which open bends ``hits`` has been found.
    end : int64
        Number of the certain bend; its ``hits`` are known.

    Returns
    -------
    fit : bool
    known : uint64
    """
    parity = (x + y) & 1
    one = np.uint64(1)
    for other in range(count - 1, -1, -1):
        if (hits[end] >> np.uint64(other)) & one or other == end:
            continue
        if not (known >> np.uint64(other)) & one:
            known |= one << np.uint64(other)
            joint = joints[row, other]
            hits[other] = reach_after(free, blocking, joint, reached, parity, steps, joints, row, count)
        if not (hits[other] >> np.uint64(end)) & one:
            return False, known
    return True, known


@kernel(counts_references=False)
def takes_in(free, blocking, reached, ends, hits, x, y, steps, joints, row, count):
    """Whether one more bend can be blocked, and before or after each of the others; parameters as :func:`reach`.

    Parameters
    ----------
    count : int64
        How many there were when :func:`reach` was called; the new one is next in the row.
    """
    joint = joints[row, count]
    parity = (x + y) & 1
    last = (parity + steps) & 1
    one = np.uint64(1)
    common = np.uint64(0)
    for word in range(free.shape[1]):
        common |= reached[steps, word] & blocking[joint, last, word]
        common |= reached[steps - 1, word] & blocking[joint, 1 - last, word]
    if common == 0:
        return False
    if count == 0:
        return True
    after_it = reach_after(free, blocking, joint, reached, parity, steps, joints, row, count)
    for other in range(count):
        if (after_it >> np.uint64(other)) & one:
            continue
        common = np.uint64(0)
        if other == 0 or other == count - 1:
            end = 0 if other == 0 else 1
            for word in range(free.shape[1]):
                common |= ends[end, 0, word] & blocking[joint, 0, word]
                common |= ends[end, 1, word] & blocking[joint, 1, word]
        else:
            before = joints[row, other]
            found = reach_after(free, blocking, before, reached, parity, steps, joints, row, count + 1)
            common = (found >> np.uint64(count)) & one
        if common == 0:
            return False
    return True
