"""Kernels on sorted keys: joining equal states, and taking out the states of another level."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from storage.compiler.kernel import kernel


@kernel
def join_duplicates(keys, mask_bits):
    """Join keys that differ in their move masks alone; in place.

    Parameters
    ----------
    keys : ndarray of uint64, shape (n,)
        Ascending. The first places receive one key a state, with the union of its masks, still ascending.
    mask_bits : int
        Width of the move mask.

    Returns
    -------
    int
        Number of states.
    """
    if keys.size == 0:
        return 0
    shift = np.uint64(mask_bits)
    last = 0
    current = keys[0]
    for i in range(1, keys.size):
        key = keys[i]
        if key >> shift == current >> shift:
            current |= key
        else:
            keys[last] = current
            last += 1
            current = key
    keys[last] = current
    return last + 1


def no_recent_keys(size: int) -> NDArray[np.uint64]:
    """A table for :func:`drop_recent` that has seen no key; ``size`` is a power of two, at least 2."""
    recent = np.zeros(size, dtype=np.uint64)
    # No place may hold a key of its own: 0 belongs to the first place, and 1 never does.
    recent[0] = 1
    return recent


@kernel
def drop_recent(keys, recent):
    """Leave out keys that are among those seen last; in place.

    Parameters
    ----------
    keys : ndarray of uint64, shape (n,)
        In any order. The first places receive those that stay, in the same order.
    recent : ndarray of uint64, shape (2**m,)
        For each value of a hash function (multiplication by the golden ratio; Knuth, The Art of Computer Programming,
        volume 3, 6.4) the key that was seen last.

    Returns
    -------
    int
        How many keys stay: each at least when it is seen for the first time.
    """
    bits = 0
    while (1 << bits) < recent.size:
        bits += 1
    shift = np.uint64(64 - bits)
    kept = 0
    for i in range(keys.size):
        key = keys[i]
        place = (key * np.uint64(0x9E3779B97F4A7C15)) >> shift
        known = recent[place]
        recent[place] = key
        keys[kept] = key
        kept += known != key
    return kept


@kernel
def mark_members(keys, others, mask_bits, found):
    """Set ``found[i]`` where the state of ``keys[i]`` is among ``others``; both ascend without repetitions."""
    shift = np.uint64(mask_bits)
    if keys.size == 0 or others.size == 0:
        return
    position = np.searchsorted(keys, (others[0] >> shift) << shift)
    for other in others:
        state = other >> shift
        while position < keys.size and keys[position] >> shift < state:
            position += 1
        if position == keys.size:
            return
        if keys[position] >> shift == state:
            found[position] = True


@kernel
def remove_marked(keys, found):
    """Close the gaps that marked keys leave, in place; returns how many keys stay."""
    kept = 0
    for i in range(keys.size):
        if not found[i]:
            keys[kept] = keys[i]
            kept += 1
    return kept
