"""Keys of snake shapes: which joints are bent, and how each bend turns compared with the first.

A snake of n edges has ``joints = n - 1`` joints. Two bit strings describe its shape: the *bends* (one bit a joint,
joint 1 in the highest bit) and the *turns* (one bit a bend, the first bend in the highest bit). Reflecting the shape
complements the turns; so the turns are stored with the first one 0, and mirror images have the same key. Swapping
head and tail reverses both strings; the canonical key is the smaller of the two.

Key, from the high bits to the low ones: ``bends | turns``, the bends shifted by :func:`turn_bits`. A shape with B bends
fits if ``B - 1 <= turn_bits(joints)``, which holds for every shape of at most 32 joints.
"""

from __future__ import annotations

import numpy as np

from storage.compiler.kernel import kernel
from storage.errors import InvalidInput

MAX_JOINTS = 63


def turn_bits(joints: int) -> int:
    """Width of the turns in a key of ``joints`` joints, in bits."""
    return min(max(joints - 1, 0), 64 - joints)


def key_of(digits: np.ndarray) -> int:
    """Canonical key of a shape.

    Parameters
    ----------
    digits : ndarray of uint8, shape (joints,)
        0 clockwise, 1 straight, 2 anticlockwise.

    Returns
    -------
    int

    Raises
    ------
    InvalidInput
        If the shape has more bends than a 64-bit key of that many joints can hold.
    """
    joints = len(digits)
    width = turn_bits(joints)
    candidates = []
    for ordered in (digits, digits[::-1]):
        bends = turns = 0
        first = None
        for digit in ordered:
            bends = bends << 1 | int(digit != 1)
            if digit != 1:
                first = digit if first is None else first
                turns = turns << 1 | int(digit != first)
        if turns >> width:
            raise InvalidInput(
                f"a snake with {joints} joints and {bends.bit_count()} bends does not fit a 64-bit key",
                remedy=f"at most {width + 1} bends fit with that many joints",
            )
        candidates.append(bends << width | turns)
    return min(candidates)


def digits_of(key: int, joints: int) -> np.ndarray:
    """Joint digits (uint8, shape (joints,)) of a key, its first bend clockwise."""
    width = turn_bits(joints)
    bends, turns = key >> width, key & ((1 << width) - 1)
    digits = np.ones(joints, dtype=np.uint8)
    left = bends.bit_count()
    for joint in range(joints):
        if bends >> (joints - 1 - joint) & 1:
            left -= 1
            digits[joint] = 2 * (turns >> left & 1)
    return digits


@kernel(inline="always")
def insert_bit(bits, place, bit):
    """Put a bit in at ``place``; the bits from there on move up."""
    below = bits & ((np.uint64(1) << place) - np.uint64(1))
    return ((bits ^ below) << np.uint64(1)) | (bit << place) | below


@kernel(inline="always")
def remove_bit(bits, place):
    """Take the bit at ``place`` out; the bits above it move down."""
    below = bits & ((np.uint64(1) << place) - np.uint64(1))
    return ((bits >> (place + np.uint64(1))) << place) | below


@kernel(inline="always")
def first_turn_zero(turns, bends):
    """Complement the turns of ``bends`` bends if the first one is 1."""
    if bends == np.uint64(0):
        return turns
    top = (turns >> (bends - np.uint64(1))) & np.uint64(1)
    return turns ^ ((np.uint64(0) - top) & ((np.uint64(1) << bends) - np.uint64(1)))


@kernel(inline="always")
def reversed_bits(bits, width):
    """The lowest ``width`` bits in reverse order."""
    result = np.uint64(0)
    for _ in range(width):
        result = (result << np.uint64(1)) | (bits & np.uint64(1))
        bits >>= np.uint64(1)
    return result
