"""The memory budget of a job, and what it is spent on.

The budget covers the whole process: interpreter, libraries and compiled kernels (measured when the search starts), a
reserve, then per worker a fixed part for decoding and encoding chunks and one large buffer, then spills that stay in
memory.
"""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress
from dataclasses import dataclass

import psutil

from pipeline.running.control_groups import memory_limit, processor_limit
from pipeline.running.tuning import DEFAULT, Tuning
from storage.errors import OutOfBudget
from storage.sizes import size

KEY_BYTES = 8
MIB = 1 << 20
# Bytes of a key in a frame: as a rule less than the first number, which holds until a level is measured, and never more
# than the second in a full chunk: the gaps of 2**20 ascending keys of 64 bits take 7.3 bytes on average, wherever they
# lie, and keys with fields have shorter gaps.
CODED_BYTES = 4.0
MOST_CODED_BYTES = 8.0
# What the allocator keeps of a worker's memory in between, the stack of its thread, and what sorting and Blosc2 need to
# work.
WORKER_RESERVE = 6 * MIB
# The same, and kernels that are still to be loaded, for commands that only read.
READER_RESERVE = 64 * MIB
# What is left to the interpreter: manifests, plans, indexes of spills, libraries that are imported late.
RESERVE_BYTES = 32 * MIB


@dataclass(frozen=True)
class Budget:
    """How the memory is divided.

    Attributes
    ----------
    total : int
        Bytes, as the user gave it.
    base : int
        Bytes in use before the search.
    workers : int
        Tasks that run at the same time.
    buffer_keys : int
        Size of each worker's buffer while a level's spills go to disk.
    memory_buffer_keys, memory_spill_keys : int
        While they stay in memory: size of each worker's buffer, and keys of spills that fit.
    earlier_levels : int
        Levels that the merge reads to remove their states.
    coded_bytes : float
        Bytes of a key in a file that the workers' parts suffice for.
    tuning : Tuning
    """

    total: int
    base: int
    workers: int
    buffer_keys: int
    memory_buffer_keys: int
    memory_spill_keys: int
    earlier_levels: int = 1
    coded_bytes: float = CODED_BYTES
    tuning: Tuning = DEFAULT

    def for_keys_of(self, coded_bytes: float) -> Budget:
        """The budget for keys that take so many bytes in a file; less for buffers, or fewer workers, if that is more.

        Raises
        ------
        OutOfBudget
        """
        if coded_bytes <= self.coded_bytes:
            return self
        coded_bytes = min(coded_bytes, MOST_CODED_BYTES)
        return divide(self.total, self.base, self.workers, self.tuning, self.earlier_levels, coded_bytes)

    def fits(self, spilled_keys: int) -> bool:
        """Whether the spills of a level can stay in memory."""
        return spilled_keys <= self.memory_spill_keys


def available_memory() -> int:
    """Bytes of memory that this process may use: the machine's, or its control groups' if that is less."""
    total: int = psutil.virtual_memory().total
    limit = memory_limit()
    return total if limit is None else min(total, limit)


