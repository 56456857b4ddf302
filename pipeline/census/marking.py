"""The cells from which a vertex to come blocks the straightening of a bend, as bitmaps of a window."""

from __future__ import annotations

import numpy as np

from pipeline.census.vectors import join_pair
from pipeline.census.windows import LARGE_RADIUS, SMALL_RADIUS
from storage.compiler.kernel import kernel


@kernel(counts_references=False)
def _is_far(x, y, near, steps):
    """Whether an edge is further from the pivot than any vertex to come.

    Its other end may be nearer by a step, and thick rules reach further than contact: hence the margin.
    """
    return abs(x) + abs(y) > near or x * x + y * y > (steps + 3) * (steps + 3)


@kernel(counts_references=False)
def mark_any(blocking, joint, turn, xs, ys, centre, starts, points, near, steps):
    """Find the cells of a window from which a vertex blocks the straightening of a bend, point by point.

    Parameters
    ----------
    blocking, centre : ndarray
        Of a :class:`~pipeline.census.windows.Window`; the row of the bend is written.
    joint : int64
        The bend.
    turn : int64
        0 if it is straightened by an anticlockwise turn, 1 if by a clockwise one.
    xs, ys : ndarray of int64
        The walk, up to the joint at least.
    starts, points, near
        A :class:`~pipeline.census.rules.BlockedPoints`.
    steps : int64
        Edges behind the joint.
    """
    radius = SMALL_RADIUS if blocking.shape[2] == 4 else LARGE_RADIUS
    side = 2 * near + 1
    for word in range(blocking.shape[2]):
        blocking[joint, 0, word] = 0
        blocking[joint, 1, word] = 0
    pivot_x, pivot_y = xs[joint], ys[joint]
    from_x, from_y = pivot_x - centre[0], pivot_y - centre[1]
    from_u, from_v = from_x + from_y, from_x - from_y
    middle = near * side + near
    for edge in range(joint):
        x, y = min(xs[edge], xs[edge + 1]) - pivot_x, min(ys[edge], ys[edge + 1]) - pivot_y
        if _is_far(x, y, near, steps):
            continue
        number = (middle + y * side + x) * 2 + np.int64(xs[edge] == xs[edge + 1])
        for place in range(starts[turn, number], starts[turn, number + 1]):
            u = points[turn, place, 0] + from_u
            v = points[turn, place, 1] + from_v
            if max(abs(u), abs(v)) <= radius:
                bit = ((u + radius) >> 1) * (radius + 1) + ((v + radius) >> 1)
                blocking[joint, u & 1, bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)


@kernel(counts_references=False)
def _move(cells, up, across, blocking, joint, parity):
    """Write a bitmap of radius 15, moved by some rows and columns; what leaves the window is lost."""
    low = np.uint64(0x0001000100010001)
    columns = (np.uint64(0xFFFF) >> np.uint64(max(across, 0))) & (np.uint64(0xFFFF) << np.uint64(max(-across, 0)))
    mask = columns * low
    shift = 16 * up + across
    words, bits = shift >> 6, np.uint64(shift & 63)
    rest = np.uint64(64) - bits
    for word in range(4):
        here = below = np.uint64(0)
        if 0 <= word - words < 4:
            here = cells[word - words] & mask
        if 0 <= word - words - 1 < 4:
            below = cells[word - words - 1] & mask
        moved = here << bits
        if bits != np.uint64(0):
            moved |= below >> rest
        blocking[joint, parity, word] = moved


@kernel(counts_references=False)
def mark_near(blocking, joint, turn, xs, ys, centre, bitmaps, near, steps, joined):
    """As :func:`mark_any`, for a window of radius 15 and ``steps`` of at most 15: whole bitmaps are joined, then moved.

    With a pivot at (u, v) from the centre, a cell at (du, dv) from the pivot is at (u + du, v + dv). If u and v are
    even, it keeps its parity and moves by half of them. If they are odd, even cells become odd ones, whose bits are
    numbered from half a step further down, and odd ones even. ``joined``, two bitmaps, is room to work in.
    """
    first = turn * bitmaps.shape[1]
    side = 2 * near + 1
    pivot_x, pivot_y = xs[joint], ys[joint]
    middle = near * side + near
    for word in range(4):
        joined[0, word] = 0
        joined[1, word] = 0
    for edge in range(joint):
        x, y = min(xs[edge], xs[edge + 1]) - pivot_x, min(ys[edge], ys[edge + 1]) - pivot_y
        if _is_far(x, y, near, steps):
            continue
        number = (middle + y * side + x) * 2 + np.int64(xs[edge] == xs[edge + 1])
        join_pair(joined, bitmaps, first + number)
    from_x, from_y = pivot_x - centre[0], pivot_y - centre[1]
    u, v = from_x + from_y, from_x - from_y
    odd = u & 1
    _move(joined[0], (u + odd) >> 1, (v + odd) >> 1, blocking, joint, odd)
    _move(joined[1], (u - odd) >> 1, (v - odd) >> 1, blocking, joint, 1 - odd)
