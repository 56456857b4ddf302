"""The pruned search for stuck shapes: depth first, edge by edge, along a walk from one end.

A bend is *open* while no vertex behind it blocks its straightening; once blocked it stays so, because the resting part
of its swing is complete when the bend is made. The cells from which a future vertex blocks it are known then, too. A
walk is given up as soon as the edges that are left cannot block all open bends. ``docs/census.md`` has the argument.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.census.marking import mark_any, mark_near
from pipeline.census.reach import pairs_fit, reach, takes_in
from pipeline.census.windows import (
    SMALL_RADIUS,
    is_blocking,
    is_free,
    occupy,
    radius_of,
    show_all,
)
from storage.compiler.kernel import kernel

CLOCKWISE, STRAIGHT, ANTICLOCKWISE = 0, 1, 2
EXHAUSTED = -1


@kernel(inline="always", counts_references=False)
def straightening_turn(digit):
    """Which turn straightens a bend: 0 anticlockwise, 1 clockwise; the bits and lists of a rule are in this order."""
    return 1 if digit == ANTICLOCKWISE else 0


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


@kernel(counts_references=False)
def _is_blocked(walk, joint, last, blocked_points):
    """Whether one of the vertices up to ``last`` blocks the straightening of the bend at ``joint``."""
    xs, ys = walk.xs, walk.ys
    near = blocked_points.radius
    turn = straightening_turn(walk.digits[joint])
    for edge in range(joint):
        x, y = min(xs[edge], xs[edge + 1]) - xs[joint], min(ys[edge], ys[edge + 1]) - ys[joint]
        if abs(x) + abs(y) > near:
            continue
        upright = np.int64(xs[edge] == xs[edge + 1])
        number = ((y + near) * (2 * near + 1) + x + near) * 2 + upright
        for place in range(blocked_points.starts[turn, number], blocked_points.starts[turn, number + 1]):
            u, v = blocked_points.points[turn, place, 0], blocked_points.points[turn, place, 1]
            for vertex in range(joint + 1, last + 1):
                x, y = xs[vertex] - xs[joint], ys[vertex] - ys[joint]
                if x + y == u and x - y == v:
                    return True
    return False


@kernel(counts_references=False)
def _begin(prefix, walk, blocked_points):
    """Lay out the beginning of a walk and find its open bends; returns the number of its edges."""
    edges = prefix.size + 1
    bends = 0
    for joint in range(1, edges):
        digit = prefix[joint - 1]
        heading = (walk.headings[joint] + np.int64(digit) - 1) & 3
        walk.digits[joint] = digit
        walk.headings[joint + 1] = heading
        walk.xs[joint + 1] = walk.xs[joint] + (1 if heading == 0 else -1 if heading == 2 else 0)
        walk.ys[joint + 1] = walk.ys[joint] + (1 if heading == 1 else -1 if heading == 3 else 0)
        bends += digit != STRAIGHT
    count = 0
    for joint in range(1, edges):
        if walk.digits[joint] != STRAIGHT and not _is_blocked(walk, joint, edges, blocked_points):
            walk.open_joints[edges, count] = joint
            count += 1
    walk.bends[edges] = bends
    walk.open_bends[edges] = count
    return edges


@kernel(counts_references=False)
def _open_window(window, walk, depth, blocked_points):
    """Centre a window at a vertex and fill it from the walk up to there."""
    radius = radius_of(window)
    n = walk.xs.size - 1
    window.centre[0] = walk.xs[depth]
    window.centre[1] = walk.ys[depth]
    show_all(window)
    for vertex in range(depth + 1):
        x, y = walk.xs[vertex] - window.centre[0], walk.ys[vertex] - window.centre[1]
        if abs(x) + abs(y) <= radius:
            occupy(window.free, x, y, radius)
    starts, points, _, near = blocked_points
    for number in range(walk.open_bends[depth]):
        joint = walk.open_joints[depth, number]
        turn = straightening_turn(walk.digits[joint])
        mark_any(window.blocking, joint, turn, walk.xs, walk.ys, window.centre, starts, points, near, n - joint)


@kernel(counts_references=False)
def _advance(walk, window, blocked_points, floor, depth, stop):
    """Go on with the search until a walk of ``stop`` edges is found.

    Parameters
    ----------
    walk, window, blocked_points
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
    # Every look into a tuple of arrays costs, so each is taken out once.
    xs, ys, headings, digits, next_digit, bends, open_bends, open_joints = walk
    centre, free, blocking, reached, ends, hits = window
    one = np.uint64(1)
    starts, points, bitmaps, near = blocked_points
    radius = radius_of(window)
    n = xs.size - 1
    nodes = 0
    while True:
        digit = next_digit[depth]
        x, y = xs[depth] - centre[0], ys[depth] - centre[1]
        if digit > ANTICLOCKWISE:
            if depth == floor:
                return EXHAUSTED, nodes
            occupy(free, x, y, radius)
            depth -= 1
            continue
        next_digit[depth] = digit + 1
        if digit == ANTICLOCKWISE and bends[depth] == 0:
            # The mirror image has a clockwise bend here.
            continue
        heading = (headings[depth] + digit - 1) & 3
        if heading == 0:
            x += 1
        elif heading == 1:
            y += 1
        elif heading == 2:
            x -= 1
        else:
            y -= 1
        if not is_free(free, x, y, radius):
            continue
        vertex = depth + 1
        left = n - vertex
        bent = digit != STRAIGHT
        digits[depth] = digit
        count = np.int64(0)
        for number in range(open_bends[depth]):
            joint = open_joints[depth, number]
            if not is_blocking(blocking, joint, x, y, radius):
                open_joints[vertex, count] = joint
                count += 1
        occupy(free, x, y, radius)
        everything = (one << np.uint64(count)) - one
        met = reach(free, blocking, reached, ends, hits, x, y, left, open_joints, vertex, count)
        fits = met == everything
        if fits and count > 1:
            # Only pairs with the oldest or the newest open bend are looked at; the others cut hardly anything.
            known = one | (one << np.uint64(count - 1))
            for end in (count - 1, 0):
                fits, known = pairs_fit(
                    free, blocking, reached, hits, known, x, y, left, open_joints, vertex, count, end
                )
                if not fits:
                    break
        if fits and bent:
            turn = straightening_turn(digit)
            if radius == SMALL_RADIUS:
                mark_near(blocking, depth, turn, xs, ys, centre, bitmaps, near, left + 1, blocking[0])
            else:
                mark_any(blocking, depth, turn, xs, ys, centre, starts, points, near, left + 1)
            if not is_blocking(blocking, depth, x, y, radius):
                open_joints[vertex, count] = depth
                fits = left > 0 and takes_in(
                    free, blocking, reached, ends, hits, x, y, left, open_joints, vertex, count
                )
                count += 1
        if not fits:
            occupy(free, x, y, radius)
            continue
        open_bends[vertex] = count
        bends[vertex] = bends[depth] + bent
        headings[vertex] = heading
        xs[vertex] = x + centre[0]
        ys[vertex] = y + centre[1]
        next_digit[vertex] = CLOCKWISE
        depth = vertex
        nodes += 1
        if depth == stop:
            return depth, nodes


