"""How fast the disk under a directory takes and gives what the program writes."""

from __future__ import annotations

import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path

BLOCK_BYTES = 1 << 20
BLOCKS = 64


@dataclass(frozen=True)
class DiskSpeed:
    """Bytes a second of one file.

    Attributes
    ----------
    write : float
        Flushed to the disk (fsync).
    read : float
        After the operating system was asked to forget the file; what it keeps all the same comes from memory.
    """

    write: float
    read: float

    def document(self) -> dict[str, float]:
        """By name."""
        return asdict(self)


def time_disk(directory: Path, blocks: int = BLOCKS) -> DiskSpeed:
    """Write and read a file, and remove it.

    Parameters
    ----------
    directory : Path
    blocks : int
        Of a mebibyte each.
    """
    path = directory / "disk-speed"
    block = os.urandom(BLOCK_BYTES)
    try:
        started = time.perf_counter()
        with open(path, "wb", buffering=0) as file:
            for _ in range(blocks):
                file.write(block)
            os.fsync(file.fileno())
            written = time.perf_counter() - started
            if hasattr(os, "posix_fadvise"):
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        started = time.perf_counter()
        with open(path, "rb", buffering=0) as file:
            while file.read(BLOCK_BYTES):
                continue
        read = time.perf_counter() - started
    finally:
        path.unlink(missing_ok=True)
    return DiskSpeed(blocks * BLOCK_BYTES / written, blocks * BLOCK_BYTES / read)
