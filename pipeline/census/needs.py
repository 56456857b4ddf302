"""What the tasks of a census take in memory."""

from __future__ import annotations

MIB = 1 << 20
# Walks, windows, tables and prefixes.
SEARCHING = 6 * MIB
# Counting the walks of 26 edges in the highest of their rectangles took 85 MiB, 149 MiB of 28 edges, and so on: the
# boundaries of a walk are that many more for each edge.
BENDS_AT_26 = 100 * MIB
GROWTH_OF_BENDS = 1.47
# Of a shape of a component, besides its joints: as two numbers, and two slots of a hash table; all of that again while
# the room grows.
SHAPE_BYTES = 2 * 8 + 2 * 8
GROWING = 1.25


def task_bytes(phase: str, n: int) -> int:
    """Bytes that a task of a phase takes at most, components aside (:func:`shapes_in`)."""
    if phase == "bends":
        return SEARCHING + int(BENDS_AT_26 * GROWTH_OF_BENDS ** (n - 26))
    return SEARCHING


def shapes_in(memory: int, n: int) -> int:
    """How many shapes of a component a task may hold in so many bytes: a power of two, at least 2**7."""
    return 1 << max(7, int(memory / (GROWING * (n - 1 + SHAPE_BYTES))).bit_length() - 1)
