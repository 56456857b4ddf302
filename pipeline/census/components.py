"""The component of a stuck shape: does it lead to the straight snake, or is it closed?

The search is breadth-first, on shapes in canonical form. From every shape that it finds it first goes straight down:
straightening whatever can be straightened until nothing can, which ends in the straight snake for all but stuck
shapes. So a component that is not closed is left after a few shapes, and one that is closed is enumerated.
"""

from __future__ import annotations

import numba
import numpy as np

from pipeline.census.swings import ANTICLOCKWISE_TURN, CLOCKWISE_TURN, is_blocked, lay_out
from pipeline.census.symmetry import make_canonical

UNFOLDS, CLOSED, TOO_LARGE = 0, 1, 2


@numba.njit(nogil=True, cache=True)
def bends_left(joints, xs, ys, numbers, blocked):
    """Straighten, in place, until no bend can be straightened; returns how many bends there are then."""
    lay_out(joints, xs, ys, 1)
    left = 0
    joint = 1
    while joint <= joints.size:
        digit = joints[joint - 1]
        if digit != 1:
            turn = CLOCKWISE_TURN if digit == 2 else ANTICLOCKWISE_TURN
            if not is_blocked(xs, ys, joint, joints.size + 1, turn, numbers, blocked):
                joints[joint - 1] = 1
                lay_out(joints, xs, ys, joint)
                # It may have been in the way of bends that come earlier.
                joint = 1
                left = 0
                continue
            left += 1
        joint += 1
    return left


@numba.njit(nogil=True, cache=True)
def _pack(joints):
    """The joints as two numbers, two bits a joint."""
    high = low = np.uint64(0)
    for place in range(joints.size):
        if place < 32:
            high = (high << np.uint64(2)) | np.uint64(joints[place])
        else:
            low = (low << np.uint64(2)) | np.uint64(joints[place])
    return high, low


@numba.njit(nogil=True, cache=True)
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


@numba.njit(nogil=True, cache=True)
def search_component(start, numbers, blocked, most):
    """Search the component of a shape until it is known to unfold, or complete.

    Parameters
    ----------
    start : ndarray of uint8, shape (joints,)
        A shape in canonical form, of at most 64 joints.
    numbers, blocked : ndarray
        A :class:`~pipeline.census.rules.Table`.
    most : int64
        Shapes to hold in memory.

    Returns
    -------
    outcome : int64
        ``UNFOLDS``, ``CLOSED``, or ``TOO_LARGE`` if it has more than ``most`` shapes.
    shapes : ndarray of uint8, shape (count, joints)
        The shapes that were found; if the component is closed, all of it, in canonical form.
    """
    size = start.size
    xs = np.zeros(size + 2, dtype=np.int64)
    ys = np.zeros(size + 2, dtype=np.int64)
    way_x = np.zeros(size + 2, dtype=np.int64)
    way_y = np.zeros(size + 2, dtype=np.int64)
    slots = np.full(1 << 8, -1, dtype=np.int64)
    packed = np.zeros((1 << 7, 2), dtype=np.uint64)
    shapes = np.zeros((1 << 7, size), dtype=np.uint8)
    shapes[0] = start
    packed[0, 0], packed[0, 1] = _pack(start)
    slots[_slot_of(packed[0, 0], packed[0, 1], slots, packed)] = 0
    count = 1
    if bends_left(start.copy(), way_x, way_y, numbers, blocked) == 0:
        return UNFOLDS, shapes[:1]
    done = 0
    while done < count:
        joints = shapes[done].copy()
        done += 1
        lay_out(joints, xs, ys, 1)
        for joint in range(1, size + 1):
            for turn in (ANTICLOCKWISE_TURN, CLOCKWISE_TURN):
                digit = joints[joint - 1]
                turned = np.int64(digit) + (1 if turn == ANTICLOCKWISE_TURN else -1)
                if turned < 0 or turned > 2 or is_blocked(xs, ys, joint, joints.size + 1, turn, numbers, blocked):
                    continue
                neighbour = joints.copy()
                neighbour[joint - 1] = turned
                make_canonical(neighbour)
                high, low = _pack(neighbour)
                slot = _slot_of(high, low, slots, packed)
                if slots[slot] >= 0:
                    continue
                if count == most:
                    return TOO_LARGE, shapes[:count]
                if count == packed.shape[0]:
                    packed = np.concatenate((packed, np.zeros_like(packed)))
                    shapes = np.concatenate((shapes, np.zeros_like(shapes)))
                    slots = np.full(2 * slots.size, -1, dtype=np.int64)
                    for row in range(count):
                        slots[_slot_of(packed[row, 0], packed[row, 1], slots, packed)] = row
                    slot = _slot_of(high, low, slots, packed)
                slots[slot] = count
                shapes[count] = neighbour
                packed[count, 0] = high
                packed[count, 1] = low
                count += 1
                if bends_left(neighbour, way_x, way_y, numbers, blocked) == 0:
                    return UNFOLDS, shapes[:count]
    return CLOSED, shapes[:count]
