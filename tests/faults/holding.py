"""Processes that hold the lock of a job, on this host or on one that is made up: ``python -m tests.faults.holding``."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import portalocker
import psutil
import pytest

import pipeline.levels
import storage.holder
import storage.lock
from pipeline.executors import Stopped
from pipeline.search import Search
from pipeline.spaces.registry import make_space
from storage.errors import PipelineError
from storage.job import Job, WorkingLevel
from storage.lock import JobLock
from storage.manifest import Manifest
from tests.engine.tiny import Sizes, assign, shrink

ROOT = Path(__file__).parents[2]
# Short, but long enough for a machine that does other things too.
SECONDS = {"BEAT_SECONDS": 0.1, "SILENCE_SECONDS": 2.0, "LOOK_SECONDS": 0.2, "MISSING_SECONDS": 0.5}


def no_locks(*_: Any) -> None:
    """What a file system without locks says."""
    try:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
    except OSError as error:
        raise portalocker.exceptions.LockException(error) from error


@contextmanager
def elsewhere(boot: str | None, kernel_locks: bool) -> Iterator[None]:
    """Be on another host (None: on this one), with a file system that carries locks or not."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in SECONDS.items():
            patch.setattr(storage.lock, name, value)
        if boot is not None:
            patch.setattr(storage.holder, "boot", lambda: boot)
        if not kernel_locks:
            patch.setattr(portalocker, "lock", no_locks)
        yield


def hold(job: Path) -> None:
    """Take the lock, and do what the lines of standard input ask for."""
    try:
        with Job.open(job).lock() as lock:
            print("locked", flush=True)
            for line in sys.stdin:
                try:
                    if line == "check\n":
                        lock.check()
                    elif line == "commit\n":
                        opened = Job.open(job)
                        opened._lock = lock
                        opened.commit(opened.working_level(len(opened.depths())), Manifest.of(len(opened.depths()), []))
                    else:
                        break
                    print("done", flush=True)
                except PipelineError as error:
                    print(f"{type(error).__name__}: {error}", flush=True)
        print("released", flush=True)
    except PipelineError as error:
        print(f"{type(error).__name__}: {error}", flush=True)


def search(job: Path, order: dict[str, Any]) -> None:
    """Search until the end or the loss of the lock, with small sizes; stand still on the way as ordered."""
    shrink(assign, Sizes())
    stand_still(order["stop"], order["depth"])
    space = make_space(order["puzzle"], order["parameters"])
    try:
        Search(space, job=job, scheduler="sync").run(resume=True)
        print("finished", flush=True)
    except (PipelineError, Stopped) as error:
        print(f"{type(error).__name__}: {error}", flush=True)


def stand_still(place: str, depth: int) -> None:
    """Stop this process by SIGSTOP, once, at a place of the level at ``depth``."""
    left = [True]

    def stop() -> None:
        if left:
            left.clear()
            os.kill(os.getpid(), signal.SIGSTOP)

    replace, check, merge = os.replace, JobLock.check, pipeline.levels.merge

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
        assign("pipeline.levels", "merge", stopping_merge)


class Process:
    """A process with a line for every answer."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def answer(self) -> str:
        """The next line it prints."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n")

    def ask(self, line: str) -> str:
        """Order something, and get the answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.answer()

    def wait_until_it_stands_still(self) -> None:
        """Wait until it has stopped itself."""
        process = psutil.Process(self.process.pid)
        while process.status() != psutil.STATUS_STOPPED:
            assert self.process.poll() is None, "it came to its end"
            time.sleep(0.01)

    def kill(self) -> None:
        """Kill it, and wait for its end."""
        self.process.kill()
        self.process.wait()


@contextmanager
def holding(
    job: Path, boot: str | None = None, *, kernel_locks: bool = True, search: dict[str, Any] | None = None
) -> Iterator[Process]:
    """A process that holds the lock of a job, or tries to."""
    order = json.dumps({"boot": boot, "kernel_locks": kernel_locks, "search": search})
    command = [sys.executable, "-m", "tests.faults.holding", str(job), order]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Process(process)
        finally:
            process.kill()


def main() -> None:
    """Hold the lock of the job that the command line names, where its second argument says."""
    order = json.loads(sys.argv[2])
    # The test that started this process may be killed.
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    with elsewhere(order["boot"], order["kernel_locks"]):
        if order["search"] is not None:
            search(Path(sys.argv[1]), order["search"])
        else:
            hold(Path(sys.argv[1]))


def _end_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        threading.Event().wait(1)
    os._exit(1)


if __name__ == "__main__":
    main()
