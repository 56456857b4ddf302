"""The shapes that legal moves lead to, in canonical form."""

from __future__ import annotations

import numpy as np

from pipeline.census.rules import Table
from pipeline.census.swings import ANTICLOCKWISE_TURN, CLOCKWISE_TURN, is_blocked, lay_out
from pipeline.census.symmetry import make_canonical
from storage.compiler.kernel import kernel


@kernel(counts_references=False)
def _find_neighbours(joints, xs, ys, numbers, blocked, found, straightened):
    """Canonical forms of what legal moves lead to, in rows of ``found``; returns how many.

    ``straightened`` tells for each whether the move makes a bend straight.
    """
    size = joints.size
    first = np.int64(1)
    lay_out(joints, xs, ys, first)
    count = 0
    for joint in range(first, size + 1):
        for turn in (ANTICLOCKWISE_TURN, CLOCKWISE_TURN):
            turned = np.int64(joints[joint - 1]) + (1 if turn == ANTICLOCKWISE_TURN else -1)
            if turned < 0 or turned > 2 or is_blocked(xs, ys, joint, size + 1, turn, numbers, blocked):
                continue
            for place in range(size):
                found[count, place] = joints[place]
            found[count, joint - 1] = turned
            make_canonical(found[count])
            straightened[count] = turned == 1
            count += 1
    return count


class Neighbours:
    """The shapes that legal moves lead to.

    Parameters
    ----------
    n : int
    table : Table
        Of the collision rule.
    """

    def __init__(self, n: int, table: Table) -> None:
        self._table = table
        self._coordinates = np.zeros((2, n + 1), dtype=np.int64)
        self._found = np.zeros((2 * n, n - 1), dtype=np.uint8)
        self._straightened = np.zeros(2 * n, dtype=np.bool_)

    def of(self, shape: bytes) -> tuple[set[bytes], set[bytes]]:
        """Those with one bend less, and those with one bend more; shapes are the bytes of their joints."""
        joints = np.frombuffer(shape, dtype=np.uint8)
        count = _find_neighbours(joints, *self._coordinates, *self._table, self._found, self._straightened)
        fewer: set[bytes] = set()
        more: set[bytes] = set()
        for row in range(count):
            (fewer if self._straightened[row] else more).add(self._found[row].tobytes())
        return fewer, more
