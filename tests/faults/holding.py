"""Processes that hold the lock of a job, on this host or on one that is made up.

They are forked from a process that has imported everything, which takes much longer than all that a test does.
"""

from __future__ import annotations

import errno
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import portalocker
import psutil
import pytest

import pipeline.level.passes
import storage.locking.holder
import storage.locking.lock
from pipeline.search import Search
from pipeline.spaces.registry import make_space
from storage.errors import PipelineError, Stopped
from storage.jobs.job import Job
from storage.jobs.working import WorkingLevel
from storage.locking.lock import JobLock
from storage.records import Manifest
from tests.engine.tiny import Sizes, assign, shrink

# Short, but long enough for a machine that does other things too.
SECONDS = {"BEAT_SECONDS": 0.1, "SILENCE_SECONDS": 2.0, "LOOK_SECONDS": 0.2, "MISSING_SECONDS": 0.5}
IMPATIENT_SECONDS = 0.4


def no_locks(*_: Any) -> None:
    """What a file system without locks says."""
    try:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
    except OSError as error:
        raise portalocker.exceptions.LockException(error) from error


@contextmanager
def elsewhere(boot: str | None, kernel_locks: bool, patient: bool = True) -> Iterator[None]:
    """Be on another host (None: on this one), with a file system that carries locks or not.

    Who knows that the holder is dead or stands still need not be patient.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name, value in SECONDS.items():
            patch.setattr(storage.locking.lock, name, value)
        if not patient:
            patch.setattr(storage.locking.lock, "SILENCE_SECONDS", IMPATIENT_SECONDS)
        if boot is not None:
            patch.setattr(storage.locking.holder, "boot", lambda: boot)
        if not kernel_locks:
            patch.setattr(portalocker, "lock", no_locks)
        yield


def hold(job: Path, connection: Connection) -> None:
    """Take the lock, and do what is asked for."""
    try:
        with Job.open(job).lock() as lock:
            connection.send("locked")
            while (request := connection.recv()) != "release":
                try:
                    if request == "check":
                        lock.check()
                    else:
                        assert request == "commit"
                        opened = Job.open(job)
                        opened._lock = lock
                        opened.commit(opened.working_level(len(opened.depths())), Manifest.of(len(opened.depths()), []))
                    connection.send("done")
                except PipelineError as error:
                    connection.send(f"{type(error).__name__}: {error}")
        connection.send("released")
    except PipelineError as error:
        connection.send(f"{type(error).__name__}: {error}")


def search(job: Path, order: dict[str, Any], connection: Connection) -> None:
    """Search until the end or the loss of the lock, with small sizes; stand still on the way as ordered."""
    shrink(Sizes())
    stand_still(order["stop"], order["depth"])
    space = make_space(order["puzzle"], order["parameters"])
    try:
        Search(space, job=job, scheduler="sync").run(resume=True)
        connection.send("finished")
    except (PipelineError, Stopped) as error:
        connection.send(f"{type(error).__name__}: {error}")


def stand_still(place: str, depth: int) -> None:
    """Stop this process by SIGSTOP, once, at a place of the level at ``depth``."""
    left = [True]

    def stop() -> None:
        if left:
            left.clear()
            os.kill(os.getpid(), signal.SIGSTOP)

    replace, check, merge = os.replace, JobLock.check, pipeline.level.passes.merge

    def stopping_replace(source: Any, target: Any) -> None:
        if str(target).endswith(f"levels/{depth:04d}"):
            stop()
        replace(source, target)

    def stopping_check(lock: JobLock) -> None:
        if (lock._job / "work" / f"{depth:04d}" / "partitions" / "zarr.json").exists():
            stop()
        check(lock)

    def stopping_merge(space: Any, work: WorkingLevel, *rest: Any) -> Any:
        if work.depth == depth:
            stop()
        return merge(space, work, *rest)

    if place == "between the last look and the rename":
        assign("os", "replace", stopping_replace)
    elif place == "before the last look":
        JobLock.check = stopping_check  # type: ignore[method-assign]
    else:
        assert place == "in the merge"
        assign("pipeline.level.passes", "merge", stopping_merge)


class Process:
    """A process with an answer to everything it is asked.

    Attributes
    ----------
    pid : int
    """

    def __init__(self, process: ForkServerProcess, connection: Connection) -> None:
        assert process.pid is not None
        self.pid = process.pid
        self._process = process
        self._connection = connection

    def answer(self) -> str:
        """The next thing it says."""
        return str(self._connection.recv())

    def ask(self, request: str) -> str:
        """Order something, and get the answer."""
        self._connection.send(request)
        return self.answer()

    def send_signal(self, number: int) -> None:
        """Stop it, or let it go on."""
        os.kill(self.pid, number)

    def wait_until_it_stands_still(self) -> None:
        """Wait until it has stopped itself."""
        process = psutil.Process(self.pid)
        while process.status() != psutil.STATUS_STOPPED:
            assert self._process.is_alive(), "it came to its end"
            time.sleep(0.01)

    def kill(self) -> None:
        """Kill it, and wait for its end."""
        self._process.kill()
        self._process.join()


@contextmanager
def holding(
    job: Path, boot: str | None = None, *, kernel_locks: bool = True, search: dict[str, Any] | None = None
) -> Iterator[Process]:
    """A process that holds the lock of a job, or tries to."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    ours, theirs = context.Pipe()
    process = context.Process(target=_act, args=(job, boot, kernel_locks, search, theirs))
    process.start()
    theirs.close()
    try:
        yield Process(process, ours)
    finally:
        process.kill()
        process.join()
        process.close()
        ours.close()


def _act(job: Path, boot: str | None, kernel_locks: bool, order: dict[str, Any] | None, connection: Connection) -> None:
    """Hold the lock of a job, or search in it."""
    # The test that started this process may be killed.
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    with elsewhere(boot, kernel_locks):
        if order is not None:
            search(job, order, connection)
        else:
            hold(job, connection)


def _end_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        threading.Event().wait(1)
    os._exit(1)
