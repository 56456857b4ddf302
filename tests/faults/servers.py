"""dask schedulers and workers in processes of their own, on the loopback interface."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from distributed import LocalCluster

ROOT = Path(__file__).parents[2]
# Both would otherwise listen on all interfaces: for tasks, and for the pages of the dashboard.
LOOPBACK = ["--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"]
QUIET = {"DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__GIL__ENABLED": "false"}


@contextmanager
def _server(command: list[str], source: Path, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    environment = {**os.environ, **QUIET, "PYTHONPATH": str(source)}
    with open(log, "wb") as file, subprocess.Popen(command, cwd=source, env=environment, stderr=file) as process:
        try:
            yield process
        finally:
            process.kill()


class Cluster:
    """A scheduler and its workers.

    Attributes
    ----------
    scheduler : Popen
    address : str
    """

    def __init__(self, directory: Path, stack: ExitStack, options: list[str]) -> None:
        self._directory = directory
        self._stack = stack
        self._options = options
        self._file = directory / "scheduler.json"
        command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", *LOOPBACK]
        command += ["--scheduler-file", str(self._file), *options]
        self.scheduler = stack.enter_context(_server(command, ROOT, directory / "scheduler.log"))
        self.address = ""
        while not self.address:
            assert self.scheduler.poll() is None, (directory / "scheduler.log").read_text()
            time.sleep(0.02)
            with suppress(FileNotFoundError, ValueError):  # not there yet, or only in part
                self.address = json.loads(self._file.read_text())["address"]
        self.workers: list[subprocess.Popen[bytes]] = []

    def add_worker(self, source: Path = ROOT, hidden: Path | None = None) -> subprocess.Popen[bytes]:
        """Start a worker that runs the program from a directory, and sees an empty one in the place of another.

        It is not waited for.
        """
        number = len(self.workers)
        command = [sys.executable, "-m", "distributed.cli.dask_worker", self.address, "--no-nanny", *LOOPBACK]
        command += ["--nthreads", "1", "--local-directory", str(self._directory)]
        command += self._options
        if hidden is not None:
            mount = f"mount -t tmpfs tmpfs {shlex.quote(str(hidden))} && exec {shlex.join(command)}"
            command = ["unshare", "--mount", "sh", "-c", mount]
        log = self._directory / f"worker-{number}.log"
        process = self._stack.enter_context(_server(command, source, log))
        self.workers.append(process)
        return process


@contextmanager
def cluster(directory: Path, *options: str) -> Iterator[Cluster]:
    """A scheduler, for a while."""
    with ExitStack() as stack:
        yield Cluster(directory, stack, list(options))


@contextmanager
def two_workers() -> Iterator[str]:
    """Address of a scheduler with two worker processes, all of them children of this process."""
    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs=False,
    ) as running:
        running.wait_for_workers(2)
        yield running.scheduler_address
