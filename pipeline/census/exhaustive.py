"""Every shape once, without pruning and without storing any: the independent check.

Walks whose first bend is clockwise are generated edge by edge. Each shape but the straight one is found from both of
its ends (from one, if both read the same), and counted where its joints, as a number, are not larger than its joints
read from the other end with the first bend clockwise. Nothing is shared with the pruned search but the swing tables.
"""

from __future__ import annotations

import numpy as np

from pipeline.census.swings import STEP_X, STEP_Y
from storage.compiler.kernel import kernel

MAX_EDGES = 33  # two bits a joint in 64 bits


@kernel
def count_shapes(prefix, n, numbers, blocked, find_stuck, bends_of, found):
    """Count the shapes that begin in a given way.

    Parameters
    ----------
    prefix : ndarray of uint8, shape (p - 1,)
        Joints of a self-avoiding walk of p edges, 1 <= p <= n, whose first bend is clockwise.
    n : int64
        2 to 33.
    numbers, blocked : ndarray
        A :class:`~pipeline.census.rules.Table` of radius n.
    find_stuck : bool
        Whether to look for stuck shapes.
    bends_of : ndarray of int64, shape (n,)
        Gets the number of shapes for each number of bends added.
    found : ndarray of uint8, shape (m, n - 1)
        Receives the joints of the stuck shapes, in canonical form.

    Returns
    -------
    shapes, stuck, nodes : int64
        If ``stuck`` is more than ``m``, those that did not fit are lost. Nodes are walks of any length.
    """
    side = 2 * n + 1
    middle = n * side + n
    point_number = numbers.reshape(-1)
    occupied = np.zeros(side * side, dtype=np.bool_)
    step = STEP_Y * side + STEP_X
    cells = np.zeros(n + 1, dtype=np.int64)
    rows = np.zeros(n + 1, dtype=np.int64)  # of the edges behind the vertices, for a pivot in cell 0
    headings = np.zeros(n + 1, dtype=np.int64)
    digits = np.ones(n + 1, dtype=np.int64)
    next_digit = np.zeros(n + 1, dtype=np.int64)
    bends = np.zeros(n + 1, dtype=np.int64)
    # The joints so far as a number, two bits each: the first joint highest, and the last joint highest.
    forward = np.zeros(n + 1, dtype=np.uint64)
    backward = np.zeros(n + 1, dtype=np.uint64)
    twos = np.uint64(0)
    for _ in range(n - 1):
        twos = (twos << np.uint64(2)) | np.uint64(2)
    cells[1] = 1
    occupied[middle] = True
    occupied[middle + 1] = True
    floor = prefix.size + 1
    shapes = 0
    stuck = 0
    nodes = 0
    depth = np.int64(1)
    last_bend = np.zeros(n + 1, dtype=np.int64)
    # The earliest bend whose straightening no vertex so far blocks, or 0; and the points that would block it.
    open_bend = np.zeros(n + 1, dtype=np.int64)
    blocking = np.zeros((n + 1, blocked.shape[1]), dtype=np.uint64)
    while True:
        if depth < floor:
            digit = np.int64(prefix[depth - 1])
        else:
            digit = next_digit[depth]
            if depth == n or digit > 2:
                if depth == floor:
                    break
                occupied[middle + cells[depth]] = False
                depth -= 1
                continue
            next_digit[depth] = digit + 1
            if digit == 2 and bends[depth] == 0:
                continue
        heading = (headings[depth] + digit - 1) & 3
        cell = cells[depth] + step[heading]
        if occupied[middle + cell]:
            continue
        vertex = depth + 1
        digits[depth] = digit
        headings[vertex] = heading
        cells[vertex] = cell
        rows[depth] = 2 * min(cells[depth], cell) + (heading & 1)
        bent = np.int64(digit != 1)
        bends[vertex] = bends[depth] + bent
        last_bend[vertex] = depth if bent else last_bend[depth]
        forward[vertex] = (forward[depth] << np.uint64(2)) | np.uint64(digit)
        backward[vertex] = backward[depth] | (np.uint64(digit) << np.uint64(2 * (depth - 1)))
        nodes += 1
        if find_stuck:
            joint = open_bend[depth]
            if joint:
                number = point_number[middle + cell - cells[joint]]
                shift = np.uint64(2 * (number & 31) + (1 if digits[joint] == 2 else 0))
                if (blocking[joint, number >> 5] >> shift) & np.uint64(1):
                    joint = _next_open(joint + 1, vertex, cells, rows, digits, point_number, blocked, blocking)
            elif bent:
                # All others are blocked, and what is blocked stays so.
                joint = _next_open(depth, vertex, cells, rows, digits, point_number, blocked, blocking)
            open_bend[vertex] = joint
        if vertex < n:
            occupied[middle + cell] = True
            next_digit[vertex] = 0
            depth = vertex
            continue
        # A whole walk. Read from the other end, left and right change places; and so they do in the mirror.
        other = backward[n]
        if digits[last_bend[n]] == 2:
            other = twos - other
        if forward[n] <= other:
            shapes += 1
            bends_of[bends[n]] += 1
            if find_stuck and bends[n] and open_bend[n] == 0:
                if stuck < found.shape[0]:
                    for joint in range(1, n):
                        found[stuck, joint - 1] = digits[joint]
                stuck += 1
        if floor == n:
            break
    return shapes, stuck, nodes


@kernel
def _next_open(first, last, cells, rows, digits, point_number, blocked, blocking):
    """The earliest bend from joint ``first`` on that no vertex up to ``last`` blocks; 0 if there is none.

    The points that would block it are left in its row of ``blocking``.
    """
    n = cells.size - 1
    side = 2 * n + 1
    middle = n * side + n
    for joint in range(first, last):
        if digits[joint] == 1:
            continue
        reach = n - joint
        words = (4 * reach * (reach + 1) + 63) // 64
        for word in range(words):
            blocking[joint, word] = 0
        for edge in range(joint):
            row = 2 * (middle - cells[joint]) + rows[edge]
            for word in range(words):
                blocking[joint, word] |= blocked[row, word]
        turn = 1 if digits[joint] == 2 else 0
        is_open = True
        for vertex in range(joint + 1, last + 1):
            number = point_number[middle + cells[vertex] - cells[joint]]
            if (blocking[joint, number >> 5] >> np.uint64(2 * (number & 31) + turn)) & np.uint64(1):
                is_open = False
                break
        if is_open:
            return joint
    return 0
