"""How many shapes of a snake have so many bends: counted for small n, extrapolated beyond.

Where no shape is stuck, a shape lies at the depth of its bends, and the few that are (see ``docs/census.md``) change no
estimate. The number of bends of a random shape has a mean and a variance that grow by the same amount with each
edge, and its distribution, moved and stretched to mean 0 and variance 1, hardly changes.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@cache
def _counted() -> dict[int, tuple[int, ...]]:
    text = resources.files("pipeline.estimate").joinpath("shapes.json").read_text(encoding="utf-8")
    return {int(n): tuple(counts) for n, counts in json.loads(text)["bends"].items()}


def counted_shapes(n: int) -> tuple[int, ...] | None:
    """Shapes with 0, 1, ... bends of snakes of n edges, if they were counted."""
    return _counted().get(n)


def largest_counted() -> int:
    """Largest n for which :func:`counted_shapes` has numbers."""
    return max(_counted())


def extrapolated_shapes(n: int, total: int, largest: int | None = None) -> tuple[int, ...]:
    """Estimate of the shapes with 0, 1, ... bends.

    Parameters
    ----------
    n : int
        Edges, more than ``largest``.
    total : int
        Shapes of n edges.
    largest : int, optional
        The counts of snakes longer than this are not used.
    """
    largest = largest_counted() if largest is None else largest
    before = [_moments(_counted()[edges]) for edges in (largest - 2, largest)]
    steps = (n - largest) / 2
    mean = before[1][0] + steps * (before[1][0] - before[0][0])
    variance = before[1][1] + steps * (before[1][1] - before[0][1])
    counts = _counted()[largest]
    places = (np.arange(len(counts)) - before[1][0]) / before[1][1] ** 0.5
    heights = np.log(np.array(counts, dtype=float))
    bends = (np.arange(n) - mean) / variance**0.5
    density = np.exp(_continued(bends, places, heights))
    shares = density / density.sum() * total
    shares[0] = 1.0
    return tuple(max(1, round(share)) for share in shares.tolist())


def _moments(counts: tuple[int, ...]) -> tuple[float, float]:
    weights = np.array(counts, dtype=float)
    weights /= weights.sum()
    places = np.arange(weights.size)
    mean = float((weights * places).sum())
    return mean, float((weights * (places - mean) ** 2).sum())


def _continued(at: Floats, places: Floats, heights: Floats) -> Floats:
    """Heights between the points, and on the straight continuation of the first and the last two beyond them."""
    inside: Floats = np.interp(at, places, heights)
    first = (heights[1] - heights[0]) / (places[1] - places[0])
    last = (heights[-1] - heights[-2]) / (places[-1] - places[-2])
    below = heights[0] + first * (at - places[0])
    above = heights[-1] + last * (at - places[-1])
    return np.where(at < places[0], below, np.where(at > places[-1], above, inside))
