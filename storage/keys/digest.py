"""The digest of a set of keys: independent of order and of how the set is cut up.

It is the sum modulo 2**64 of a 64-bit mix of every key. The mix is the finaliser of SplitMix64 (Steele, Lea, Flood,
"Fast splittable pseudorandom number generators", 2014) of the key plus its golden-ratio increment.
"""

from __future__ import annotations

import numpy as np

from storage.compiler.kernel import kernel


@kernel
def digest_of(keys):
    """Digest of an array of uint64, itself a uint64; those of disjoint sets add up modulo 2**64."""
    total = np.uint64(0)
    for i in range(keys.size):  # not over the keys themselves: this form is vectorised
        mixed = keys[i] + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        total += mixed ^ (mixed >> np.uint64(31))
    return total


def add_digests(first: int, second: int) -> int:
    """Digest of the union of two disjoint sets."""
    return (first + second) % 2**64
