"""The swing test, exact in integers.

A move turns the part of the snake behind a joint by 90 degrees about it. With the pivot in the origin, a lattice
point of the moving part runs along the quarter of a circle about the origin. The distance from a lattice point grows
(or falls) along every unit edge, so the moving part touches the resting part during the swing exactly if the quarter
arc of some moving lattice point, end points included, meets some resting unit edge, end points included. That rests
on a hypothesis: the resting part contains the path from each of its points to the pivot. Of a moving and a resting edge
alone it is not true (``docs/proofs.md``, P6).

The arc of ``w`` crosses the line ``y = k`` of a horizontal edge where ``x = +-sqrt(w.w - k * k)``. Whether that point
lies on the edge and on the arc is decided by signs of ``p + q * sqrt(m)`` with integer p, q and m.
"""

from __future__ import annotations

import numpy as np

from storage.compiler.kernel import kernel

ANTICLOCKWISE_BLOCKED = 1
CLOCKWISE_BLOCKED = 2


@kernel
def sign_with_root(p, q, m):
    """Sign of ``p + q * sqrt(m)`` for integers p, q and m >= 0."""
    sign_p = np.sign(p)
    sign_q = np.sign(q) if m > 0 else 0
    if sign_p * sign_q >= 0:
        return sign_p if sign_p != 0 else sign_q
    return sign_p * np.sign(p * p - q * q * m)


@kernel
def blocked_turns(edge_x, edge_y, vertical, x, y):
    """Which quarter turns about the origin take the point (x, y) onto an edge.

    Parameters
    ----------
    edge_x, edge_y : int64
        The lower or left end of the resting unit edge.
    vertical : int64
        1 if the edge goes up from there, 0 if it goes right.
    x, y : int64
        The moving lattice point, not the origin.

    Returns
    -------
    int64
        ``ANTICLOCKWISE_BLOCKED`` and ``CLOCKWISE_BLOCKED``, added up.
    """
    square = x * x + y * y
    near = edge_x * edge_x + edge_y * edge_y
    other_x, other_y = edge_x + 1 - vertical, edge_y + vertical
    far = other_x * other_x + other_y * other_y
    if square < min(near, far) or square > max(near, far):
        return 0
    line = edge_x if vertical else edge_y
    start = edge_y if vertical else edge_x
    m = square - line * line
    if m < 0:
        return 0
    blocked = 0
    for side in (-1, 1):
        # The crossing is at side * sqrt(m) along the line of the edge.
        if sign_with_root(-start, side, m) < 0 or sign_with_root(-start - 1, side, m) > 0:
            continue
        if vertical:
            cross = sign_with_root(-y * line, x * side, m)
            dot = sign_with_root(x * line, y * side, m)
        else:
            cross = sign_with_root(x * line, -y * side, m)
            dot = sign_with_root(y * line, x * side, m)
        if dot >= 0:
            if cross >= 0:
                blocked |= ANTICLOCKWISE_BLOCKED
            if cross <= 0:
                blocked |= CLOCKWISE_BLOCKED
    return blocked


@kernel
def blocked_joint(xs, ys, joint):
    """Which swings about vertex ``joint`` are blocked, edge by edge and point by point.

    Parameters
    ----------
    xs, ys : ndarray of int64, shape (n + 1,)
        The vertices of a self-avoiding walk.
    joint : int64
        The pivot; the vertices behind it move.

    Returns
    -------
    int64
        As :func:`blocked_turns`.
    """
    blocked = 0
    for first in range(joint):
        edge_x = min(xs[first], xs[first + 1]) - xs[joint]
        edge_y = min(ys[first], ys[first + 1]) - ys[joint]
        vertical = np.int64(xs[first] == xs[first + 1])
        for vertex in range(joint + 1, xs.size):
            blocked |= blocked_turns(edge_x, edge_y, vertical, xs[vertex] - xs[joint], ys[vertex] - ys[joint])
    return blocked


@kernel
def overlapping_joint(xs, ys, joint):
    """Which quarter turns about vertex ``joint`` end with two vertices in one place; the way there is ignored."""
    blocked = 0
    for vertex in range(joint + 1, xs.size):
        x, y = xs[vertex] - xs[joint], ys[vertex] - ys[joint]
        for rest in range(joint):
            rest_x, rest_y = xs[rest] - xs[joint], ys[rest] - ys[joint]
            if rest_x == -y and rest_y == x:
                blocked |= ANTICLOCKWISE_BLOCKED
            if rest_x == y and rest_y == -x:
                blocked |= CLOCKWISE_BLOCKED
    return blocked


def point_numbers(radius: int) -> np.ndarray:
    """Number the lattice points near the origin, nearer ones (in steps) first.

    Parameters
    ----------
    radius : int
        Largest number of steps from the origin.

    Returns
    -------
    ndarray of int32, shape (2 * radius + 1, 2 * radius + 1)
        At ``[y + radius, x + radius]`` the number of the point (x, y); -1 in the origin and out of reach. The points
        within r steps have the numbers below ``2 * r * (r + 1)``.
    """
    axis = np.arange(-radius, radius + 1)
    steps = np.abs(axis)[:, None] + np.abs(axis)[None, :]
    order = np.argsort(steps, axis=None, kind="stable")[1 : 2 * radius * (radius + 1) + 1]
    numbers = np.full(steps.size, -1, dtype=np.int32)
    numbers[order] = np.arange(order.size)
    return numbers.reshape(steps.shape)


@kernel
def blocking_table(numbers, swept):
    """For every unit edge near the pivot, the moving points that it blocks.

    Parameters
    ----------
    numbers : ndarray of int32, shape (2 * radius + 1, 2 * radius + 1)
        From :func:`point_numbers`.
    swept : bool
        Whether the whole swing counts, or its end alone. In the latter case the entry of an edge stands for its
        lower or left end.

    Returns
    -------
    ndarray of uint64, shape ((2 * radius + 1) ** 2 * 2, words)
        Row ``((y + radius) * (2 * radius + 1) + x + radius) * 2 + vertical`` is the edge from (x, y); bits 2i and
        2i + 1 say whether it blocks the anticlockwise and the clockwise turn of point number i.
    """
    side = numbers.shape[0]
    radius = side // 2
    words = (2 * radius * (radius + 1) * 2 + 63) // 64
    table = np.zeros((side * side * 2, words), dtype=np.uint64)
    for edge_y in range(-radius, radius + 1):
        for edge_x in range(-radius, radius + 1):
            if abs(edge_x) + abs(edge_y) > radius:
                continue
            for vertical in range(2):
                row = table[((edge_y + radius) * side + edge_x + radius) * 2 + vertical]
                for y in range(-radius, radius + 1):
                    for x in range(-radius + abs(y), radius - abs(y) + 1):
                        if x == 0 and y == 0:
                            continue
                        blocked = 0
                        if swept:
                            blocked = blocked_turns(edge_x, edge_y, vertical, x, y)
                        else:
                            if edge_x == -y and edge_y == x:
                                blocked |= ANTICLOCKWISE_BLOCKED
                            if edge_x == y and edge_y == -x:
                                blocked |= CLOCKWISE_BLOCKED
                        number = numbers[y + radius, x + radius]
                        row[number >> 5] |= np.uint64(blocked) << np.uint64(2 * (number & 31))
    return table
