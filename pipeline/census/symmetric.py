"""Walks that a reversal leaves in place, grown from the middle at both ends at once and counted by bends."""

from __future__ import annotations

import numpy as np

from pipeline.census.swings import STEP_X, STEP_Y
from storage.compiler.kernel import kernel


@kernel(counts_references=False)
def _grow_both_ways(n, mirrored, occupied, front, back, headings, following, bends, total):
    """The walks of :func:`symmetric_walks` whose first edge goes right; the arrays are room to work in.

    ``front`` and ``back`` are the cells of the two ends, ``headings`` where they go, ``bends`` those so far.
    """
    side = 2 * n + 5
    centre = (n + 2) * side + n + 2
    pairs = (n - 1) // 2
    has_middle_joint = n % 2 == 0
    for middle in range(3):
        if middle != 1 and (mirrored or not has_middle_joint):
            # There is no joint in the middle, or it must read the same in the mirror.
            continue
        for place in range(occupied.size):
            occupied[place] = False
        for place in range(pairs + 1):
            following[place] = 0
        # The two innermost edges meet in the middle joint; or there is one innermost edge.
        headings[0, 0] = (middle - 1) & 3
        headings[0, 1] = 2
        front[0] = centre + STEP_X[headings[0, 0]] + side * STEP_Y[headings[0, 0]]
        back[0] = centre - 1 if has_middle_joint else centre
        bends[0] = middle != 1
        occupied[centre] = True
        occupied[front[0]] = True
        occupied[back[0]] = True
        depth = 0
        while True:
            if depth == pairs or following[depth] > 2:
                if depth == pairs:
                    total[bends[depth]] += 1
                if depth == 0:
                    break
                occupied[front[depth]] = False
                occupied[back[depth]] = False
                following[depth] = 0
                depth -= 1
                continue
            digit = following[depth]
            following[depth] += 1
            # Walked outwards from the middle, the other end turns the other way if both ends read the same.
            turn = digit - 1
            other_turn = turn if mirrored else -turn
            ahead, behind = (headings[depth, 0] + turn) & 3, (headings[depth, 1] + other_turn) & 3
            cell = front[depth] + STEP_X[ahead] + side * STEP_Y[ahead]
            other = back[depth] + STEP_X[behind] + side * STEP_Y[behind]
            if occupied[cell] or occupied[other] or cell == other:
                continue
            depth += 1
            occupied[cell] = True
            occupied[other] = True
            front[depth], back[depth] = cell, other
            headings[depth, 0], headings[depth, 1] = ahead, behind
            bends[depth] = bends[depth - 1] + 2 * (digit != 1)


def symmetric_walks(n: int, mirrored: bool) -> list[int]:
    """Walks of n edges (1 or more) that reversal together with a reflection or half turn leaves in place, by bends.

    Parameters
    ----------
    n : int
    mirrored : bool
        False: those whose joints read the same from both ends (reversal and a reflection; A323188). True: those whose
        joints do in the mirror (reversal and a half turn; A323189).

    Returns
    -------
    list of int
        For 0 to n - 1 bends, in all four directions.
    """
    side = 2 * n + 5
    pairs = (n - 1) // 2
    total = np.zeros(n, dtype=np.int64)
    cells = [np.zeros(pairs + 1, dtype=np.int64) for _ in range(4)]
    front, back, following, bends = cells
    occupied = np.zeros(side * side, dtype=np.bool_)
    headings = np.zeros((pairs + 1, 2), dtype=np.int64)
    _grow_both_ways(n, mirrored, occupied, front, back, headings, following, bends, total)
    return [4 * int(count) for count in total]
