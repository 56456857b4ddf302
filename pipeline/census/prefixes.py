"""Cutting a search of walks into independent parts: one for each way to begin."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

# What the bitmaps of the pruned search can show must reach from the end of a prefix to the end of the walk.
MOST_EDGES_LEFT = 31
STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1))


def prefix_edges(n: int, exhaustive: bool) -> int:
    """Edges of the prefixes for walks of n edges (2 or more): so many that no part takes long."""
    if exhaustive:
        return max(1, n // 2)
    return max(1, n // 3 + 1, n - MOST_EDGES_LEFT)


def block_count(n: int, exhaustive: bool) -> int:
    """Into how many tasks the prefixes are divided: of a second or less up to n = 36, of ten seconds at n = 40."""
    wanted = 1 << max(0, n - 13) if exhaustive else 1 << max(0, n // 2 - 6)
    return min(wanted, len(prefixes(prefix_edges(n, exhaustive))))


@cache
def prefixes(edges: int) -> NDArray[np.uint8]:
    """All self-avoiding walks of some edges up to rotation and reflection, as joints.

    Parameters
    ----------
    edges : int
        1 or more.

    Returns
    -------
    ndarray of uint8, shape (count, edges - 1)
        In lexicographic order; the first bend of each is clockwise.
    """
    found: list[list[int]] = []
    joints: list[int] = []
    visited = {(0, 0), (1, 0)}

    def extend(x: int, y: int, heading: int, bent: bool) -> None:
        if len(joints) == edges - 1:
            found.append(joints.copy())
            return
        for digit in (0, 1, 2) if bent else (0, 1):
            onward = (heading + digit - 1) % 4
            cell = (x + STEPS[onward][0], y + STEPS[onward][1])
            if cell not in visited:
                visited.add(cell)
                joints.append(digit)
                extend(*cell, onward, bent or digit != 1)
                joints.pop()
                visited.remove(cell)

    extend(1, 0, 0, False)
    return np.array(found, dtype=np.uint8).reshape(len(found), edges - 1)
