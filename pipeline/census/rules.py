"""Collision rules as tables: what a resting edge blocks when the part behind a joint turns.

A rule says, for a pivot in the origin, which moving lattice points each resting unit edge blocks, and in which of the
two quarter turns. Both searches of the census take any rule of this form, so long as it treats reflections and the two
ends alike; that is how their pruning is tested on rules under which stuck shapes are common.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.census.windows import SMALL_RADIUS


class Table(NamedTuple):
    """A rule near the pivot.

    Attributes
    ----------
    numbers : ndarray of int32, shape (2 * radius + 1, 2 * radius + 1)
        From :func:`~pipeline.spaces.snake.swing.point_numbers`.
    blocked : ndarray of uint64, shape ((2 * radius + 1) ** 2 * 2, words)
        As :func:`~pipeline.spaces.snake.swing.blocking_table` gives it.
    """

    numbers: NDArray[np.int32]
    blocked: NDArray[np.uint64]


class BlockedPoints(NamedTuple):
    """The same as lists and bitmaps: for every edge near the pivot the points that it blocks.

    Attributes
    ----------
    starts : ndarray of int64, shape (2, edges + 1)
        Where the points of an edge start, in the anticlockwise and in the clockwise turn. The edge from (x, y) to the
        right (up) has number ``((y + radius) * (2 * radius + 1) + x + radius) * 2`` (plus 1).
    points : ndarray of int64, shape (2, most, 2)
        x + y and x - y of each point.
    bitmaps : ndarray of uint64, shape (2, edges, 2, 4)
        For both turns and each edge the points within 15 steps of the pivot, even and odd, as in a
        :class:`~pipeline.census.windows.Window` around the pivot.
    radius : int
    """

    starts: NDArray[np.int64]
    points: NDArray[np.int64]
    bitmaps: NDArray[np.uint64]
    radius: int


Rule = Callable[[int], Table]


def radius_for(n: int) -> int:
    """Steps from the pivot within which a snake of n edges can be blocked.

    A moving point and the resting point that it meets are equally far from the pivot, and the steps to both together
    are n at most. If the further one, in steps, is a steps away, their distance is at least a / sqrt(2), and so are
    the steps to the other: a <= n / (1 + 1 / sqrt(2)) < 0.59 n. Edges and thick rules need a few steps more.
    """
    return 3 * n // 5 + 3


def swept(radius: int) -> Table:
    """The rule of the snake: the whole swing must be free of contact."""
    from pipeline.spaces.snake.swing import blocking_table, point_numbers

    numbers = point_numbers(radius)
    return Table(numbers, blocking_table(numbers, True))


@cache
def table_for(rule: Rule, n: int) -> Table:
    """Table of a rule for a snake of n edges; it is made once in a process."""
    return rule(radius_for(n))


@cache
def whole_table_for(rule: Rule, n: int) -> Table:
    """Table of radius n, for kernels that look things up without asking how far away they are."""
    return rule(n)


@cache
def blocked_points_for(rule: Rule, n: int) -> BlockedPoints:
    """Lists of a rule for a snake of n edges; they are made once in a process."""
    numbers, blocked = table_for(rule, n)
    radius = numbers.shape[0] // 2
    at = np.argwhere(numbers >= 0)
    coordinates = np.empty((at.shape[0], 2), dtype=np.int64)
    x, y = at[:, 1] - radius, at[:, 0] - radius
    order = numbers[numbers >= 0]
    coordinates[order, 0] = x + y
    coordinates[order, 1] = x - y
    bits = np.unpackbits(blocked.view(np.uint8), axis=1, bitorder="little")
    lists = []
    starts = np.zeros((2, blocked.shape[0] + 1), dtype=np.int64)
    bitmaps = np.zeros((2, blocked.shape[0], 2, 4), dtype=np.uint64)
    for turn in range(2):
        edges, places = np.nonzero(bits[:, turn : 2 * coordinates.shape[0] : 2])
        starts[turn, 1:] = np.cumsum(np.bincount(edges, minlength=blocked.shape[0]))
        lists.append(coordinates[places])
        seen = np.abs(coordinates[places]).max(axis=1) <= SMALL_RADIUS
        u, v = coordinates[places][seen].T
        bit = ((u + SMALL_RADIUS) >> 1) * (SMALL_RADIUS + 1) + ((v + SMALL_RADIUS) >> 1)
        np.bitwise_or.at(bitmaps, (turn, edges[seen], u & 1, bit >> 6), np.uint64(1) << (bit & 63).astype(np.uint64))
    points = np.zeros((2, max(len(part) for part in lists), 2), dtype=np.int64)
    for turn, part in enumerate(lists):
        points[turn, : len(part)] = part
    return BlockedPoints(starts, points, bitmaps, radius)
