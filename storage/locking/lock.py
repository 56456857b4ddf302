"""The lock of a job: one process writes to it at a time, whatever host it runs on.

A lock of the kernel on the job's ``zarr.json`` comes first. It goes with its process, however that ends, and needs no
clean-up; but where a file system does not carry it to other hosts, or has no locks at all, it says too little. So the
holder also leaves a file that says who it is, and changes it every few seconds (:mod:`storage.locking.holder`). A
holder under the same kernel is judged by the kernel. Any other is dead if its file does not change for
``SILENCE_SECONDS`` of our own monotonic clock.

A process that stood still for so long may come back. It looks at the holder file before every commit
(:meth:`JobLock.check`), finds that it was replaced, and stops.
"""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import portalocker

from storage.errors import JobError, JobLocked
from storage.locking.holder import Holder, beat_holder, birth, create_holder, read_holder, remove_holder

BEAT_SECONDS = 2.0
SILENCE_SECONDS = 30.0
LOOK_SECONDS = 1.0
# How long a holder file may be missing: another process that was too late may have moved it for a moment.
MISSING_SECONDS = 2.0
ATTEMPTS = 20
NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)


class JobLock:
    """The right to write to a job.

    Parameters
    ----------
    root : Path
        File for the lock of the kernel.
    holder : Path
        The holder file.
    tell : callable
        Gets a line for the user when there is something to wait for.
    pause : callable
        Waits for some seconds; may raise to give up.
    lost : callable
        Called from another thread when another process has taken over.
    """

    def __init__(
        self,
        root: Path,
        holder: Path,
        tell: Callable[[str], None],
        pause: Callable[[float], None],
        lost: Callable[[], None],
    ) -> None:
        self._root = root
        self._job = root.parent
        self._path = holder
        self._tell = tell
        self._pause = pause
        self._on_loss = lost
        self._holder = Holder.this_process()
        self._ended = threading.Event()
        self._lost = False
        self._kernel_lock = False
        self._thread: threading.Thread | None = None

    def acquire(self) -> None:
        """Take the lock.

        Raises
        ------
        JobLocked
            If another process has it.
        JobError
            If the job was replaced by another while this was going on.
        """
        self._root_descriptor = os.open(self._root, os.O_RDWR | os.O_NOFOLLOW)
        try:
            self._kernel_lock = self._take_kernel_lock()
            self._holder_descriptor = self._become_holder()
        except BaseException:
            os.close(self._root_descriptor)
            raise
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        self._thread.start()

    def release(self) -> None:
        """Give the lock back."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        with suppress(OSError):
            remove_holder(self._path, self._holder.token)
        os.close(self._holder_descriptor)
        os.close(self._root_descriptor)

    def check(self) -> None:
        """Make sure that no other process has taken the lock meanwhile.

        Raises
        ------
        JobLocked
            If one has.
        """
        if not self._lost and self._is_ours():
            return
        self._lost = True
        other = read_holder(self._path)
        raise JobLocked(
            f"{other if other is not None else 'another process'} has taken over {self._job}, because this process "
            "stood still for too long or its holder file was removed",
            "what is committed is whole; let the other one go on, or resume the job when it has ended",
        )

    def _take_kernel_lock(self) -> bool:
        """Take the lock of the kernel; returns whether the file system has any."""
        try:
            portalocker.lock(
                self._root_descriptor, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING
            )
        except portalocker.exceptions.AlreadyLocked as error:
            raise self._refusal(read_holder(self._path)) from error
        except portalocker.exceptions.LockException as error:
            cause = error.__cause__
            if isinstance(cause, OSError) and cause.errno not in NO_LOCKS:
                raise cause from None
            return False
        ours, now = os.fstat(self._root_descriptor), os.stat(self._root)
        if (ours.st_dev, ours.st_ino) != (now.st_dev, now.st_ino):
            raise JobError(f"{self._job} was replaced by another job just now", "run the command again")
        return True

    def _become_holder(self) -> int:
        """Create the holder file, once that of a dead process is out of the way; returns its descriptor."""
        for _ in range(ATTEMPTS):
            with suppress(FileExistsError):
                return create_holder(self._path, self._holder)
            other = read_holder(self._path)
            if other is None:
                continue
            alive = self._is_alive(other)
            if alive:
                raise self._refusal(other)
            if alive is not None:
                remove_holder(self._path, other.token)
        raise self._refusal(read_holder(self._path))

    def _is_alive(self, other: Holder) -> bool | None:
        """Whether another holder is alive; None if it is no longer the holder."""
        if other.boot and other.boot == self._holder.boot:
            if self._kernel_lock:
                # Else it would have the lock that we have.
                return False
            if other.namespace == self._holder.namespace and other.born >= 0:
                return birth(other.process) == other.born
        return self._shows_life(other)

    def _shows_life(self, other: Holder) -> bool | None:
        """Watch the file of a holder that cannot be asked."""
        self._tell(
            f"{other} has left a lock on {self._job}; "
            f"waiting {SILENCE_SECONDS:.0f} s for a sign of life before it is taken over"
        )
        silence = 0.0
        before = time.monotonic()
        while silence < SILENCE_SECONDS:
            self._pause(LOOK_SECONDS)
            now = time.monotonic()
            # Time in which we stood still ourselves says nothing of the other.
            silence += min(now - before, 2 * LOOK_SECONDS)
            before = now
            seen = read_holder(self._path)
            if seen is None or seen.token != other.token:
                return None
            if seen.beat != other.beat:
                return True
        return False

    def _refusal(self, other: Holder | None) -> JobLocked:
        who = other if other is not None else "another process"
        return JobLocked(f"{who} is writing to {self._job}", "wait for it to end, or stop it")

    def _is_ours(self) -> bool:
        """Whether the holder file is still that of this process."""
        waited = 0.0
        while True:
            found = read_holder(self._path)
            if found is not None or waited >= MISSING_SECONDS:
                return found is not None and found.token == self._holder.token
            self._ended.wait(MISSING_SECONDS / 20)
            waited += MISSING_SECONDS / 20

    def _beat(self) -> None:
        """Change the holder file every few seconds, and see that it is still ours."""
        beat = 0
        while not self._ended.wait(BEAT_SECONDS):
            beat += 1
            try:
                beat_holder(self._holder_descriptor, self._holder.with_beat(beat))
                ours = self._is_ours()
            except OSError:
                # A file server that is away for a moment; whether the lock is lost shows before the next commit.
                continue
            if not ours and not self._ended.is_set():
                self._lost = True
                self._on_loss()
                return
