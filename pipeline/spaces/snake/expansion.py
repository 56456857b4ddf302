"""The expand kernel of the snake: a sorted block of keys in, the keys of the neighbours out.

Keys in ascending order share long heads, so the work for the shared part is kept. For every pivot the kernel holds the
set of points that its resting part blocks (two bits a point, the union of rows of the blocking table). Adding a vertex
costs one look-up a pivot; only pivots behind the shared head need a new set, and the fewer vertices follow a pivot,
the shorter its set is.
"""

from __future__ import annotations

import numpy as np

from pipeline.spaces.snake.keys import first_turn_zero, insert_bit, remove_bit, reversed_bits
from pipeline.spaces.snake.swing import ANTICLOCKWISE_BLOCKED, CLOCKWISE_BLOCKED
from storage.compiler.kernel import kernel


@kernel(inline="always")
def canonical_key(bends, turns, back_bends, back_turns, count, width):
    """Smaller key of a shape read from its head and from its tail; -1 (all ones) if it does not fit."""
    turns = first_turn_zero(turns, count)
    back_turns = first_turn_zero(back_turns, count)
    if (turns | back_turns) >> width:
        return ~np.uint64(0)
    return min((bends << width) | turns, (back_bends << width) | back_turns)


@kernel
def expand_block(keys, out, joints, width, numbers, table, swept, bends_only):
    """Write the neighbours of a sorted block of shapes.

    Parameters
    ----------
    keys : ndarray of uint64, shape (n,)
        Ascending canonical keys.
    out : ndarray of uint64, shape (m,)
        Receives canonical neighbour keys, unsorted, with repetitions; ``m`` at least ``2 * joints``.
    joints, width : int64
        Number of joints, and of key bits for the turns.
    numbers, table : ndarray
        From :func:`~pipeline.spaces.snake.swing.point_numbers` and
        :func:`~pipeline.spaces.snake.swing.blocking_table`, for ``radius = joints + 1``.
    swept : bool
        Whether the rows of the table stand for edges or for vertices of the resting part.
    bends_only : bool
        Write only the neighbours with one bend more.

    Returns
    -------
    consumed, written : int
        Keys expanded (fewer than ``n`` when ``out`` is full) and neighbours written.
    bending, straightening : int
        Legal moves of all shapes the keys stand for (a shape, its reflection, and both with head and tail swapped,
        as far as they differ) that bend a joint, and that straighten one.
    fits : bool
        False if some neighbour did not fit a key; what was written is then of no use.
    """
    n = joints + 1
    one = np.uint64(1)
    side = numbers.shape[0]
    radius = side // 2
    point_number = numbers.reshape(-1)
    wide = np.uint64(width)
    code = np.full(joints + 2, 255, dtype=np.uint8)
    xs = np.zeros(n + 1, dtype=np.int64)
    ys = np.zeros(n + 1, dtype=np.int64)
    headings = np.zeros(n + 1, dtype=np.int64)
    # Where the row of resting edge (or vertex) i is for a pivot in the origin, and where the pivots are.
    rest_rows = np.zeros(n + 1, dtype=np.int64)
    centre = (radius * side + radius) * 2
    step_x = np.array([1, 0, -1, 0], dtype=np.int64)
    step_y = np.array([0, 1, 0, -1], dtype=np.int64)
    xs[1] = 1
    cells = np.zeros(n + 1, dtype=np.int64)
    cells[1] = 1
    words_for = np.zeros(n + 1, dtype=np.int64)
    for pivot in range(1, n):
        reach = n - pivot
        words_for[pivot] = (4 * reach * (reach + 1) + 63) // 64
    blocking = np.zeros((n + 1, table.shape[1]), dtype=np.uint64)
    # met[w, p]: what vertices up to w meet when they swing about pivot p.
    met = np.zeros((n + 1, n + 1), dtype=np.uint8)
    consumed = 0
    written = 0
    bending = 0
    straightening = 0
    for key in keys:
        if written + 2 * joints > out.size:
            break
        consumed += 1
        bends = key >> wide
        turns = key & ((one << wide) - one)
        count = 0
        rest = bends
        while rest:
            rest &= rest - one
            count += 1
        # Joints up to the first one that differs from the shape before.
        left = count
        shared = joints
        for joint in range(1, joints + 1):
            value = np.uint8(1)
            if (bends >> np.uint64(joints - joint)) & one:
                left -= 1
                value = np.uint8(2 * ((turns >> np.uint64(left)) & one))
            if value != code[joint]:
                code[joint] = value
                if shared == joints:
                    shared = joint - 1
        # Vertices up to ``start`` and the resting parts of the pivots up to there are those of the shape before.
        start = shared + 1
        first_pivot = start + 1
        if consumed == 1:
            start = first_pivot = 1
        for vertex in range(start + 1, n + 1):
            heading = (headings[vertex - 1] + np.int64(code[vertex - 1]) - 1) & 3
            headings[vertex] = heading
            xs[vertex] = xs[vertex - 1] + step_x[heading]
            ys[vertex] = ys[vertex - 1] + step_y[heading]
            cells[vertex] = ys[vertex] * side + xs[vertex]
        for edge in range(start - 1, n):
            if swept:
                low = min(cells[edge], cells[edge + 1])
                rest_rows[edge] = low * 2 + np.int64(xs[edge] == xs[edge + 1])
            else:
                rest_rows[edge] = cells[edge] * 2
        # Pivots behind the shared head: join the rows of their resting parts.
        for pivot in range(first_pivot, n):
            words = words_for[pivot]
            base = centre - 2 * cells[pivot]
            if words == 1:
                joined = np.uint64(0)
                for edge in range(pivot):
                    joined |= table[base + rest_rows[edge], 0]
                blocking[pivot, 0] = joined
            else:
                for word in range(words):
                    blocking[pivot, word] = 0
                for edge in range(pivot):
                    row = base + rest_rows[edge]
                    for word in range(words):
                        blocking[pivot, word] |= table[row, word]
        middle = radius * side + radius
        for vertex in range(start + 1, n + 1):
            here = middle + cells[vertex]
            for pivot in range(1, vertex):
                number = point_number[here - cells[pivot]]
                found = (blocking[pivot, number >> 5] >> np.uint64(2 * (number & 31))) & np.uint64(3)
                met[vertex, pivot] = met[vertex - 1, pivot] | np.uint8(found)
        blocked = met[n]
        back_bends = reversed_bits(bends, joints)
        back_turns = reversed_bits(turns, count)
        weight = 4
        if count == 0:
            weight = 1
        elif back_bends == bends and first_turn_zero(back_turns, np.uint64(count)) == turns:
            weight = 2
        behind = 0
        for joint in range(joints, 0, -1):
            place = np.uint64(joints - joint)
            back_place = np.uint64(joint - 1)
            turn_place = np.uint64(behind)
            if code[joint] == 1:
                back_turn_place = np.uint64(count - behind)
                for turn in range(2):
                    barrier = ANTICLOCKWISE_BLOCKED if turn == 1 else CLOCKWISE_BLOCKED
                    if blocked[joint] & barrier:
                        continue
                    bending += weight
                    neighbour = canonical_key(
                        bends | (one << place),
                        insert_bit(turns, turn_place, np.uint64(turn)),
                        back_bends | (one << back_place),
                        insert_bit(back_turns, back_turn_place, np.uint64(turn)),
                        np.uint64(count + 1),
                        wide,
                    )
                    if neighbour == ~np.uint64(0):
                        return consumed, written, bending, straightening, False
                    out[written] = neighbour
                    written += 1
            else:
                barrier = CLOCKWISE_BLOCKED if code[joint] == 2 else ANTICLOCKWISE_BLOCKED
                if not blocked[joint] & barrier:
                    straightening += weight
                    if not bends_only:
                        out[written] = canonical_key(
                            bends & ~(one << place),
                            remove_bit(turns, turn_place),
                            back_bends & ~(one << back_place),
                            remove_bit(back_turns, np.uint64(count - 1 - behind)),
                            np.uint64(count - 1),
                            wide,
                        )
                        written += 1
                behind += 1
    return consumed, written, bending, straightening, True
