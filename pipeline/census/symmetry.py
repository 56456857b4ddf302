"""The four ways to read a shape: from either end, and each in the mirror."""

from __future__ import annotations

from storage.compiler.kernel import kernel


@kernel(counts_references=False)
def canonical_order(joints):
    """How a walk compares with its reading from the other end.

    Parameters
    ----------
    joints : ndarray of uint8, shape (joints,)
        Its first bend, if any, is clockwise.

    Returns
    -------
    int64
        -1 if it is the canonical form of its shape (the smallest of the four readings, as texts), 0 if it is that
        and both ends read the same, 1 if the reading from the other end is smaller.
    """
    size = joints.size
    mirror = False
    for place in range(size - 1, -1, -1):
        if joints[place] != 1:
            mirror = joints[place] == 2
            break
    for place in range(size):
        there = joints[size - 1 - place]
        if mirror:
            there = 2 - there
        if joints[place] != there:
            return -1 if joints[place] < there else 1
    return 0


@kernel(counts_references=False)
def make_canonical(joints):
    """Turn a walk into the canonical form of its shape, in place."""
    for digit in joints:
        if digit != 1:
            if digit == 2:
                for place in range(joints.size):
                    joints[place] = 2 - joints[place]
            break
    if canonical_order(joints) <= 0:
        return
    size = joints.size
    for place in range(size // 2):
        joints[place], joints[size - 1 - place] = joints[size - 1 - place], joints[place]
    for digit in joints:
        if digit != 1:
            if digit == 2:
                for place in range(size):
                    joints[place] = 2 - joints[place]
            break
