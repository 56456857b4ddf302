"""The arithmetic of the memory budget."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.running.memory import (
    CODED_BYTES,
    KEY_BYTES,
    MIB,
    MOST_CODED_BYTES,
    RESERVE_BYTES,
    WORKER_RESERVE,
    divide,
    worker_bytes,
)
from pipeline.running.tuning import DEFAULT, Tuning
from storage.errors import OutOfBudget
from storage.keys.cut import Cut

budgets = st.integers(0, 1 << 40)
bases = st.integers(100 * MIB, 400 * MIB)
numbers_of_workers = st.integers(1, 64)
rates = st.sampled_from([CODED_BYTES, 5.5, MOST_CODED_BYTES])


@given(budgets, bases, numbers_of_workers, st.integers(0, 2), rates)
def test_the_parts_are_no_more_than_the_whole(total: int, base: int, workers: int, earlier: int, rate: float) -> None:
    fixed = worker_bytes(DEFAULT, earlier, rate)
    smallest = base + RESERVE_BYTES + fixed + DEFAULT.smallest_buffer * KEY_BYTES
    if total < smallest:
        with pytest.raises(OutOfBudget) as caught:
            divide(total, base, workers, earlier_levels=earlier, coded_bytes=rate)
        advised = str(caught.value.remedy).removeprefix("give at least --memory ").removesuffix("MiB")
        divide(int(advised) * MIB, base, workers, earlier_levels=earlier, coded_bytes=rate)
        return
    budget = divide(total, base, workers, earlier_levels=earlier, coded_bytes=rate)
    used = base + RESERVE_BYTES + budget.workers * fixed
    on_disk = used + budget.workers * budget.buffer_keys * KEY_BYTES
    in_memory = used + (budget.workers * budget.memory_buffer_keys + budget.memory_spill_keys) * KEY_BYTES
    assert max(on_disk, in_memory) <= total
    assert 1 <= budget.workers <= workers
    assert DEFAULT.smallest_buffer <= budget.buffer_keys <= DEFAULT.largest_buffer
    assert DEFAULT.smallest_buffer <= budget.memory_buffer_keys <= DEFAULT.largest_memory_buffer
    if budget.workers < workers:
        # One more would not fit.
        assert (budget.workers + 1) * (fixed + DEFAULT.smallest_buffer * KEY_BYTES) + base + RESERVE_BYTES > total


@given(budgets, bases, numbers_of_workers)
def test_sparse_keys_leave_less(total: int, base: int, workers: int) -> None:
    """More bytes of a key in files are taken from the buffers, then from the workers."""
    try:
        budget = divide(total, base, workers)
        sparse = budget.for_keys_of(6.0)
    except OutOfBudget:
        return
    assert budget.for_keys_of(1.0) is budget
    assert sparse.workers <= budget.workers
    fixed = worker_bytes(DEFAULT, 1, 6.0)
    assert base + RESERVE_BYTES + sparse.workers * (fixed + sparse.buffer_keys * KEY_BYTES) <= total
    assert budget.for_keys_of(100.0) == budget.for_keys_of(MOST_CODED_BYTES)


def test_the_part_of_a_worker() -> None:
    """Counted by hand for round sizes."""
    tuning = Tuning(cut=Cut(chunk=1000, frame=100), window=10)
    # Window and marks, a frame of a spill, chunks of two earlier levels and the one collected, coding thrice.
    merging = 10 * 9 + 100 * (8 + 4) + 3 * 8000 + 3 * 4000
    assert worker_bytes(tuning, 2, 4.0) == merging + WORKER_RESERVE
    # A chunk, its file, the room to decode it, and a frame with the room to make it.
    large = Tuning(cut=Cut(chunk=1000, frame=10_000), window=10)
    assert worker_bytes(large, 0, 2.0) == max(1000 * (8 + 4) + 40_000, 90 + 10_000 * 10 + 8000 + 6000) + WORKER_RESERVE


@pytest.mark.parametrize("workers", [1, 2, 32])
def test_small_spills_stay_in_memory(workers: int) -> None:
    budget = divide(4 << 30, 200 * MIB, workers)
    assert budget.fits(budget.memory_spill_keys)
    assert not budget.fits(budget.memory_spill_keys + 1)
    assert budget.memory_spill_keys > 64 << 20
    assert divide(4 << 30, 200 * MIB, workers, Tuning(largest_memory_spill=0)).memory_spill_keys == 0
