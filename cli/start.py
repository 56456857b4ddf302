"""Where the process enters and leaves: Ctrl-C is answered from the first import to the end."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130


def entry() -> None:
    """Run the command line on the arguments of this process, and exit."""
    _replace(signal.default_int_handler, _end)

    from cli.main import entry

    entry()


def ctrl_c_interrupts() -> None:
    """From now on somebody catches ``KeyboardInterrupt``."""
    _replace(_end, signal.default_int_handler)


def leave(code: int) -> NoReturn:
    """End the process. Ctrl-C ends it sooner, without a word about what it interrupts."""
    _replace(signal.default_int_handler, _end)
    kernels = sys.modules.get("storage.compiler.kernel")
    if kernels is not None and kernels.compiler_is_left_alone():
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):
                continue
        os._exit(code)
    sys.exit(code)


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)


def _replace(expected: object, handler: object) -> None:
    """Replace a handler of Ctrl-C, unless it is another one: it may be ignored, or a program that uses this one's."""
    try:
        if signal.getsignal(signal.SIGINT) is expected:
            signal.signal(signal.SIGINT, handler)  # type: ignore[arg-type]
    except ValueError:  # not the main thread
        return
