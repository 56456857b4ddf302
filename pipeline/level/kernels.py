"""Compiling or loading every kernel in one place, before tasks run in parallel."""

from __future__ import annotations

import numpy as np

from pipeline.level.duplicates import drop_recent, join_duplicates, mark_members, no_recent_keys, remove_marked
from pipeline.level.places import MOST_MASK_BITS, PlaceTables
from pipeline.level.runs import copy_runs, positions_below
from pipeline.level.sort import sort_in_use
from pipeline.running.memory import configure_allocator
from pipeline.spaces.contract import Places, StateSpace
from pipeline.spaces.guards import asking, expand_safely, roots_of
from storage.keys.digest import digest_of
from storage.keys.gaps import decode, encode


def load_kernels(space: StateSpace) -> None:
    """Run every kernel of a search once, on next to nothing.

    Several processes that compile the same function at once may spoil numba's cache, and what compiling takes belongs
    to the memory that is measured before the budget is divided.
    """
    configure_allocator()
    keys = roots_of(space)
    out = np.empty(2 * space.max_neighbours + 2, dtype=np.uint64)
    expand_safely(space, keys[:1], out, False)
    space.count_states(keys)
    if space.is_checked:
        # Samples of each level are asked for their neighbours.
        with asking(space, "for the neighbours of its first root"):
            space.neighbours(space.state_of(int(keys[0]) >> space.layout.mask_bits << space.layout.mask_bits))
    mask_bits = space.layout.mask_bits
    found = np.zeros(keys.size, dtype=np.bool_)
    join_duplicates(keys.copy(), mask_bits)
    drop_recent(keys.copy(), no_recent_keys(2))
    mark_members(keys, keys, mask_bits, found)
    remove_marked(keys.copy(), found)
    digest_of(keys)
    sort_in_use()
    if space.places is not None and mask_bits <= MOST_MASK_BITS:
        tables = PlaceTables(Places(64, mask_bits), mask_bits, 2)
        one = np.ones(1, dtype=np.uint64)
        tables.mark(0, one)
        tables.count(0, 1)
        tables.clear(one)
        tables.take(0, 1, np.empty(64, dtype=np.uint64))
    ends = np.array([0], dtype=np.int64), np.array([keys.size], dtype=np.int64)
    positions_below(keys, *ends, np.uint64(0))
    copy_runs(keys, *ends, keys.copy())
    decode(encode(np.arange(1, 4, dtype=np.uint64), space.layout.field_bits), np.empty(3, dtype=np.uint64))
