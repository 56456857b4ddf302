"""Counts the self-avoiding walks that reversal with a reflection, or with a half turn, maps to themselves.

``python -m tests.census.symmetric_walks 38 39 40`` prints A323188(n) and A323189(n), in about a minute for n = 40.

A walk is left in place by reversal and a reflection if its joints read the same from both ends, and by reversal and a
half turn if they do in the mirror. So such walks are grown from the middle, at both ends at once.
"""

from __future__ import annotations

import sys

import numba
import numpy as np


@numba.njit(cache=True)
def symmetric_walks(n, mirrored):
    """Walks of n edges (1 or more) whose joints read the same from both ends, or in the mirror if ``mirrored``."""
    side = 2 * n + 5
    centre = (n + 2) * side + n + 2
    steps = np.array([1, side, -1, -side])
    joints = n - 1
    pairs = joints // 2
    total = 0
    for middle in range(3):
        # An odd number of joints has one in the middle, which must read the same in the mirror itself.
        if joints % 2 == 1:
            if mirrored and middle != 1:
                continue
        elif middle != 1:
            continue
        occupied = np.zeros(side * side, dtype=np.bool_)
        front = np.zeros(pairs + 1, dtype=np.int64)
        back = np.zeros(pairs + 1, dtype=np.int64)
        front_heading = np.zeros(pairs + 1, dtype=np.int64)
        back_heading = np.full(pairs + 1, 2, dtype=np.int64)
        following = np.zeros(pairs + 1, dtype=np.int64)
        occupied[centre] = True
        if joints % 2 == 1:
            back[0] = centre - 1
            front_heading[0] = (middle - 1) & 3
            front[0] = centre + steps[front_heading[0]]
        else:
            back[0] = centre
            front[0] = centre + 1
        occupied[front[0]] = True
        occupied[back[0]] = True
        depth = 0
        while True:
            if depth == pairs or following[depth] > 2:
                total += depth == pairs
                if depth == 0:
                    break
                occupied[front[depth]] = False
                occupied[back[depth]] = False
                following[depth] = 0
                depth -= 1
                continue
            digit = following[depth]
            following[depth] += 1
            # Walked outwards, the back end's left is the walk's right.
            other = 2 - digit if mirrored else digit
            heading = (front_heading[depth] + digit - 1) & 3
            heading_back = (back_heading[depth] + 1 - other) & 3
            cell, cell_back = front[depth] + steps[heading], back[depth] + steps[heading_back]
            if occupied[cell] or occupied[cell_back] or cell == cell_back:
                continue
            depth += 1
            occupied[cell] = True
            occupied[cell_back] = True
            front[depth] = cell
            back[depth] = cell_back
            front_heading[depth] = heading
            back_heading[depth] = heading_back
    return 4 * total


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        edges = int(argument)
        print(edges, symmetric_walks(edges, False), symmetric_walks(edges, True))
