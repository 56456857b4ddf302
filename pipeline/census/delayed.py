"""Delayed shapes: those whose depth is more than their number of bends.

A shape is *delayed* if it has bends and every legal straightening leads to a delayed one; a stuck shape has none to
begin with. All others lie at the depth that is their number of bends. Since a straightening takes one bend away, the
delayed shapes with b bends are among the stuck ones and those that a bending of a delayed shape with b - 1 bends leads
to. ``docs/census.md`` has the argument.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush

from pipeline.census.neighbours import Neighbours
from storage.errors import OutOfBudget

MOST_DELAYED = 5_000_000


def delayed_shapes(neighbours: Neighbours, stuck: Iterable[bytes]) -> list[dict[bytes, set[bytes]]]:
    """All delayed shapes, by bends, each with the shapes that bend it once more.

    Parameters
    ----------
    neighbours : Neighbours
    stuck : iterable of bytes
        All stuck shapes.

    Raises
    ------
    OutOfBudget
        If they are too many for memory.
    """
    candidates: dict[int, set[bytes]] = {}
    for shape in stuck:
        candidates.setdefault(_bends(shape), set()).add(shape)
    delayed: list[dict[bytes, set[bytes]]] = []
    count = 0
    while candidates:
        here: dict[bytes, set[bytes]] = {}
        before = delayed[-1] if delayed else {}
        for shape in candidates.pop(len(delayed), set()):
            fewer, more = neighbours.of(shape)
            if all(other in before for other in fewer):
                here[shape] = more
        count += len(here)
        if count > MOST_DELAYED:
            raise OutOfBudget(f"there are more than {MOST_DELAYED} delayed shapes", "take a smaller n")
        delayed.append(here)
        onward = {other for more in here.values() for other in more}
        if onward:
            candidates.setdefault(len(delayed), set()).update(onward)
    return delayed


def depths_of(delayed: Sequence[dict[bytes, set[bytes]]]) -> dict[bytes, int]:
    """Depths of the delayed shapes that can be reached.

    A shortest path to one comes from a shape that is not delayed, whose depth is its number of bends, by a bending
    backwards, and goes on among delayed shapes.
    """
    links: dict[bytes, list[bytes]] = {shape: [] for here in delayed for shape in here}
    waiting: list[tuple[int, bytes]] = []
    for bends, here in enumerate(delayed):
        for shape, more in here.items():
            for other in more:
                if other in links:
                    links[shape].append(other)
                    links[other].append(shape)
                else:
                    waiting.append((bends + 2, shape))
    heapify(waiting)
    depths: dict[bytes, int] = {}
    while waiting:
        depth, shape = heappop(waiting)
        if shape not in depths:
            depths[shape] = depth
            for other in links[shape]:
                heappush(waiting, (depth + 1, other))
    return depths


def _bends(shape: bytes) -> int:
    return len(shape) - shape.count(1)
