"""The component of a stuck shape: does it lead to the straight snake, or is it closed?

The search is breadth-first, on shapes in canonical form. From every shape that it finds it first goes straight down:
straightening whatever can be straightened until nothing can, which ends in the straight snake for all but stuck
shapes. So a component that is not closed is left after a few shapes, and one that is closed is enumerated.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.census.rules import Table
from pipeline.census.swings import ANTICLOCKWISE_TURN, CLOCKWISE_TURN, is_blocked, lay_out
from pipeline.census.symmetry import make_canonical
from storage.compiler.kernel import kernel

UNFOLDS, CLOSED, FULL = 0, 1, 2
SMALLEST_ROOM = 1 << 7


@kernel(counts_references=False)
def bends_left(joints, xs, ys, numbers, blocked):
    """Straighten, in place, until no bend can be straightened; returns how many bends there are then."""
    first = np.int64(1)
    lay_out(joints, xs, ys, first)
    left = 0
    joint = first
    while joint <= joints.size:
        digit = joints[joint - 1]
        if digit != 1:
            turn = CLOCKWISE_TURN if digit == 2 else ANTICLOCKWISE_TURN
            if not is_blocked(xs, ys, joint, joints.size + 1, turn, numbers, blocked):
                joints[joint - 1] = 1
                lay_out(joints, xs, ys, joint)
                # It may have been in the way of bends that come earlier.
                joint = first
                left = 0
                continue
            left += 1
        joint += 1
    return left


@kernel(counts_references=False)
def _pack(joints):
    """The joints as two numbers, two bits a joint."""
    high = low = np.uint64(0)
    for place in range(joints.size):
        if place < 32:
            high = (high << np.uint64(2)) | np.uint64(joints[place])
        else:
            low = (low << np.uint64(2)) | np.uint64(joints[place])
    return high, low


@kernel(counts_references=False)
def _slot_of(high, low, slots, shapes):
    """Where a shape is in a hash table of rows of ``shapes``, or the free place where it belongs."""
    mixed = (high ^ (low * np.uint64(0x9E3779B97F4A7C15))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(29)
    slot = np.int64(mixed & np.uint64(slots.size - 1))
    while slots[slot] >= 0:
        row = slots[slot]
        if shapes[row, 0] == high and shapes[row, 1] == low:
            break
        slot = (slot + 1) & (slots.size - 1)
    return slot


@kernel(counts_references=False)
def _search(numbers, blocked, shapes, packed, slots, xs, ys, joints, neighbour):
    """Search the component of the shape in row 0 of ``shapes``; returns the outcome and the number of shapes found.

    ``packed`` has the same rows as numbers, and ``slots`` (-1 for a free place) is a hash table of rows. The other
    arrays are room to work in. The outcome is ``FULL`` if the rows do not suffice.
    """
    size = joints.size
    first = np.int64(1)
    packed[0, 0], packed[0, 1] = _pack(shapes[0])
    slots[_slot_of(packed[0, 0], packed[0, 1], slots, packed)] = 0
    count = 1
    for place in range(size):
        neighbour[place] = shapes[0, place]
    if bends_left(neighbour, xs, ys, numbers, blocked) == 0:
        return UNFOLDS, count
    done = 0
    while done < count:
        for place in range(size):
            joints[place] = shapes[done, place]
        done += 1
        for joint in range(first, size + 1):
            for turn in (ANTICLOCKWISE_TURN, CLOCKWISE_TURN):
                turned = np.int64(joints[joint - 1]) + (1 if turn == ANTICLOCKWISE_TURN else -1)
                if turned < 0 or turned > 2:
                    continue
                lay_out(joints, xs, ys, first)
                if is_blocked(xs, ys, joint, size + 1, turn, numbers, blocked):
                    continue
                for place in range(size):
                    neighbour[place] = joints[place]
                neighbour[joint - 1] = turned
                make_canonical(neighbour)
                high, low = _pack(neighbour)
                slot = _slot_of(high, low, slots, packed)
                if slots[slot] >= 0:
                    continue
                if count == shapes.shape[0]:
                    return FULL, count
                slots[slot] = count
                packed[count, 0] = high
                packed[count, 1] = low
                for place in range(size):
                    shapes[count, place] = neighbour[place]
                count += 1
                if bends_left(neighbour, xs, ys, numbers, blocked) == 0:
                    return UNFOLDS, count
    return CLOSED, count


def search_component(start: NDArray[np.uint8], table: Table, most: int) -> tuple[int, NDArray[np.uint8]]:
    """Search the component of a shape until it is known to unfold, or complete.

    Parameters
    ----------
    start : ndarray of uint8, shape (joints,)
        A shape in canonical form, of at most 64 joints.
    table : Table
    most : int
        Shapes to hold in memory, a power of two.

    Returns
    -------
    outcome : int
        ``UNFOLDS``, ``CLOSED``, or ``FULL`` if it has more than ``most`` shapes.
    shapes : ndarray of uint8, shape (count, joints)
        The shapes that were found; if the component is closed, all of it, in canonical form.
    """
    coordinates = np.zeros((2, start.size + 2), dtype=np.int64)
    work = np.zeros((2, start.size), dtype=np.uint8)
    rows = SMALLEST_ROOM
    while True:
        shapes = np.zeros((rows, start.size), dtype=np.uint8)
        shapes[0] = start
        packed = np.zeros((rows, 2), dtype=np.uint64)
        slots = np.full(2 * rows, -1, dtype=np.int64)
        outcome, count = _search(*table, shapes, packed, slots, *coordinates, *work)
        if outcome != FULL or rows >= most:
            return outcome, shapes[:count]
        # Beginning again costs no more than the last attempt.
        rows = min(4 * rows, most)
