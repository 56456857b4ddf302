"""Which earlier levels the neighbours of a frontier can belong to.

In an undirected graph the neighbours of level d lie in the levels d - 1, d and d + 1 (Munagala and Ranade,
"I/O-complexity of graph algorithms", 1999), in a bipartite one not in d. Where moves cannot be undone, they may lie in
any level.
"""

from __future__ import annotations

from pipeline.spaces.contract import StateSpace
from storage.jobs.job import Job
from storage.jobs.level import Level


def earlier_levels(space: StateSpace, job: Job, depth: int, whole: bool = False) -> list[Level]:
    """Levels whose states have to be removed from the neighbours of level ``depth - 1``.

    Parameters
    ----------
    space : StateSpace
    job : Job
    depth : int
        Of the level that is made.
    whole : bool
        Do not rely on the graph being bipartite.
    """
    return [job.level(earlier) for earlier in earlier_depths(space, depth, whole)]


def earlier_depths(space: StateSpace, depth: int, whole: bool = False) -> list[int]:
    """Depths of the levels that :func:`earlier_levels` gives."""
    if not space.undirected:
        return list(range(depth))
    steps = (2,) if space.bipartite and not whole else (1, 2)
    return [depth - step for step in steps if depth >= step]