def available_workers() -> int:
    """Processors that this process may use: those that it is bound to, or the quota of its control groups if less."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limit = processor_limit()
    return processors if limit is None else min(processors, limit)


def resident_bytes() -> int:
    """Resident memory of this process and its children, in bytes."""
    process = psutil.Process()
    total: int = process.memory_info().rss
    for child in process.children(recursive=True):
        try:
            total += child.memory_info().rss
        except psutil.Error:
            continue
    return total


def configure_allocator() -> None:
    """Make the C library keep freed memory of the size of a chunk, and give larger blocks back to the system.

    By default glibc keeps an arena for every thread and raises the size of the blocks that it gives back as it goes, so
    that freed buffers may stay resident. Chunks are better kept: they are needed again at once, and fresh pages cost
    more than decoding into them.
    """
    if not sys.platform.startswith("linux"):
        return
    try:
        library = ctypes.CDLL(None)
        arena_max, mmap_threshold, trim_threshold = -8, -3, -1
        library.mallopt(arena_max, 2)
        library.mallopt(mmap_threshold, 12 * MIB)
        library.mallopt(trim_threshold, 16 * MIB)
    except (OSError, AttributeError):  # another C library
        return


def release_free_memory() -> None:
    """Give memory that the C library keeps, though nobody uses it, back to the system."""
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def worker_bytes(tuning: Tuning, earlier_levels: int, coded_bytes: float) -> int:
    """What a worker holds at most besides its large buffer.

    Parameters
    ----------
    tuning : Tuning
    earlier_levels : int
        Levels that the merge reads to remove their states.
    coded_bytes : float
        Bytes of a key in a file.

    Returns
    -------
    int
        Bytes. Expanding, it is a chunk of the frontier with its file and the room to decode it, and a frame of a spill
        that is written. Merging, it is a window with its marks, a frame of a spill that is read, a chunk of every
        earlier level, the chunk that is collected, and the room to code a chunk with its file twice (as it comes from
        the codec, and with its header).
    """
    chunk, frame = tuning.cut.chunk, tuning.cut.frame
    expanding = chunk * (KEY_BYTES + 2 * coded_bytes) + 2 * frame * coded_bytes
    merging = tuning.window * (KEY_BYTES + 1) + frame * (KEY_BYTES + coded_bytes)
    merging += (earlier_levels + 1) * chunk * KEY_BYTES + 3 * chunk * coded_bytes
    return int(max(expanding, merging)) + WORKER_RESERVE


def divide(
    total: int,
    base: int,
    workers: int,
    tuning: Tuning = DEFAULT,
    earlier_levels: int = 1,
    coded_bytes: float = CODED_BYTES,
) -> Budget:
    """Divide a budget.

    Parameters
    ----------
    total, base : int
        Bytes allowed, and bytes in use already.
    workers : int
        Workers wanted; fewer if the memory does not suffice for all of them.
    tuning : Tuning
    earlier_levels : int
        Levels that the merge reads to remove their states.
    coded_bytes : float
        Bytes of a key in a file.

    Returns
    -------
    Budget
        ``base``, the reserve and the parts of all workers together are at most ``total``.

    Raises
    ------
    OutOfBudget
        If not even one worker fits.
    """
    fixed = worker_bytes(tuning, earlier_levels, coded_bytes)
    left = total - base - RESERVE_BYTES
    needed = fixed + tuning.smallest_buffer * KEY_BYTES
    if left < needed:
        least = -(-(base + RESERVE_BYTES + needed) // MIB)
        raise OutOfBudget(
            f"a memory budget of {total // MIB} MiB is too small: the program itself takes {base // MIB} MiB",
            f"give at least --memory {least}MiB",
        )
    workers = min(workers, left // needed)
    keys = (left - workers * fixed) // KEY_BYTES
    buffer = min(max(keys // workers, tuning.smallest_buffer), tuning.largest_buffer)
    # With spills in memory the merge needs no buffer; a larger one helps expand to find duplicates early.
    memory_buffer = min(max(keys // (8 * workers), tuning.smallest_buffer), tuning.largest_memory_buffer)
    memory_spill = min(max(0, keys - workers * memory_buffer), tuning.largest_memory_spill)
    return Budget(total, base, workers, buffer, memory_buffer, memory_spill, earlier_levels, coded_bytes, tuning)


def reading_bytes(tuning: Tuning = DEFAULT) -> int:
    """What reading a level takes: a chunk, its file, the room to decode it, and what is made of it."""
    return int(tuning.cut.chunk * (2 * KEY_BYTES + 2 * MOST_CODED_BYTES)) + WORKER_RESERVE


def check_memory(memory: int | None, needed: int) -> None:
    """Make sure that this process may take some more.

    Parameters
    ----------
    memory : int, optional
        Bytes allowed; half of what the machine allows unless given.
    needed : int
        Bytes, besides what it takes now.

    Raises
    ------
    OutOfBudget
    """
    total = _allowed(memory)
    expected = resident_bytes() + READER_RESERVE + needed
    if expected > total:
        raise OutOfBudget(
            f"a memory budget of {size(total)} is too small: this takes about {size(expected)}",
            f"give at least --memory {-(-expected // MIB)}MiB",
        )


def _allowed(memory: int | None) -> int:
    """A budget in bytes; half of what the machine allows unless given."""
    return available_memory() // 2 if memory is None else memory


def memory_left(memory: int | None) -> int:
    """Bytes of a budget (half of what the machine allows unless given) that tasks may take now."""
    release_free_memory()
    return max(0, _allowed(memory) - resident_bytes() - RESERVE_BYTES)


def workers_within(memory: int | None, workers: int, needed: int) -> int:
    """How many of some workers fit a budget if each takes so many bytes.

    Raises
    ------
    OutOfBudget
        If not even one fits.
    """
    left = memory_left(memory)
    if left < needed:
        least = resident_bytes() + RESERVE_BYTES + needed
        raise OutOfBudget(
            f"a memory budget of {size(_allowed(memory))} is too small",
            f"give at least --memory {-(-least // MIB)}MiB",
        )
    return min(workers, left // needed)


def budget_for(
    memory: int | None,
    workers: int,
    tuning: Tuning = DEFAULT,
    earlier_levels: int = 1,
    on_this_machine: bool = True,
) -> Budget:
    """Divide what is allowed, given what this process takes now, its kernels loaded.

    Parameters
    ----------
    memory : int, optional
        Bytes allowed; half of what the machine allows unless given.
    workers, tuning, earlier_levels
        As for :func:`divide`.
    on_this_machine : bool
        Whether the workers are threads of this process.

    Raises
    ------
    OutOfBudget
        If not even one worker fits, or the machine does not have so much.
    """
    available = available_memory()
    if memory is not None and memory > available and on_this_machine:
        raise OutOfBudget(
            f"a memory budget of {size(memory)} is more than the {size(available)} that this machine or its container "
            "allows",
            "give less with --memory",
        )
    release_free_memory()
    total = available // 2 if memory is None else memory
    return divide(total, resident_bytes(), workers, tuning, earlier_levels)
