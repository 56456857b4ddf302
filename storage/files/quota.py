"""The quota of a job directory: what it may still grow by, shared by all threads and processes that write to it."""

from __future__ import annotations

import threading
from pathlib import Path

import portalocker

from storage.errors import QuotaReached
from storage.sizes import size as readable

# What a process takes from the common account at a time: this part of what is left, and at most so many bytes.
SHARE = 1024
LARGEST_SHARE = 1 << 22


class Quota:
    """An account of bytes in a file of the job directory. Instances can be sent to other processes.

    Every writer takes what it is about to write, and is refused what is not there; so the quota holds at any moment,
    whoever writes. Each process keeps a small stock, so that the file is seldom needed.

    Parameters
    ----------
    path : Path
        The file with the account, in ``work``.
    limit : int
        The quota, in bytes, as errors name it.
    """

    def __init__(self, path: Path, limit: int) -> None:
        self._path = path
        self._limit = limit
        self._stock = 0
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[Quota], tuple[Path, int]]:
        return Quota, (self._path, self._limit)

    def open(self, used: int) -> None:
        """Begin the account; nobody may be writing.

        Parameters
        ----------
        used : int
            Bytes that the job takes now.
        """
        with self._lock:
            self._stock = 0
            self._path.write_text(str(max(0, self._limit - used)), encoding="ascii")

    def close(self) -> None:
        """Delete the account; nobody may be writing."""
        self._path.unlink(missing_ok=True)

    def take(self, size: int) -> None:
        """Account for bytes that are about to be written.

        Raises
        ------
        QuotaReached
            If so much is not left.
        """
        with self._lock:
            if self._stock < size:
                self._stock += self._withdraw(size - self._stock)
            self._stock -= size

    def _withdraw(self, least: int) -> int:
        """Take at least so much from the common account, or refuse."""
        with open(self._path, "r+", encoding="ascii") as file:
            portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE)
            left = int(file.read() or 0)
            if least > left:
                raise QuotaReached(
                    f"the job {self._path.parent.parent} has reached its quota of {readable(self._limit)}",
                    "resume it with a larger --max-disk, or with --keep frontier",
                )
            taken = max(least, min(left // SHARE, LARGEST_SHARE))
            file.seek(0)
            file.write(f"{left - taken:<20}")
            file.flush()
        return taken
