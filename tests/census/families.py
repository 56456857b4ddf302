"""What locked snakes have in common: ``python -m tests.census.families`` prints the table of ``docs/results.md``.

Two shapes are *alike* if they agree but for a detour. Laid upon each other, read from either end and in the mirror as
need be, their first p and their last q edges lie in the same places, p and q at least 1, and p + q is at least
three fifths of the edges of the shorter one; between these they go different ways. A *family* is a class of shapes that
such likenesses connect, and its *core* the edges of its smallest member that all have in common, each laid upon it so
that its ends agree as far as they can.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

DATA = Path(__file__).parents[2] / "docs" / "data" / "locked-snakes.txt"
SHARE = 0.6
MIRROR = str.maketrans("02", "20")
STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1))

Points = tuple[tuple[int, int], ...]


def locked_shapes() -> list[str]:
    """All that were found, by length and then as texts."""
    lines = DATA.read_text(encoding="ascii").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def readings(shape: str) -> list[str]:
    """The four ways to read a shape."""
    backwards = shape[::-1].translate(MIRROR)
    return [shape, shape.translate(MIRROR), backwards, backwards.translate(MIRROR)]


@cache
def points(joints: str) -> Points:
    """Where its vertices are, the first edge going right from the origin."""
    heading, x, y = 0, 1, 0
    found = [(0, 0), (1, 0)]
    for joint in joints:
        heading = (heading + int(joint) - 1) % 4
        x, y = x + STEPS[heading][0], y + STEPS[heading][1]
        found.append((x, y))
    return tuple(found)


@dataclass(frozen=True)
class Agreement:
    """How far two shapes agree, for the reading of the second for which they do so most.

    Attributes
    ----------
    first, last : int
        Edges in the same places, from the first end and from the last.
    edges : frozenset
        All edges of the first shape that are edges of the second.
    """

    first: int
    last: int
    edges: frozenset[frozenset[tuple[int, int]]]


def edges(vertices: Points) -> frozenset[frozenset[tuple[int, int]]]:
    """The edges of a walk."""
    return frozenset(frozenset(edge) for edge in pairwise(vertices))


def agreement(one: str, other: str) -> Agreement:
    """How far two shapes agree."""
    best = Agreement(0, 0, frozenset())
    here = points(one)
    for reading in readings(other):
        there = points(reading)
        length = min(len(here), len(there))
        first = next((place for place in range(length) if here[place] != there[place]), length) - 1
        last = next((place for place in range(length) if here[-1 - place] != there[-1 - place]), length) - 1
        if last > 0 and first + last > best.first + best.last:
            best = Agreement(first, last, edges(here) & edges(there))
    return best


def are_alike(one: str, other: str) -> bool:
    """Whether two shapes agree but for a detour."""
    shorter = min(len(one), len(other)) + 1
    found = agreement(one, other)
    return found.first + found.last >= SHARE * shorter


@dataclass(frozen=True)
class Family:
    """A class of shapes.

    Attributes
    ----------
    members : tuple of str
        The smallest one first.
    core : int
        Edges of the smallest that all have in common with it.
    """

    members: tuple[str, ...]
    core: int

    def counts(self) -> Counter[int]:
        """Members of each length."""
        return Counter(len(shape) + 1 for shape in self.members)


def families(shapes: list[str]) -> list[Family]:
    """The families of some shapes, the one with the smallest member first."""
    remaining = sorted(shapes, key=lambda shape: (len(shape), shape))
    found = []
    while remaining:
        members, remaining = [remaining[0]], remaining[1:]
        for member in members:
            alike = [shape for shape in remaining if are_alike(member, shape)]
            members += alike
            remaining = [shape for shape in remaining if shape not in set(alike)]
        core = edges(points(members[0]))
        for shape in members[1:]:
            core &= agreement(members[0], shape).edges
        found.append(Family(tuple(members), len(core)))
    return sorted(found, key=lambda family: (len(family.members[0]), -len(family.members)))


def table(shapes: list[str]) -> str:
    """The table of the docs: families with two members or more, and how many have only one."""
    lengths = sorted({len(shape) + 1 for shape in shapes})
    lines = [
        f"| family | smallest member | core | {' | '.join(f'n = {n}' for n in lengths)} |",
        f"|---:|---|---:|{'---:|' * len(lengths)}",
    ]
    alone: Counter[int] = Counter()
    number = 0
    for family in families(shapes):
        counts = family.counts()
        if len(family.members) == 1:
            alone.update(counts)
            continue
        number += 1
        cells = [str(counts[n]) if counts[n] else "" for n in lengths]
        lines.append(f"| {number} | `{family.members[0]}` | {family.core} | {' | '.join(cells)} |")
    cells = [str(alone[n]) if alone[n] else "" for n in lengths]
    lines.append(f"| | (each alone in its family) | | {' | '.join(cells)} |")
    totals = Counter(len(shape) + 1 for shape in shapes)
    lines.append(f"| | all | | {' | '.join(str(totals[n]) for n in lengths)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(locked_shapes()))
