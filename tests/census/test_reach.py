"""What a walk can reach in a window, against sets of cells that are grown in plain Python."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from pipeline.census.reach import pairs_fit, reach, reach_after, takes_in
from pipeline.census.windows import LARGE_RADIUS, SMALL_RADIUS, bit_of, make_window

Cell = tuple[int, int]
Cells = set[Cell]


def bitmaps(cells: Cells, out: np.ndarray, radius: int) -> None:
    """Show cells as even and odd bitmaps."""
    out[:] = 0
    for x, y in cells:
        bit = bit_of(x, y, radius)
        out[(x + y) & 1, bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)


def beside(cells: Cells) -> Cells:
    """All cells one step from some."""
    return {(x + i, y + j) for x, y in cells for i, j in ((1, 0), (0, 1), (-1, 0), (0, -1))}


class Case:
    """A window with random free cells, and bends with random blocking cells."""

    def __init__(self, random: Random, radius: int) -> None:
        everywhere = [(x, y) for y in range(-radius, radius + 1) for x in range(abs(y) - radius, radius - abs(y) + 1)]
        self.radius = radius
        self.free = {cell for cell in everywhere if random.random() < random.choice((0.6, 0.9))}
        self.at = random.choice([(0, 0), (1, 0), (-2, 1), (0, 3)])
        self.free.discard(self.at)
        self.steps = random.randrange(1, radius + 1 - abs(self.at[0]) - abs(self.at[1]))
        self.count = random.randrange(0, 6)
        chance = random.choice((0.005, 0.03, 0.2))
        self.blocking = [{cell for cell in everywhere if random.random() < chance} for _ in range(self.count + 1)]
        for cells in self.blocking:
            cells.discard(self.at)  # of what blocks an open bend, no vertex so far is in the way
        self.window = make_window(radius, 10)
        bitmaps(self.free, self.window.free, radius)
        self.joints = np.zeros((3, 12), dtype=np.int64)
        # Not in the order of their rows.
        self.joints[1, : self.count + 1] = 1 + np.array(random.sample(range(8), self.count + 1))
        for joint, cells in zip(self.joints[1], self.blocking, strict=False):
            bitmaps(cells, self.window.blocking[joint], radius)

    def reached(self) -> list[Cells]:
        """For each number of steps the cells that a walk can be at."""
        found = [{self.at}]
        for _ in range(self.steps):
            found.append(beside(found[-1]) & self.free)
        return found

    def after(self, number: int) -> Cells:
        """The cells that can be reached at or behind a visit to blocking cells of a bend."""
        everything: Cells = set()
        here: Cells = set()
        for cells in self.reached()[1:]:
            here = (beside(here) & self.free) | (cells & self.blocking[number])
            everything |= here
        return everything

    def fit(self, one: int, other: int) -> bool:
        """Whether one of two bends can be blocked after the other."""
        return bool(self.after(one) & self.blocking[other] or self.after(other) & self.blocking[one])


@pytest.mark.parametrize(("radius", "cases"), [(SMALL_RADIUS, 80), (LARGE_RADIUS, 20)])
def test_what_can_be_reached(radius: int, cases: int) -> None:
    outcomes = set()
    for seed in range(cases):
        case = Case(Random(seed), radius)
        window, count, steps = case.window, case.count, case.steps
        x, y = case.at
        rest = (x, y, steps, case.joints, 1, count)
        arrays = window.free, window.blocking, window.reached
        met = reach(*arrays, window.ends, window.hits, *rest)
        reached = case.reached()
        # A walk that has steps left can go back and forth, unless it cannot move at all.
        everything = set().union(*reached[1:])
        assert met == sum(1 << number for number in range(count) if everything & case.blocking[number])
        hits = [
            sum(1 << other for other in range(count) if case.after(number) & case.blocking[other])
            for number in range(count)
        ]
        for number in range(count):
            joint = case.joints[1, number]
            parity = (x + y) & 1
            assert reach_after(*arrays[:2], joint, arrays[2], parity, steps, case.joints, 1, count) == (hits[number])
        if count:
            assert (window.hits[0], window.hits[count - 1]) == (hits[0], hits[count - 1])
        if count > 1:
            known = np.uint64(1 | 1 << (count - 1))
            for end in (0, count - 1):
                fit, known = pairs_fit(*arrays, window.hits, known, *rest, end)
                assert fit == all(case.fit(end, other) for other in range(count) if other != end)
                outcomes.add(("pairs", fit))
        taken = takes_in(*arrays, window.ends, window.hits, *rest)
        assert taken == (
            bool(everything & case.blocking[count]) and all(case.fit(count, other) for other in range(count))
        )
        outcomes.add(("takes in", taken))
    assert len(outcomes) == 4
