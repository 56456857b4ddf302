"""States at each depth: those that were counted, those that are known, and those that are extrapolated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from pipeline.census.counts import largest as largest_known
from pipeline.census.counts import shapes_of
from pipeline.estimate.lines import Line
from pipeline.estimate.shapes import counted_shapes, extrapolated_shapes
from pipeline.spaces.contract import StateSpace

# Levels whose growth is looked at to go on with it.
TELLING_LEVELS = 8
# Where an extrapolation ends that comes to no end by itself.
MOST_LEVELS = 1000
MOST_STATES = 10.0**30


class Source(Enum):
    """Where a count is from.

    ``COUNTED``
        By the search that the estimate starts from.
    ``KNOWN``
        From the counts that come with the program.
    ``EXTRAPOLATED``
        From the growth of the levels before, or from the shapes of shorter snakes.
    """

    COUNTED = "counted"
    KNOWN = "known"
    EXTRAPOLATED = "extrapolated"


@dataclass(frozen=True)
class Growth:
    """States at depth 0, 1, ...

    Attributes
    ----------
    states : tuple of int
    sources : tuple of Source
        Of each of them.
    ends : bool
        Whether the graph has no state deeper than these.
    total : int or None
        States of the whole graph, if that is known.
    """

    states: tuple[int, ...]
    sources: tuple[Source, ...]
    ends: bool
    total: int | None

    def to_depth(self, depth: int | None) -> Growth:
        """The levels down to a depth."""
        if depth is None or depth >= len(self.states) - 1:
            return self
        return Growth(self.states[: depth + 1], self.sources[: depth + 1], False, self.total)


def growth(space: StateSpace, counted: Sequence[int], complete: bool) -> Growth:
    """States at each depth of a space.

    Parameters
    ----------
    space : StateSpace
    counted : sequence of int
        States at depth 0, 1, ..., at least at depth 0, as a search has counted them.
    complete : bool
        Whether these are all.
    """
    known, ends = _known(space)
    total = _total(space)
    if complete:
        return Growth(tuple(counted), (Source.COUNTED,) * len(counted), True, sum(counted))
    states = [*counted, *known[len(counted) :]]
    sources = [Source.COUNTED] * len(counted) + [Source.KNOWN] * (len(states) - len(counted))
    if not ends:
        shape = _shape(space, total)
        more = shape[len(states) :] if shape is not None else _extrapolated(states, total)
        states += more
        sources += [Source.EXTRAPOLATED] * len(more)
        ends = shape is not None or len(states) < MOST_LEVELS
    return Growth(tuple(states), tuple(sources), ends, total)


def _is_free_snake(space: StateSpace) -> bool:
    return space.name == "snake" and space.parameters.model_dump()["start"] is None


def _known(space: StateSpace) -> tuple[Sequence[int], bool]:
    """Counts that come with the program, and whether they are all."""
    reference = space.reference()
    if reference is not None and reference.states is not None:
        return reference.states, reference.complete
    parameters = space.parameters.model_dump()
    if _is_free_snake(space) and parameters["collision"] == "swept":
        counts = counted_shapes(parameters["n"])
        # Every shape lies at the depth of its bends if and only if none is stuck, which holds where the total does.
        if counts is not None and reference is not None and reference.total == sum(counts):
            return counts, True
    return (), False


def _total(space: StateSpace) -> int | None:
    """States of the whole graph; of a snake with locked shapes these are in it, a few among millions."""
    reference = space.reference()
    if reference is not None and reference.total is not None:
        return reference.total
    if reference is not None and reference.states is not None and reference.complete:
        return sum(reference.states)
    parameters = space.parameters.model_dump()
    if _is_free_snake(space) and parameters["n"] <= largest_known():
        return shapes_of(parameters["n"])
    if space.name == "sliding" and min(parameters["rows"], parameters["cols"]) > 1:
        # Half of all arrangements can be reached (Johnson and Story, 1879).
        return math.factorial(parameters["rows"] * parameters["cols"]) // 2
    return None


def _shape(space: StateSpace, total: int | None) -> list[int] | None:
    """All levels of a snake from the shapes of shorter ones; None for anything else."""
    if total is None or not _is_free_snake(space):
        return None
    n = space.parameters.model_dump()["n"]
    counts = counted_shapes(n)
    return list(counts if counts is not None else extrapolated_shapes(n, total))


def _extrapolated(states: Sequence[int], total: int | None) -> list[int]:
    """Levels to come. The logarithm of the growth from level to level falls along a line, as it did before.

    That is a bell curve. The levels of finite graphs rise more slowly than they fall; if the total is known, the line
    is bent so that the levels come to it. From the levels of the 3x4 and 4x4 puzzles to depth 23 the largest level
    comes out right to 3 %.
    """
    telling = states[-TELLING_LEVELS - 1 :]
    left = total - sum(states) if total is not None else None
    if len(telling) < 2 or (left is not None and left <= 0):
        return []
    points = [(float(place), math.log(after / before)) for place, (before, after) in enumerate(pairwise(telling))]
    line = Line.through(points)
    slope = min(line.slope, 0.0)

    def bent(bend: float) -> list[float]:
        return _continued(states[-1], line.height, slope, bend)

    def steeper(slope: float) -> list[float]:
        return _continued(states[-1], line.height, slope, 0.0)

    if left is None:
        return [round(count) for count in steeper(slope)]
    # Growth that must last longer than it promises is no bent line but a flatter one.
    curve = bent if sum(bent(0.0)) > left else steeper
    low, high = -10.0, 0.0 if curve is bent else 10.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if sum(curve(middle)) > left else (middle, high)
    return _scaled(curve(low), left)


def _continued(last: float, rate: float, slope: float, bend: float) -> list[float]:
    levels = []
    count = float(last)
    for step in range(1, MOST_LEVELS + 1):
        count *= math.exp(min(rate + slope * step + bend * step * step, 50.0))
        if not 0.5 <= count <= MOST_STATES:
            break
        levels.append(count)
    return levels


def _scaled(levels: Sequence[float], total: int) -> list[int]:
    have = sum(levels)
    return [max(1, round(count * total / have)) for count in levels] if have else []
