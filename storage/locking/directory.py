"""A directory that one process writes to: what jobs and journals have in common."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

from storage.errors import JobError
from storage.files.durable import make_directories, publish, remove, temporary_name
from storage.files.refusals import writing
from storage.locking.lock import JobLock


class LockedDirectory:
    """A directory with a lock.

    Attributes
    ----------
    path : Path
    ROOT : str
        Its file that says what it is; the lock of the directory is a lock of this file.
    HOLDER : str
        Its file that says who has the lock.
    """

    ROOT: ClassVar[str]
    HOLDER: ClassVar[str]

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: JobLock | None = None

    @staticmethod
    def exists(path: Path) -> bool:
        """Whether there is something at ``path`` that a new directory would have to replace."""
        with writing(path):
            return path.is_symlink() or (path.exists() and not (path.is_dir() and not any(path.iterdir())))

    @classmethod
    @contextmanager
    def _new(cls, path: Path) -> Iterator[Path]:
        """A directory to fill; when the block ends it is at ``path``.

        Raises
        ------
        JobError
            If there is something at ``path``, or it cannot be written.
        OutOfBudget
            If the disk is full.
        """
        if cls.exists(path):
            raise JobError(f"{path} exists", "use --resume to go on with it or --overwrite to start again")
        with writing(path):
            make_directories(path.parent)
            temporary = temporary_name(path)
            try:
                temporary.mkdir()
                yield temporary
                if path.exists():
                    path.rmdir()
                publish(temporary, path)
            except OSError:
                shutil.rmtree(temporary, ignore_errors=True)
                raise

    def _remove(self) -> None:
        """Delete it, after making sure that nobody writes to it."""
        with writing(self.path), self.lock():
            remove(self.path)

    @contextmanager
    def lock(
        self,
        tell: Callable[[str], None] = lambda line: None,
        pause: Callable[[float], None] = time.sleep,
        lost: Callable[[], None] = lambda: None,
    ) -> Iterator[JobLock]:
        """Be the one process that writes.

        Parameters
        ----------
        tell : callable
            Gets a line for the user when a lock of another host has to be watched.
        pause : callable
            Waits for some seconds meanwhile; may raise to give up.
        lost : callable
            Called from another thread when another process has taken over; nothing more is committed after that.

        Raises
        ------
        JobLocked
            If another process has the lock.
        JobError
            If the directory cannot be written.
        """
        lock = JobLock(self.path / self.ROOT, self.path / self.HOLDER, tell, pause, lost)
        with writing(self.path):
            self._make_room_for_holder()
            holder = self.path / self.HOLDER
            if holder.is_symlink():
                # The program makes none; what it leads to stays.
                holder.unlink()
            elif holder.exists() and not holder.is_file():
                raise JobError(f"{holder} is no ordinary file", "remove it")
            lock.acquire()
        self._lock = lock
        try:
            yield lock
        finally:
            self._lock = None
            self._unlocked()
            lock.release()

    def _make_room_for_holder(self) -> None:
        """Make what the holder file is in."""

    def _unlocked(self) -> None:
        """Let go of what is only sure as long as nobody else writes."""

    def check_lock(self) -> None:
        """Before a change that counts: whether the lock, if this process took it, is still its own."""
        if self._lock is not None:
            self._lock.check()
