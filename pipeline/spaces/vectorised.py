"""Neighbours from plain numpy: what :meth:`StateSpace.neighbour_keys` returns, checked and written to a buffer."""

from __future__ import annotations

import numpy as np

from pipeline.spaces.contract import Keys, StateSpace
from storage.errors import FalseClaim, PuzzleError


def expand_block(space: StateSpace, keys: Keys, out: Keys) -> int:
    """Write all neighbours of some keys; returns how many.

    Parameters
    ----------
    space : StateSpace
    keys : ndarray of uint64, shape (n,)
    out : ndarray of uint64, shape (m,)
        ``m`` is at least n times ``max_neighbours``.

    Raises
    ------
    PuzzleError
        If what the space returns is of another form or type, or more than it claims.
    """
    returned = space.neighbour_keys(keys)
    if returned is None:
        raise PuzzleError(f"neighbour_keys of the puzzle {space.name} returned nothing")
    if isinstance(returned, tuple):
        if len(returned) != 2:
            raise PuzzleError(
                f"neighbour_keys of the puzzle {space.name} returned {len(returned)} things",
                "it returns the neighbours, and how many each key has",
            )
        neighbours, counts = np.asarray(returned[0]), np.asarray(returned[1])
    else:
        neighbours = np.asarray(returned)
        if neighbours.ndim != 2 or len(neighbours) != keys.size:
            raise PuzzleError(
                f"neighbour_keys of the puzzle {space.name} returned an array of shape {neighbours.shape} for "
                f"{keys.size} keys",
                "it returns a row of neighbours for each key, or a pair",
            )
        counts = np.full(keys.size, neighbours.shape[1])
        neighbours = neighbours.ravel()
    if not neighbours.size:
        neighbours = np.empty(0, dtype=np.uint64)
    _check_types(space, keys, neighbours, counts)
    if counts.size and counts.max() > space.max_neighbours:
        place = int(counts.argmax())
        raise FalseClaim(
            f"the puzzle {space.name} claims at most {space.max_neighbours} neighbours of a state, and the key "
            f"{int(keys[place])} has {int(counts[place])}",
            "mend max_neighbours",
        )
    out[: neighbours.size] = neighbours
    return int(neighbours.size)


def _check_types(space: StateSpace, keys: Keys, neighbours: np.ndarray, counts: np.ndarray) -> None:
    for what, array in (("neighbours", neighbours), ("numbers of neighbours", counts)):
        if array.dtype.kind not in "iu":
            raise PuzzleError(
                f"the {what} of the puzzle {space.name} are of type {array.dtype}",
                "keys are integers; in numpy, uint64 and a signed integer together make float64",
            )
    if counts.shape != keys.shape or neighbours.ndim != 1 or int(counts.sum()) != neighbours.size or counts.min() < 0:
        raise PuzzleError(
            f"neighbour_keys of the puzzle {space.name} returned {neighbours.size} neighbours, and numbers of them for "
            f"{counts.size} of {keys.size} keys that add up to {int(counts.sum())}"
        )
    if neighbours.dtype.kind == "i" and neighbours.size and neighbours.min() < 0:
        place = int(np.searchsorted(np.cumsum(counts), int(neighbours.argmin()), side="right"))
        raise PuzzleError(
            f"the puzzle {space.name} gives the key {int(keys[place])} the neighbour {int(neighbours.min())}",
            "keys are 0 or more",
        )