@kernel(counts_references=False)
def search_prefix(prefix, walk, large, small, blocked_points, found):
    """All stuck walks that begin in a given way.

    Parameters
    ----------
    prefix : ndarray of uint8, shape (p - 1,)
        Joints of a self-avoiding walk of p edges, 1 <= p <= n and n - p <= 31, whose first bend is clockwise.
    walk : Walk
    large, small : Window
        Of radius 31 and 15.
    blocked_points : BlockedPoints
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
    floor = _begin(prefix, walk, blocked_points)
    count = walk.open_bends[floor]
    window = large if n - floor > SMALL_RADIUS else small
    _open_window(window, walk, floor, blocked_points)
    everything = (np.uint64(1) << np.uint64(count)) - np.uint64(1)
    here = np.int64(0)  # from the centre
    _, free, blocking, reached, ends, hits = window
    met = reach(free, blocking, reached, ends, hits, here, here, n - floor, walk.open_joints, floor, count)
    if met != everything:
        return 0, 0
    stuck = 0
    nodes = 1
    if floor == n:
        if walk.bends[n]:
            stuck = 1
            for joint in range(1, n if found.shape[0] else 1):
                found[0, joint - 1] = walk.digits[joint]
        return stuck, nodes
    middle = max(floor, n - SMALL_RADIUS)
    walk.next_digit[floor] = CLOCKWISE
    depth = floor
    while True:
        if middle > floor:
            depth, more = _advance(walk, large, blocked_points, floor, depth, middle)
            nodes += more
            if depth == EXHAUSTED:
                return stuck, nodes
            _open_window(small, walk, depth, blocked_points)
        while True:
            depth, more = _advance(walk, small, blocked_points, middle, depth, n)
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
