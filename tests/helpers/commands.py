"""Running commands in processes of their own, without a second of imports for each.

A server (:mod:`tests.helpers.server`) has imported everything, and forks a process for each order. What a test sees is
a process with its own arguments, environment, directory, streams and signals, as if an interpreter had been started.
Tests of what happens during the imports, of memory, and of limits start interpreters with :data:`COMMAND`.
"""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "cli"]
LENGTH_BYTES = 4
PID_BYTES = 8
PR_SET_CHILD_SUBREAPER = 36
# What Popen passes to the method that starts a process, after the arguments.
OPTIONS = (
    *("executable", "preexec_fn", "close_fds", "pass_fds", "cwd", "env", "startupinfo", "creationflags", "shell"),
    *("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite", "restore_signals"),
    *("gid", "gids", "uid", "umask", "start_new_session", "process_group"),
)
PIPES = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")


class Server:
    """The client's side of the server of this process."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        command = [sys.executable, "-m", "tests.helpers.server", str(theirs.fileno())]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
        self._process = subprocess.Popen(command, cwd=ROOT, env=environment, pass_fds=[theirs.fileno()])
        theirs.close()
        self._socket = ours
        atexit.register(self.close)
        # The server forks twice, and processes whose parent has ended become children of this one.
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def start(self, order: dict[str, Any], streams: list[int]) -> int:
        """Send an order, with the descriptors of its streams; returns the number of the process."""
        data = json.dumps(order).encode()
        socket.send_fds(self._socket, [len(data).to_bytes(LENGTH_BYTES, "big")], streams)
        self._socket.sendall(data)
        return int.from_bytes(self._socket.recv(PID_BYTES), "big")

    def close(self) -> None:
        """End the server."""
        self._socket.close()
        self._process.wait()


@cache
def server() -> Server:
    """The server of this process, which starts with the first order."""
    return Server()


class Process(subprocess.Popen):  # type: ignore[type-arg]
    """A process that the server forks. It becomes a child of this one, and so all of Popen but its start is as ever.

    Parameters
    ----------
    arguments : sequence of str
        Of the command line, without the program.
    **options
        ``stdin``, ``stdout``, ``stderr``, ``env``, ``cwd``, ``text``, ``start_new_session`` are as for Popen.
    before : tuple, optional
        A function, as ``module:name``, and its arguments, that the process calls first.
    """

    def __init__(self, arguments: Sequence[Any], *, before: tuple[Any, ...] = (), **options: Any) -> None:
        self._before = before
        super().__init__(arguments, **options)

    def _execute_child(self, args: Any, *options: Any) -> None:
        given = dict(zip(OPTIONS, options, strict=True))
        assert given["preexec_fn"] is None
        assert not given["pass_fds"]
        order = {
            "arguments": [os.fspath(argument) for argument in args],
            "environment": dict(given["env"] if given["env"] is not None else os.environ),
            "directory": os.fspath(given["cwd"] if given["cwd"] is not None else Path.cwd()),
            "before": self._before,
            "session": bool(given["start_new_session"]),
        }
        streams = [given["p2cread"], given["c2pwrite"], given["errwrite"]]
        self.pid = server().start(order, [stream if stream != -1 else place for place, stream in enumerate(streams)])
        self._child_created = True
        self._close_pipe_fds(*(given[name] for name in PIPES))


def run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[Any]:
    """Run a command to its end."""
    timeout = options.pop("timeout", 300)
    given = options.pop("input", None)
    if given is not None:
        options["stdin"] = subprocess.PIPE
    elif "stdin" not in options:
        options["stdin"] = subprocess.DEVNULL
    with Process(arguments, **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}) as process:
        try:
            out, notes = process.communicate(given, timeout=timeout)
        except BaseException:
            process.send_signal(signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(list(arguments), process.returncode, out, notes)
