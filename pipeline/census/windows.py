"""Bitmaps of the cells around a vertex.

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

import numpy as np
from numpy.typing import NDArray

from storage.compiler.kernel import kernel

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
    reached : ndarray of uint64, shape (R + 1, words)
        For :mod:`~pipeline.census.reach`.
    ends : ndarray of uint64, shape (2, 2, words)
        Cells, even and odd, that can be reached after the oldest open bend has been blocked, and after the newest.
    hits : ndarray of uint64, shape (joints + 2,)
        For each open bend, which other open bends can be blocked after it.
    """

    centre: NDArray[np.int64]
    free: NDArray[np.uint64]
    blocking: NDArray[np.uint64]
    reached: NDArray[np.uint64]
    ends: NDArray[np.uint64]
    hits: NDArray[np.uint64]


def make_window(radius: int, joints: int) -> Window:
    """An empty window of radius 15 or 31."""
    words = (radius + 1) ** 2 // 64
    return Window(
        np.zeros(2, dtype=np.int64),
        np.zeros((2, words), dtype=np.uint64),
        np.zeros((joints + 2, 2, words), dtype=np.uint64),
        np.zeros((radius + 1, words), dtype=np.uint64),
        np.zeros((2, 2, words), dtype=np.uint64),
        np.zeros(joints + 2, dtype=np.uint64),
    )


@kernel(inline="always", counts_references=False)
def radius_of(window):
    """Radius of a window."""
    return SMALL_RADIUS if window.free.shape[1] == 4 else LARGE_RADIUS


@kernel(inline="always", counts_references=False)
def bit_of(x, y, radius):
    """Bit of the cell at (x, y) from the centre, in the bitmap of its parity."""
    return ((x + y + radius) >> 1) * (radius + 1) + ((x - y + radius) >> 1)


@kernel(counts_references=False)
def is_free(free, x, y, radius):
    """Whether the cell at (x, y) from the centre, which must be within the window, is free."""
    bit = bit_of(x, y, radius)
    return (free[(x + y) & 1, bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1) != 0


@kernel(counts_references=False)
def is_blocking(blocking, joint, x, y, radius):
    """Whether a vertex at (x, y) from the centre blocks the straightening of a bend."""
    bit = bit_of(x, y, radius)
    return (blocking[joint, (x + y) & 1, bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1) != 0


@kernel(counts_references=False)
def occupy(free, x, y, radius):
    """Make the cell at (x, y) from the centre, which must be within the window, free or not, the opposite of now."""
    bit = bit_of(x, y, radius)
    free[(x + y) & 1, bit >> 6] ^= np.uint64(1) << np.uint64(bit & 63)


@kernel(counts_references=False)
def show_all(window):
    """Make all cells of the window free."""
    radius = radius_of(window)
    for word in range(window.free.shape[1]):
        window.free[0, word] = 0
        window.free[1, word] = 0
    for y in range(-radius, radius + 1):
        for x in range(abs(y) - radius, radius - abs(y) + 1):
            bit = bit_of(x, y, radius)
            window.free[(x + y) & 1, bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
