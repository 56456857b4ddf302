"""Collision rules under which stuck shapes are common, as tables and in plain Python.

A *clinging* snake can neither move two of its points apart that lie side by side, nor lay two of them side by side: a
swing is blocked also if some moving lattice point has a resting one as its neighbour before or after it. (The vertices
next to the pivot are never neighbours, so straight snakes move.) It locks easily. If only pairs count of which neither
point is next to the pivot, fewer shapes are stuck, and many of those unfold. Both rules are the same backwards and in
the mirror, and whichever part moves, as the snake's own.
"""

from __future__ import annotations

from collections import deque
from functools import cache

import numpy as np

from pipeline.census.rules import Table, swept
from tests.spaces import slow_snake

ANTICLOCKWISE, CLOCKWISE = 1, 2


def are_neighbours(first: tuple[int, int], second: tuple[int, int]) -> bool:
    """Whether two points are at most one step apart."""
    return abs(first[0] - second[0]) + abs(first[1] - second[1]) <= 1


def clings(moving: tuple[int, int], resting: tuple[int, int], turn: int, near: int) -> bool:
    """Whether a pair of points blocks a turn (1 anticlockwise, -1 clockwise) about the origin."""
    x, y = moving
    if min(x * x + y * y, resting[0] ** 2 + resting[1] ** 2) < near * near:
        return False
    return are_neighbours(moving, resting) or are_neighbours((-turn * y, turn * x), resting)


def clinging_table(radius: int, near: int) -> Table:
    """The table of the rule."""
    numbers, blocked = swept(radius)
    blocked = blocked.copy()
    side = 2 * radius + 1
    points = [(x, y) for y in range(-radius, radius + 1) for x in range(-radius, radius + 1) if abs(x) + abs(y) > 0]
    points = [(x, y) for x, y in points if abs(x) + abs(y) <= radius]
    for x, y in points:
        number = int(numbers[y + radius, x + radius])
        close = [(x + i, y + j) for i in range(-1, 2) for j in range(-1, 2)]
        around = {*close, *((-b, a) for a, b in close), *((b, -a) for a, b in close)} - {(0, 0)}
        for turn, bit in ((1, ANTICLOCKWISE), (-1, CLOCKWISE)):
            for resting in around:
                if not clings((x, y), resting, turn, near):
                    continue
                a, b = resting
                for low_x, low_y, upright in ((a, b, 0), (a, b, 1), (a - 1, b, 0), (a, b - 1, 1)):
                    if abs(low_x) + abs(low_y) <= radius:
                        row = ((low_y + radius) * side + low_x + radius) * 2 + upright
                        blocked[row, number >> 5] |= np.uint64(bit) << np.uint64(2 * (number & 31))
    return Table(numbers, blocked)


def clinging(radius: int) -> Table:
    """A snake that locks easily."""
    return clinging_table(radius, 1)


def half_clinging(radius: int) -> Table:
    """A snake that is stuck less easily."""
    return clinging_table(radius, 2)


NEAR = {clinging: 1, half_clinging: 2}


def swing_is_free(points: list[tuple[int, int]], joint: int, turn: int, near: int) -> bool:
    """The same rule in plain Python, on top of the plain swing test."""
    if not slow_snake.swing_is_free(points, joint, turn, swept=True):
        return False
    x, y = points[joint]
    moving = [(a - x, b - y) for a, b in points[joint + 1 :]]
    resting = [(a - x, b - y) for a, b in points[:joint]]
    return not any(clings(one, other, turn, near) for one in moving for other in resting)


@cache
def graph(n: int, near: int) -> tuple[set[str], dict[str, list[str]]]:
    """Stuck shapes of n edges, and where moves lead from every shape, by looking at every shape and every move."""
    stuck = set()
    neighbours: dict[str, list[str]] = {}
    for shape in slow_snake.shapes(n):
        points = slow_snake.vertices(shape)
        neighbours[shape] = []
        straightens = False
        for joint, digit in enumerate(shape, start=1):
            for turn in (-1, 1):
                turned = int(digit) + turn
                if 0 <= turned <= 2 and swing_is_free(points, joint, turn, near):
                    other = shape[: joint - 1] + str(turned) + shape[joint:]
                    neighbours[shape].append(slow_snake.canonical(other))
                    straightens |= digit != "1"
        if set(shape) - {"1"} and not straightens:
            stuck.add(shape)
    return stuck, neighbours


def depths(n: int, near: int) -> dict[str, int]:
    """Depth of every shape that can be reached, by breadth-first search."""
    _, neighbours = graph(n, near)
    found = {"1" * (n - 1): 0}
    waiting = deque(found)
    while waiting:
        shape = waiting.popleft()
        for other in neighbours[shape]:
            if other not in found:
                found[other] = found[shape] + 1
                waiting.append(other)
    return found


def census(n: int, near: int) -> tuple[set[str], set[str]]:
    """Stuck and locked shapes of n edges."""
    stuck, neighbours = graph(n, near)
    return stuck, set(neighbours) - set(depths(n, near))
