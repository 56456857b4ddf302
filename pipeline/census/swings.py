"""Whether a swing of a finished walk is blocked, looked up edge by edge and vertex by vertex."""

from __future__ import annotations

import numpy as np

from storage.compiler.kernel import kernel

STEP_X = np.array([1, 0, -1, 0], dtype=np.int64)
STEP_Y = np.array([0, 1, 0, -1], dtype=np.int64)
ANTICLOCKWISE_TURN, CLOCKWISE_TURN = 0, 1


@kernel(counts_references=False)
def lay_out(joints, xs, ys, first):
    """Coordinates of the vertices behind joint ``first`` and on, those up to there being right already.

    Parameters
    ----------
    joints : ndarray of uint8, shape (n - 1,)
        Joint i is at place i - 1.
    xs, ys : ndarray of int64, shape (n + 1,)
    first : int64
        1 or more; 1 lays out the whole walk.
    """
    if first == 1:
        xs[0] = ys[0] = ys[1] = 0
        xs[1] = 1
    heading = np.int64(0)
    for direction in range(4):
        if xs[first] - xs[first - 1] == STEP_X[direction] and ys[first] - ys[first - 1] == STEP_Y[direction]:
            heading = np.int64(direction)
    for joint in range(first, joints.size + 1):
        heading = (heading + np.int64(joints[joint - 1]) - 1) & 3
        xs[joint + 1] = xs[joint] + STEP_X[heading]
        ys[joint + 1] = ys[joint] + STEP_Y[heading]


@kernel(counts_references=False)
def blocks(xs, ys, joint, vertex, turn, numbers, blocked):
    """Whether one moving vertex blocks a quarter turn of the part behind a joint.

    Parameters
    ----------
    xs, ys : ndarray of int64, shape (n + 1,)
        The vertices of a self-avoiding walk.
    joint, vertex : int64
        The pivot, and a vertex behind it.
    turn : int64
        ``ANTICLOCKWISE_TURN`` or ``CLOCKWISE_TURN``.
    numbers, blocked : ndarray
        A :class:`~pipeline.census.rules.Table`.
    """
    radius = numbers.shape[0] // 2
    x, y = xs[vertex] - xs[joint], ys[vertex] - ys[joint]
    if abs(x) + abs(y) > radius:
        return False
    number = np.int64(numbers[y + radius, x + radius])
    word, shift = number >> 5, np.uint64(2 * (number & 31) + turn)
    for edge in range(joint):
        x, y = min(xs[edge], xs[edge + 1]) - xs[joint], min(ys[edge], ys[edge + 1]) - ys[joint]
        if abs(x) + abs(y) <= radius:
            row = ((y + radius) * (2 * radius + 1) + x + radius) * 2 + np.int64(xs[edge] == xs[edge + 1])
            if (blocked[row, word] >> shift) & np.uint64(1):
                return True
    return False


@kernel(counts_references=False)
def is_blocked(xs, ys, joint, last, turn, numbers, blocked):
    """Whether any of the vertices from a joint to ``last`` blocks a quarter turn; parameters as :func:`blocks`."""
    for vertex in range(joint + 1, last + 1):  # noqa: SIM110 (numba compiles no generators here)
        if blocks(xs, ys, joint, vertex, turn, numbers, blocked):
            return True
    return False
