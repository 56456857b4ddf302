"""The memory budget of a job, and what it is spent on.

The budget covers the whole process: interpreter, libraries and compiled kernels (measured when the search starts),
then per worker a fixed part for decoding and encoding chunks and one large buffer, then spills that stay in memory.
"""

from __future__ import annotations

import ctypes
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil

from storage.errors import OutOfBudget
from storage.keys.partition import CHUNK_KEYS

KEY_BYTES = 8
MIB = 1 << 20
# Per worker: a decoded chunk, a chunk being collected, a window of the merge, the scratch of the codec, and what the
# memory allocator keeps of them in between.
WORKER_BYTES = 4 * CHUNK_KEYS * KEY_BYTES + 8 * MIB
# What is left to the interpreter, to Zarr's event loop and to the memory allocator.
RESERVE_BYTES = 48 * MIB
SMALLEST_BUFFER = 1 << 20
LARGEST_BUFFER = 1 << 25
LARGEST_MEMORY_BUFFER = 1 << 22


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
    """

    total: int
    base: int
    workers: int
    buffer_keys: int
    memory_buffer_keys: int
    memory_spill_keys: int

    def fits(self, spilled_keys: int) -> bool:
        """Whether the spills of a level can stay in memory."""
        return spilled_keys <= self.memory_spill_keys


def available_memory() -> int:
    """Bytes of memory that this process may use: the machine's, or its control group's if that is less."""
    limits: list[int] = [psutil.virtual_memory().total]
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            limits.append(int(Path(name).read_text(encoding="ascii")))
        except (OSError, ValueError):
            continue
    return min(limits)


def available_workers() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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


def divide(total: int, base: int, workers: int) -> Budget:
    """Divide a budget.

    Parameters
    ----------
    total, base : int
        Bytes allowed, and bytes in use already.
    workers : int
        Workers wanted; fewer if the memory does not suffice for all of them.

    Returns
    -------
    Budget

    Raises
    ------
    OutOfBudget
        If not even one worker fits.
    """
    left = total - base - RESERVE_BYTES
    needed = WORKER_BYTES + SMALLEST_BUFFER * KEY_BYTES
    if left < needed:
        least = -(-(base + RESERVE_BYTES + needed) // MIB)
        raise OutOfBudget(
            f"a memory budget of {total // MIB} MiB is too small: the program itself takes {base // MIB} MiB",
            f"give at least --memory {least}MiB",
        )
    workers = min(workers, left // needed)
    keys = (left - workers * WORKER_BYTES) // KEY_BYTES
    buffer = min(max(keys // workers, SMALLEST_BUFFER), LARGEST_BUFFER)
    # With spills in memory the merge needs no buffer; a larger one helps expand to find duplicates early.
    memory_buffer = min(max(keys // (8 * workers), SMALLEST_BUFFER), LARGEST_MEMORY_BUFFER)
    return Budget(total, base, workers, buffer, memory_buffer, max(0, keys - workers * memory_buffer))
