"""Snakes as lines of text, a block of keys at once."""

from __future__ import annotations

import numpy as np

from storage.compiler.kernel import kernel

ZERO, END_OF_LINE = ord("0"), ord("\n")


@kernel
def write_lines(keys, joints, width, lines):
    """Write the joint digits of every key, first bend clockwise, and the end of the line.

    Parameters
    ----------
    keys : ndarray of uint64, shape (n,)
    joints : int
    width : int
        Bits of the turns (:func:`~pipeline.spaces.snake.keys.turn_bits`).
    lines : ndarray of uint8, shape (n, joints + 1)
        Receives ASCII characters.
    """
    mask = (np.uint64(1) << np.uint64(width)) - np.uint64(1)
    for line in range(keys.size):
        bends = keys[line] >> np.uint64(width)
        # The turns of the bends that are left, the next one in the lowest place: from the last joint to the first. The
        # first bend's is 0 and need not have a place.
        turns = keys[line] & mask
        for joint in range(joints - 1, -1, -1):
            bent = bends & np.uint64(1)
            digit = (np.uint64(1) - bent) + ((turns & bent) << np.uint64(1))
            lines[line, joint] = np.uint8(digit + np.uint64(ZERO))
            bends >>= np.uint64(1)
            turns >>= bent
        lines[line, joints] = np.uint8(END_OF_LINE)
