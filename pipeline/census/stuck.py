"""The pruned search for stuck shapes: depth first, edge by edge, along a walk from one end.

A bend is *open* while no vertex behind it blocks its straightening; once blocked it stays so, because the resting part
of its swing is complete when the bend is made. The cells from which a future vertex blocks it are known then, too. A
walk is given up as soon as the edges that are left cannot block all open bends. ``docs/census.md`` has the argument.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from pipeline.census.windows import (
    LARGE_RADIUS,
    SMALL_RADIUS,
    Window,
    bit_of,
    can_close,
    is_blocking,
    is_free,
    make_window,
    radius_of,
    show_all,
)

CLOCKWISE, STRAIGHT, ANTICLOCKWISE = 0, 1, 2
EXHAUSTED = -1


class Blocking(NamedTuple):
    """A collision rule: for every unit edge near a pivot the moving points that it blocks, for both turns.

    Attributes
    ----------
    starts : ndarray of int64, shape (2, edges + 1)
        Where the points of an edge start, for an anticlockwise and a clockwise bend (its straightening turns the other
        way). The edge from (x, y) right (up) has number ``((y + n) * (2 n + 1) + x + n) * 2`` (plus 1).
    points : ndarray of int64, shape (2, most, 2)
        x + y and x - y of each point, from the pivot.
    """

    starts: NDArray[np.int64]
    points: NDArray[np.int64]


class Walk(NamedTuple):
    """A walk that is being built, and what is to be tried at each of its vertices.

    Attributes
    ----------
    xs, ys, headings : ndarray of int64, shape (n + 1,)
    digits : ndarray of uint8, shape (n + 1,)
        Of joint i at place i.
    next_digit : ndarray of int64, shape (n + 1,)
        The next one to try at each vertex.
    bends, open_bends : ndarray of int64, shape (n + 1,)
        How many bends the walk up to a vertex has, and how many of them are open.
    open_joints : ndarray of int64, shape (n + 1, n + 1)
        Which ones are open, in the order in which they were made.
    """

    xs: NDArray[np.int64]
    ys: NDArray[np.int64]
    headings: NDArray[np.int64]
    digits: NDArray[np.uint8]
    next_digit: NDArray[np.int64]
    bends: NDArray[np.int64]
    open_bends: NDArray[np.int64]
    open_joints: NDArray[np.int64]


def make_walk(n: int) -> Walk:
    """A walk of one edge, from (0, 0) to (1, 0), with room for n."""
    integers = [np.zeros(n + 1, dtype=np.int64) for _ in range(6)]
    integers[0][1] = 1
    xs, ys, headings, next_digit, bends, open_bends = integers
    digits = np.ones(n + 1, dtype=np.uint8)
    return Walk(xs, ys, headings, digits, next_digit, bends, open_bends, np.zeros((n + 1, n + 1), dtype=np.int64))


@numba.njit(nogil=True, cache=True)
def _mark_blocking(window, joint, walk, blocking, steps):
    """Find the cells of the window from which a vertex blocks the straightening of the bend at ``joint``."""
    n = walk.xs.size - 1
    side = 2 * n + 1
    radius = radius_of(window)
    target = window.blocking
    for word in range(window.free.shape[1]):
        target[joint, 0, word] = 0
        target[joint, 1, word] = 0
    xs, ys = walk.xs, walk.ys
    pivot_x, pivot_y = xs[joint], ys[joint]
    from_x, from_y = pivot_x - window.centre[0], pivot_y - window.centre[1]
    from_u, from_v = from_x + from_y, from_x - from_y
    bend = 0 if walk.digits[joint] == ANTICLOCKWISE else 1
    middle = n * side + n
    for edge in range(joint):
        x, y = min(xs[edge], xs[edge + 1]) - pivot_x, min(ys[edge], ys[edge + 1]) - pivot_y
        if x * x + y * y > (steps + 2) * (steps + 2):
            # Further away than any vertex to come; the other end is nearer by one step at most.
            continue
        upright = np.int64(xs[edge] == xs[edge + 1])
        number = (middle + y * side + x) * 2 + upright
        for place in range(blocking.starts[bend, number], blocking.starts[bend, number + 1]):
            u = blocking.points[bend, place, 0] + from_u
            v = blocking.points[bend, place, 1] + from_v
            if max(abs(u), abs(v)) <= radius:
                bit = ((u + radius) >> 1) * (radius + 1) + ((v + radius) >> 1)
                target[joint, u & 1, bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)


@numba.njit(nogil=True, cache=True, inline="always")
def _set_free(window, x, y, free):
    radius = radius_of(window)
    bit = bit_of(x, y, radius)
    mask = np.uint64(1) << np.uint64(bit & 63)
    if free:
        window.free[(x + y) & 1, bit >> 6] |= mask
    else:
        window.free[(x + y) & 1, bit >> 6] &= ~mask


@numba.njit(nogil=True, cache=True)
def _open_window(window, walk, depth, blocking):
    """Centre a window at a vertex and fill it from the walk up to there."""
    radius = radius_of(window)
    window.centre[0] = walk.xs[depth]
    window.centre[1] = walk.ys[depth]
    show_all(window)
    for vertex in range(depth + 1):
        x, y = walk.xs[vertex] - window.centre[0], walk.ys[vertex] - window.centre[1]
        if abs(x) + abs(y) <= radius:
            _set_free(window, x, y, False)
    for number in range(walk.open_bends[depth]):
        _mark_blocking(window, walk.open_joints[depth, number], walk, blocking, walk.xs.size - 1 - depth)


@numba.njit(nogil=True, cache=True)
def _advance(walk, window, blocking, floor, depth, stop):
    """Go on with the search until a walk of ``stop`` edges is found.

    Parameters
    ----------
    walk, window, blocking
    floor : int64
        Vertex at which the search began; the window is centred there.
    depth : int64
        Vertex at which it goes on.
    stop : int64
        Edges of the walks that are looked for.

    Returns
    -------
    depth : int64
        ``stop``, or ``EXHAUSTED``.
    nodes : int64
        Walks that were not given up.
    """
    n = walk.xs.size - 1
    nodes = 0
    while True:
        digit = walk.next_digit[depth]
        if digit > ANTICLOCKWISE:
            if depth == floor:
                return EXHAUSTED, nodes
            _set_free(window, walk.xs[depth] - window.centre[0], walk.ys[depth] - window.centre[1], True)
            depth -= 1
            continue
        walk.next_digit[depth] = digit + 1
        if digit == ANTICLOCKWISE and walk.bends[depth] == 0:
            # The mirror image has a clockwise bend here.
            continue
        heading = (walk.headings[depth] + digit - 1) & 3
        vertex = depth + 1
        x, y = walk.xs[depth] - window.centre[0], walk.ys[depth] - window.centre[1]
        if heading == 0:
            x += 1
        elif heading == 1:
            y += 1
        elif heading == 2:
            x -= 1
        else:
            y -= 1
        if not is_free(window, x, y):
            continue
        bent = digit != STRAIGHT
        walk.digits[depth] = digit
        count = 0
        for number in range(walk.open_bends[depth]):
            joint = walk.open_joints[depth, number]
            if not is_blocking(window, joint, x, y):
                walk.open_joints[vertex, count] = joint
                count += 1
        if bent:
            _mark_blocking(window, depth, walk, blocking, n - vertex)
            if not is_blocking(window, depth, x, y):
                walk.open_joints[vertex, count] = depth
                count += 1
        _set_free(window, x, y, False)
        if not can_close(window, walk.open_joints[vertex], count, x, y, n - vertex):
            _set_free(window, x, y, True)
            continue
        walk.open_bends[vertex] = count
        walk.bends[vertex] = walk.bends[depth] + bent
        walk.headings[vertex] = heading
        walk.xs[vertex] = x + window.centre[0]
        walk.ys[vertex] = y + window.centre[1]
        walk.next_digit[vertex] = CLOCKWISE
        depth = vertex
        nodes += 1
        if depth == stop:
            return depth, nodes


@numba.njit(nogil=True, cache=True)
def search_prefix(prefix, walk, large, small, blocking, found):
    """All stuck walks that begin in a given way.

    Parameters
    ----------
    prefix : ndarray of uint8, shape (p - 1,)
        Joints of a self-avoiding walk of p edges, 1 <= p <= n and n - p <= 31, whose first bend is clockwise.
    walk : Walk
    large, small : Window
        Of radius 31 and 15.
    blocking : Blocking
    found : ndarray of uint8, shape (m, n - 1)
        Receives the joints of the walks.

    Returns
    -------
    count : int64
        Stuck walks found; if it is more than ``m``, those that did not fit are lost.
    nodes : int64
        Walks that were looked at and not given up.
    """
    n = walk.xs.size - 1
    floor = prefix.size + 1
    # The prefix itself: every bend's cells are needed to know which bends are open.
    window = large if n - floor > SMALL_RADIUS else small
    for vertex in range(2, floor + 1):
        joint = vertex - 1
        walk.digits[joint] = prefix[joint - 1]
        heading = (walk.headings[joint] + np.int64(prefix[joint - 1]) - 1) & 3
        walk.headings[vertex] = heading
        walk.xs[vertex] = walk.xs[joint] + (1 if heading == 0 else -1 if heading == 2 else 0)
        walk.ys[vertex] = walk.ys[joint] + (1 if heading == 1 else -1 if heading == 3 else 0)
    bends = 0
    count = 0
    n_side = 2 * n + 1
    for joint in range(1, floor):
        if walk.digits[joint] == STRAIGHT:
            continue
        bends += 1
        bend = 0 if walk.digits[joint] == ANTICLOCKWISE else 1
        blocked = False
        for edge in range(joint):
            x = min(walk.xs[edge], walk.xs[edge + 1]) - walk.xs[joint]
            y = min(walk.ys[edge], walk.ys[edge + 1]) - walk.ys[joint]
            number = ((y + n) * n_side + x + n) * 2 + np.int64(walk.xs[edge] == walk.xs[edge + 1])
            for place in range(blocking.starts[bend, number], blocking.starts[bend, number + 1]):
                for vertex in range(joint + 1, floor + 1):
                    x, y = walk.xs[vertex] - walk.xs[joint], walk.ys[vertex] - walk.ys[joint]
                    if x + y == blocking.points[bend, place, 0] and x - y == blocking.points[bend, place, 1]:
                        blocked = True
        if not blocked:
            walk.open_joints[floor, count] = joint
            count += 1
    walk.bends[floor] = bends
    walk.open_bends[floor] = count
    _open_window(window, walk, floor, blocking)
    if not can_close(window, walk.open_joints[floor], count, 0, 0, n - floor):
        return 0, 0
    stuck = 0
    nodes = 1
    if floor == n:
        if bends:
            stuck = 1
            if found.shape[0]:
                found[0, :] = walk.digits[1:n]
        return stuck, nodes
    middle = max(floor, n - SMALL_RADIUS)
    walk.next_digit[floor] = CLOCKWISE
    depth = floor
    while True:
        if middle > floor:
            depth, more = _advance(walk, large, blocking, floor, depth, middle)
            nodes += more
            if depth == EXHAUSTED:
                return stuck, nodes
            _open_window(small, walk, depth, blocking)
        while True:
            depth, more = _advance(walk, small, blocking, middle, depth, n)
            nodes += more
            if depth == EXHAUSTED:
                break
            walk.next_digit[n] = ANTICLOCKWISE + 1
            if walk.bends[n]:
                if stuck < found.shape[0]:
                    for joint in range(1, n):
                        found[stuck, joint - 1] = walk.digits[joint]
                stuck += 1
        if middle == floor:
            return stuck, nodes
        depth = middle
