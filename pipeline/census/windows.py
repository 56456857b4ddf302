"""Bitmaps of the cells around a vertex, and which of them a walk can still reach.

A window of radius R shows the cells within R steps of its centre, R = 15 or 31. The cells at an even number of steps
and those at an odd number are two bitmaps, *even* and *odd*. With ``u = x + y`` and ``v = x - y`` relative to the
centre, a cell is bit ``((u + R) >> 1) * (R + 1) + ((v + R) >> 1)`` of its bitmap, so that a bitmap is 256 bits (four
words) or 1024 bits (sixteen). A step changes u and v by one each. From an even cell it leads to the bits 0, 1, R + 1
and R + 2 places up, from an odd cell to those as many places down: growing a set of cells by one step is two shifts in
each direction, whatever the shape of the set. Bits that a shift carries over the edge of the window land on places
that are no cells of it, and these are never free.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

SMALL_RADIUS = 15
LARGE_RADIUS = 31


class Window(NamedTuple):
    """A window and room to search in it.

    Attributes
    ----------
    centre : ndarray of int64, shape (2,)
        The lattice point in its middle.
    free : ndarray of uint64, shape (2, words)
        Cells that no vertex occupies, even and odd.
    blocking : ndarray of uint64, shape (joints + 2, 2, words)
        For each open bend the cells from which a vertex blocks its straightening.
    reached, after : ndarray of uint64, shape (R + 1, words)
        Cells reached after so many steps at most; the same behind a visit to some bend's cells.
    hits : ndarray of uint64, shape (joints + 2,)
        For each open bend, which other open bends can be blocked after it.
    """

    centre: NDArray[np.int64]
    free: NDArray[np.uint64]
    blocking: NDArray[np.uint64]
    reached: NDArray[np.uint64]
    after: NDArray[np.uint64]
    hits: NDArray[np.uint64]


def make_window(radius: int, joints: int) -> Window:
    """An empty window of radius 15 or 31."""
    words = (radius + 1) ** 2 // 64
    return Window(
        np.zeros(2, dtype=np.int64),
        np.zeros((2, words), dtype=np.uint64),
        np.zeros((joints + 2, 2, words), dtype=np.uint64),
        np.zeros((radius + 1, words), dtype=np.uint64),
        np.zeros((radius + 1, words), dtype=np.uint64),
        np.zeros(joints + 2, dtype=np.uint64),
    )


@numba.njit(nogil=True, cache=True, inline="always")
def radius_of(window):
    """Radius of a window."""
    return SMALL_RADIUS if window.free.shape[1] == 4 else LARGE_RADIUS


@numba.njit(nogil=True, cache=True, inline="always")
def bit_of(x, y, radius):
    """Bit of the cell at (x, y) from the centre, in the bitmap of its parity."""
    return ((x + y + radius) >> 1) * (radius + 1) + ((x - y + radius) >> 1)


@numba.njit(nogil=True, cache=True, inline="always")
def is_free(window, x, y):
    """Whether the cell at (x, y) from the centre, which must be within the window, is free."""
    bit = bit_of(x, y, radius_of(window))
    return (window.free[(x + y) & 1, bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1) != 0


@numba.njit(nogil=True, cache=True, inline="always")
def is_blocking(window, joint, x, y):
    """Whether a vertex at (x, y) from the centre blocks the straightening of a bend."""
    bit = bit_of(x, y, radius_of(window))
    return (window.blocking[joint, (x + y) & 1, bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1) != 0


@numba.njit(nogil=True, cache=True)
def show_all(window):
    """Make all cells of the window free."""
    radius = radius_of(window)
    window.free[:] = 0
    for y in range(-radius, radius + 1):
        for x in range(abs(y) - radius, radius - abs(y) + 1):
            bit = bit_of(x, y, radius)
            window.free[(x + y) & 1, bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)


@numba.njit(nogil=True, cache=True, inline="always")
def _up(a, b, c, d, free):
    """The free odd cells one step from even cells, in a window of radius 15."""
    one, row, rest = np.uint64(1), np.uint64(16), np.uint64(48)
    a |= a << one
    b |= b << one
    c |= c << one
    d |= d << one
    return (
        (a | (a << row)) & free[1, 0],
        (b | (b << row) | (a >> rest)) & free[1, 1],
        (c | (c << row) | (b >> rest)) & free[1, 2],
        (d | (d << row) | (c >> rest)) & free[1, 3],
    )


@numba.njit(nogil=True, cache=True, inline="always")
def _down(a, b, c, d, free):
    """The free even cells one step from odd cells, in a window of radius 15."""
    one, row, rest = np.uint64(1), np.uint64(16), np.uint64(48)
    a |= a >> one
    b |= b >> one
    c |= c >> one
    d |= d >> one
    return (
        (a | (a >> row) | (b << rest)) & free[0, 0],
        (b | (b >> row) | (c << rest)) & free[0, 1],
        (c | (c >> row) | (d << rest)) & free[0, 2],
        (d | (d >> row)) & free[0, 3],
    )


@numba.njit(nogil=True, cache=True)
def _reach_small(free, blocking, joint, reached, out, bit, parity, steps, joints, count):
    """:func:`_reach` and :func:`_reach_after` in a window of radius 15; every set is held in four registers."""
    nothing, one = np.uint64(0), np.uint64(1)
    a = b = c = d = nothing
    e = f = g = h = nothing
    p = q = r = s = nothing
    t = u = v = w = nothing
    alone = joint < 0
    if alone:
        place = one << np.uint64(bit & 63)
        word = bit >> 6
        a = place if word == 0 else nothing
        b = place if word == 1 else nothing
        c = place if word == 2 else nothing
        d = place if word == 3 else nothing
    else:
        p, q, r, s = blocking[joint, 0, 0], blocking[joint, 0, 1], blocking[joint, 0, 2], blocking[joint, 0, 3]
        t, u, v, w = blocking[joint, 1, 0], blocking[joint, 1, 1], blocking[joint, 1, 2], blocking[joint, 1, 3]
    out[0, 0] = a
    out[0, 1] = b
    out[0, 2] = c
    out[0, 3] = d
    if parity == 1:
        a, b, c, d, e, f, g, h = e, f, g, h, a, b, c, d
    for step in range(np.uint64(1), np.uint64(steps + 1)):
        if (np.uint64(parity) + step) & one:
            i, j, k, m = _up(a, b, c, d, free)
            if alone:
                e |= i
                f |= j
                g |= k
                h |= m
            else:
                e |= i | (reached[step, 0] & t)
                f |= j | (reached[step, 1] & u)
                g |= k | (reached[step, 2] & v)
                h |= m | (reached[step, 3] & w)
            out[step, 0] = e
            out[step, 1] = f
            out[step, 2] = g
            out[step, 3] = h
        else:
            i, j, k, m = _down(e, f, g, h, free)
            if alone:
                a |= i
                b |= j
                c |= k
                d |= m
            else:
                a |= i | (reached[step, 0] & p)
                b |= j | (reached[step, 1] & q)
                c |= k | (reached[step, 2] & r)
                d |= m | (reached[step, 3] & s)
            out[step, 0] = a
            out[step, 1] = b
            out[step, 2] = c
            out[step, 3] = d
    met = nothing
    for number in range(count):
        other = joints[number]
        common = (a & blocking[other, 0, 0]) | (b & blocking[other, 0, 1])
        common |= (c & blocking[other, 0, 2]) | (d & blocking[other, 0, 3])
        common |= (e & blocking[other, 1, 0]) | (f & blocking[other, 1, 1])
        common |= (g & blocking[other, 1, 2]) | (h & blocking[other, 1, 3])
        if common:
            met |= one << np.uint64(number)
    return met


@numba.njit(nogil=True, cache=True)
def _reach_large(free, blocking, joint, reached, out, bit, parity, steps, joints, count):
    """As :func:`_reach_small`, in a window of radius 31."""
    one, row = np.uint64(1), np.uint64(32)
    for word in range(16):
        out[0, word] = 0
    if joint < 0:
        out[0, bit >> 6] = np.uint64(1) << np.uint64(bit & 63)
    for t in range(1, steps + 1):
        now = (parity + t) & 1
        if now:
            below = np.uint64(0)
            for word in range(16):
                here = out[t - 1, word]
                here |= here << one
                out[t, word] = (here | (here << row) | (below >> row)) & free[1, word]
                below = here
        else:
            above = np.uint64(0)
            for word in range(15, -1, -1):
                here = out[t - 1, word]
                here |= here >> one
                out[t, word] = (here | (here >> row) | (above << row)) & free[0, word]
                above = here
        if joint >= 0:
            for word in range(16):
                out[t, word] |= reached[t, word] & blocking[joint, now, word]
        if t >= 2:
            for word in range(16):
                out[t, word] |= out[t - 2, word]
    met = np.uint64(0)
    last = (parity + steps) & 1
    for number in range(count):
        other = joints[number]
        common = np.uint64(0)
        for word in range(16):
            common |= out[steps, word] & blocking[other, last, word]
            common |= out[steps - 1, word] & blocking[other, 1 - last, word]
        if common:
            met |= one << np.uint64(number)
    return met


@numba.njit(nogil=True, cache=True, inline="always")
def _reach(window, x, y, steps, joints, count):
    """Fill ``window.reached`` for a walk that stands at (x, y) from the centre.

    Row t holds the cells of one parity that can be reached in t steps, or fewer by an even number. Cells may be
    visited repeatedly, so this is more than what a walk can reach. Returns which open bends have blocking cells among
    them, a bit for each.
    """
    radius = radius_of(window)
    bit, parity = bit_of(x, y, radius), (x + y) & 1
    reached = window.reached
    if radius == SMALL_RADIUS:
        return _reach_small(window.free, window.blocking, -1, reached, reached, bit, parity, steps, joints, count)
    return _reach_large(window.free, window.blocking, -1, reached, reached, bit, parity, steps, joints, count)


@numba.njit(nogil=True, cache=True, inline="always")
def _reach_after(window, joint, x, y, steps, joints, count):
    """As :func:`_reach`, of the ways that visit the blocking cells of a bend first."""
    parity = (x + y) & 1
    reached, after = window.reached, window.after
    if radius_of(window) == SMALL_RADIUS:
        return _reach_small(window.free, window.blocking, joint, reached, after, 0, parity, steps, joints, count)
    return _reach_large(window.free, window.blocking, joint, reached, after, 0, parity, steps, joints, count)


@numba.njit(nogil=True, cache=True)
def can_close(window, joints, count, x, y, steps):
    """Whether the steps that are left may suffice to block the straightening of all open bends.

    Parameters
    ----------
    window : Window
    joints : ndarray of int64
        The open bends, in the order in which they were made.
    count : int64
        How many there are.
    x, y : int64
        Where the walk stands, from the centre of the window.
    steps : int64
        Edges that are left; the cells within so many steps must be in the window.

    Returns
    -------
    bool
        False only if it is impossible: some bend is out of reach, or of some pair of bends neither can be blocked
        after the other. Only pairs with the oldest or the newest bend are looked at; the others cut hardly anything.
    """
    if count == 0:
        return True
    if steps == 0:
        return False
    everything = (np.uint64(1) << np.uint64(count)) - np.uint64(1)
    if _reach(window, x, y, steps, joints, count) != everything:
        return False
    hits = window.hits
    known = np.uint64(0)
    for first in (0, count - 1):
        if not (known >> np.uint64(first)) & np.uint64(1):
            known |= np.uint64(1) << np.uint64(first)
            hits[first] = _reach_after(window, joints[first], x, y, steps, joints, count)
        for second in range(count):
            if (hits[first] >> np.uint64(second)) & np.uint64(1):
                continue
            if not (known >> np.uint64(second)) & np.uint64(1):
                known |= np.uint64(1) << np.uint64(second)
                hits[second] = _reach_after(window, joints[second], x, y, steps, joints, count)
            if not (hits[second] >> np.uint64(first)) & np.uint64(1):
                return False
    return True
