"""The snake in plain Python: text for shapes, an own exact swing test, breadth-first search with sets.

The swing test looks at pairs of edges. The distance from the pivot is monotone along a unit edge, so an edge is the
graph of an angle over squared radii. While one part swings, two edges touch if at some common radius the angle from
one to the other is between 0 and a right angle. Neither at rest nor at the end can two edges cross between their ends,
so it is enough to look at the two ends of the interval of common radii, where one of the two edges has a vertex.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from math import isqrt

Point = tuple[int, int]
# A number p + q * sqrt(m).
Surd = tuple[int, int, int]

STEPS = [(1, 0), (0, 1), (-1, 0), (0, -1)]


def vertices(joints: str) -> list[Point]:
    """Lattice points from head to tail."""
    x, y, heading = 1, 0, 0
    points = [(0, 0), (1, 0)]
    for joint in joints:
        heading = (heading + int(joint) - 1) % 4
        x, y = x + STEPS[heading][0], y + STEPS[heading][1]
        points.append((x, y))
    return points


def crosses_itself(joints: str) -> bool:
    """Whether a point is visited twice."""
    points = vertices(joints)
    return len(set(points)) < len(points)


def mirrored(joints: str) -> str:
    """Reflected shape."""
    return joints.translate(str.maketrans("02", "20"))


def symmetric_images(joints: str) -> list[str]:
    """The shape, reflected, read from the tail, and both. (Read from the tail, left and right change places.)"""
    return [joints, mirrored(joints), joints[::-1], mirrored(joints[::-1])]


def canonical(joints: str) -> str:
    """One text for each class of equal shapes."""
    return min(symmetric_images(joints))


def not_negative(number: Surd) -> bool:
    """Sign test without rounding."""
    p, q, m = number
    if p >= 0 and q >= 0:
        return True
    if p < 0 and q < 0:
        return False
    return (p * p >= q * q * m) if p >= 0 else (q * q * m >= p * p)


def at_radius(first: Point, second: Point, square: int) -> tuple[Surd, Surd]:
    """The point of an edge at a squared distance from the origin."""
    for point in (first, second):
        if point[0] ** 2 + point[1] ** 2 == square:
            return (point[0], 0, 0), (point[1], 0, 0)
    upright = first[0] == second[0]
    line = first[0] if upright else first[1]
    along = (first[1] + second[1]) if upright else (first[0] + second[0])
    left = square - line * line
    assert isqrt(left) ** 2 != left
    root = (0, 1 if along > 0 else -1, left)
    fixed = (line, 0, 0)
    return (fixed, root) if upright else (root, fixed)


def product(one: Surd, other: Surd) -> Surd:
    """Product of an integer and a surd."""
    (p, q, m), (r, s, k) = one, other
    assert not (q and s)
    return p * r, p * s + q * r, m or k


def total(one: Surd, other: Surd) -> Surd:
    """Sum of two surds over one root."""
    assert not (one[1] and other[1] and one[2] != other[2])
    return one[0] + other[0], one[1] + other[1], one[2] if one[1] else other[2]


def negated(number: Surd) -> Surd:
    """Its opposite."""
    return -number[0], -number[1], number[2]


def edges_touch(moving: tuple[Point, Point], resting: tuple[Point, Point]) -> bool:
    """Whether an anticlockwise quarter turn about the origin takes a point of one edge onto the other."""
    spans = [sorted(x * x + y * y for x, y in edge) for edge in (moving, resting)]
    low, high = max(span[0] for span in spans), min(span[1] for span in spans)
    if low > high:
        return False
    for square in {low, high} - {0}:
        x, y = at_radius(*moving, square)
        u, v = at_radius(*resting, square)
        dot = total(product(x, u), product(y, v))
        cross = total(product(x, v), negated(product(y, u)))
        if not_negative(dot) and not_negative(cross):
            return True
    return False


def swing_is_free(points: list[Point], joint: int, turn: int, swept: bool) -> bool:
    """Whether the part behind a joint can turn by 90 degrees (turn 1 anticlockwise, -1 clockwise)."""
    centre_x, centre_y = points[joint]
    # A clockwise turn is an anticlockwise one in the mirror.
    near = [(x - centre_x, turn * (y - centre_y)) for x, y in points]
    if not swept:
        return not {(-y, x) for x, y in near[joint + 1 :]} & set(near[:joint])
    moving = list(pairwise(near[joint:]))
    resting = list(pairwise(near[: joint + 1]))
    return not any(edges_touch(one, other) for one in moving for other in resting)


def neighbours(joints: str, swept: bool = True) -> list[str]:
    """Snakes one legal move away."""
    points = vertices(joints)
    found = []
    for joint, digit in enumerate(joints, start=1):
        for turn in (-1, 1):
            turned = int(digit) + turn
            if 0 <= turned <= 2 and swing_is_free(points, joint, turn, swept):
                found.append(joints[: joint - 1] + str(turned) + joints[joint:])
    return found


def walks(n: int) -> list[str]:
    """All self-avoiding walks of n edges."""
    found = [""]
    for _ in range(n - 1):
        found = [walk + digit for walk in found for digit in "012" if not crosses_itself(walk + digit)]
    return found


def shapes(n: int) -> list[str]:
    """All shapes of n edges, in canonical form."""
    return sorted({canonical(walk) for walk in walks(n)})


@cache
def levels(n: int, swept: bool = True) -> tuple[frozenset[str], ...]:
    """Reachable shapes at each depth."""
    level = {canonical("1" * max(n - 1, 0))}
    seen = set(level)
    found = []
    while level:
        found.append(frozenset(level))
        level = {canonical(other) for shape in level for other in neighbours(shape, swept)} - seen
        seen |= level
    return tuple(found)
