"""The server behind :mod:`tests.helpers.commands`: ``python -m tests.helpers.server DESCRIPTOR``.

It starts no thread, so that its children start clean.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import sys
from contextlib import suppress
from importlib import import_module

from cli.main import COMMANDS, command_line
from tests.helpers.commands import LENGTH_BYTES, PID_BYTES

STREAMS = 3


def import_everything() -> None:
    """What commands import when they are used."""
    for name in COMMANDS.values():
        import_module(f"cli.commands.{name}")
    for name in (
        "cli.overview",
        "cli.progress",
        "cli.tables",
        "dask.threaded",
        "pipeline.audit.repair",
        "pipeline.audit.verification",
        "pipeline.census.census",
        "pipeline.inspection",
        "pipeline.search",
        "pipeline.spaces.sliding.space",
        "pipeline.spaces.snake.space",
        "rich.live",
        "rich.progress",
        "rich.table",
    ):
        import_module(name)


def act(order: dict[str, object], descriptors: list[int]) -> None:
    """Become the process that an order asks for; does not return."""
    if order["session"]:
        os.setsid()
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
    os.closerange(STREAMS, 256)
    os.chdir(str(order["directory"]))
    os.environ.clear()
    os.environ.update(order["environment"])  # type: ignore[call-overload]
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        stream = open(number, mode, buffering=1 if number == 2 else -1, encoding="utf-8", closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if order["before"]:
        name, *arguments = order["before"]  # type: ignore[misc]
        module, function = str(name).split(":")
        getattr(import_module(module), function)(*arguments)
    command_line.main(list(order["arguments"]), prog_name="python -m cli")  # type: ignore[call-overload]


def child(order: dict[str, object], descriptors: list[int]) -> None:
    """Carry out an order, and end as an interpreter would."""
    code = 1
    try:
        act(order, descriptors)
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)


def receive(orders: socket.socket) -> tuple[dict[str, object], list[int]] | None:
    """The next order; None at the end."""
    head, descriptors, _, _ = socket.recv_fds(orders, LENGTH_BYTES, STREAMS)
    if not head:
        return None
    length = int.from_bytes(head, "big")
    data = b""
    while len(data) < length:
        data += orders.recv(length - len(data))
    return json.loads(data), list(descriptors)


def start(order: dict[str, object], streams: list[int]) -> int:
    """Fork a process that loses its parent at once, and so becomes a child of who gives the orders."""
    reader, writer = os.pipe()
    between = os.fork()
    if not between:
        process = os.fork()
        if not process:
            child(order, streams)
        os.write(writer, process.to_bytes(PID_BYTES, "big"))
        os._exit(0)
    os.waitpid(between, 0)
    process = int.from_bytes(os.read(reader, PID_BYTES), "big")
    os.close(reader)
    os.close(writer)
    return process


def serve(orders: socket.socket) -> None:
    """Fork processes until nobody gives orders any more."""
    while (received := receive(orders)) is not None:
        orders.sendall(start(*received).to_bytes(PID_BYTES, "big"))
        for stream in received[1]:
            os.close(stream)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal, meant for pytest
    import_everything()
    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as control:
        serve(control)
