"""Running a command to its end, and what it took: seconds, processor time and peak memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from storage.errors import PipelineError, Stopped

# The peak memory of a process begins with that of the one that started it. A small interpreter in between keeps what
# this process has imported out of it.
LAUNCHER = """
import json, os, subprocess, sys, time
started = time.perf_counter()
process = subprocess.Popen(sys.argv[2:])
_, status, usage = os.wait4(process.pid, 0)
wall = time.perf_counter() - started
process.returncode = code = os.waitstatus_to_exitcode(status)
unit = 1 if sys.platform == "darwin" else 1024
figures = {"seconds": wall, "processor_seconds": usage.ru_utime + usage.ru_stime, "peak_bytes": usage.ru_maxrss * unit}
with open(int(sys.argv[1]), "w") as out:
    json.dump({"code": code, "figures": figures}, out)
"""


@dataclass(frozen=True)
class ProcessFigures:
    """What a process took.

    Attributes
    ----------
    seconds, processor_seconds : float
        From its start to its end, and of all processors, the operating system's work included.
    peak_bytes : int
        Most memory that was resident.
    """

    seconds: float
    processor_seconds: float
    peak_bytes: int


class Processes:
    """Runs commands one after the other; another thread or a signal handler may stop it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = threading.Event()

    def stop(self) -> None:
        """End the command that runs, and start no other."""
        self._stopped.set()
        process = self._process
        if process is not None and process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)

    def run(self, command: Sequence[str]) -> tuple[ProcessFigures, bytes]:
        """Run a command that must succeed.

        Returns
        -------
        ProcessFigures
        bytes
            Its standard output.

        Raises
        ------
        PipelineError
            If it fails.
        Stopped
            After :meth:`stop`.
        """
        if self._stopped.is_set():
            raise Stopped
        receiver, sender = os.pipe()
        try:
            launcher = [sys.executable, "-I", "-S", "-c", LAUNCHER, str(sender), *command]
            self._process = process = subprocess.Popen(
                launcher,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[sender],
                start_new_session=True,
                # Options in the environment would make it another case.
                env={name: value for name, value in os.environ.items() if not name.startswith("PIPELINE_")},
            )
        finally:
            os.close(sender)
        with open(receiver, "rb") as report:
            if self._stopped.is_set():
                self.stop()
            output, errors = process.communicate()
            said = report.read()
        if self._stopped.is_set():
            raise Stopped
        outcome: dict[str, Any] = json.loads(said) if said else {"code": process.returncode}
        if outcome["code"] != 0:
            last = errors.decode(errors="replace").strip().rpartition("\n")[2] or f"exit code {outcome['code']}"
            raise PipelineError(f"{' '.join(command)} failed: {last}")
        return ProcessFigures(**outcome["figures"]), output
