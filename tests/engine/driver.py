"""A searching process that can be killed: run as ``python -m tests.engine.driver``, see :func:`main`."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pipeline.search import Search
from pipeline.spaces.registry import make_space
from storage.errors import PipelineError
from tests.engine.jobs import summary
from tests.engine.tiny import Sizes, shrink

KILLED = 99
LATEST_CHANGES = 40
# Calls that change what is on disk, or say that it has to be there.
CHANGES = [(os, "replace"), (os, "fsync"), (os, "unlink"), (os, "rmdir"), (shutil, "rmtree")]


def die_at(call: int) -> Callable[[], int]:
    """Make the process end without a word before or after one of its changes to the disk.

    Parameters
    ----------
    call : int
        Counted from 0: ``2 * i`` is before the i-th change, ``2 * i + 1`` after it; -1 for never.

    Returns
    -------
    callable
        Says how many changes there were.
    """
    calls = 0

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any, **options: Any) -> Any:
            nonlocal calls
            number, calls = calls, calls + 1
            if call == 2 * number:
                os._exit(KILLED)
            result = function(*arguments, **options)
            if call == 2 * number + 1:
                os._exit(KILLED)
            return result

        return wrapped

    for module, name in CHANGES:
        setattr(module, name, wrap(getattr(module, name)))
    return lambda: calls


def killed_soon_after(call: int, generator: random.Random) -> None:
    """Have the process killed by a signal a moment after one of its changes, whatever its threads are doing then.

    On a machine on which nothing else happens in that moment, some changes later.
    """
    calls = 0

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any, **options: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == call:
                threading.Timer(generator.uniform(0, 0.02), os.kill, (os.getpid(), signal.SIGKILL)).start()
            if calls == call + LATEST_CHANGES:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **options)

        return wrapped

    for module, name in CHANGES:
        setattr(module, name, wrap(getattr(module, name)))


def search(order: dict[str, Any]) -> dict[str, Any]:
    """Run one search as ordered and report."""
    space = make_space(order["puzzle"], order["parameters"])
    sizes = Sizes(**order["sizes"])
    if not order["ordinary"]:
        fsync = os.fsync
        shrink(sizes)
        os.fsync = fsync
    counted = die_at(order["die_at"])
    if order["kill_after"] is not None:
        killed_soon_after(order["kill_after"], random.Random(order["kill_after"]))
    try:
        Search(space, job=order["job"], **order["options"]).run(resume=True)
    except PipelineError as error:
        return {"error": type(error).__name__, "message": str(error)}
    return {"summary": summary(Path(order["job"])), "changes": counted()}


def main() -> None:
    """Carry out one order a line of standard input, each in a child of its own.

    The answer is a line with ``killed``, or ``summary`` and ``changes``. This process starts no thread, so that its
    children start clean.
    """
    for line in sys.stdin:
        order = json.loads(line)
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            os.close(reader)
            answer = search(order)
            os.write(writer, json.dumps(answer).encode())
            os._exit(0)
        os.close(writer)
        with open(reader, "rb") as pipe:
            text = pipe.read()
        os.waitpid(child, 0)
        print(text.decode() or json.dumps({"killed": True}), flush=True)


if __name__ == "__main__":
    main()
