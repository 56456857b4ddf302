"""Stopping a run by signal, and the command line that continues it."""

from __future__ import annotations

import os
import shlex
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import click

from cli.puzzles import rank
from storage.errors import InvalidInput

ARGUMENTS = "cli.arguments"
# SIGUSR1 is what batch systems send some time before they end a job.
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)
# As that of the command "timeout".
OUT_OF_TIME = 124
SHOW_CURSOR = b"\x1b[?25h"


def command_given(ctx: click.Context) -> str:
    """The command line that this is, ready to be pasted."""
    return shlex.join([*(ctx.find_root().info_name or "pipeline").split(), *ctx.meta[ARGUMENTS]])


def command_to_continue(ctx: click.Context) -> str:
    """The command line that goes on where this one stops."""
    arguments = [argument for argument in ctx.meta[ARGUMENTS] if argument != "--overwrite"]
    if "--resume" not in arguments:
        arguments.append("--resume")
    return shlex.join([*(ctx.find_root().info_name or "pipeline").split(), *arguments])


def one_of(ctx: click.Context, resume: bool, overwrite: bool) -> tuple[bool, bool]:
    """``--resume`` or ``--overwrite``, whichever was given more explicitly."""
    if resume and overwrite:
        ranks = rank(ctx, "resume"), rank(ctx, "overwrite")
        if ranks[0] == ranks[1]:
            raise InvalidInput("--resume and --overwrite exclude each other", "give one of them")
        return ranks[0] < ranks[1], ranks[1] < ranks[0]
    return resume, overwrite


class Stop:
    """Whether and how a stop was asked for, and who is told.

    Attributes
    ----------
    signal : int or None
        The signal that asked.
    reason : str
        Why it ends, for the user.
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self.reason = "stopped"
        self._out_of_time = False
        self._ask: Callable[[], None] | None = None

    @property
    def exit_code(self) -> int:
        """What a shell reports of a process that a signal ended, or that had no more time."""
        if self._out_of_time and self.signal is None:
            return OUT_OF_TIME
        return 128 + (self.signal or signal.SIGINT)

    @property
    def _wanted(self) -> bool:
        return self._out_of_time or self.signal is not None

    def tell(self, ask: Callable[[], None]) -> None:
        """Have ``ask`` called when the signal comes, from its handler; at once if it has come already."""
        self._ask = ask
        if self._wanted:
            ask()

    def come(self, number: int) -> None:
        """A signal has come."""
        self.signal = number
        if self._ask is not None:
            self._ask()

    def run_out(self) -> None:
        """The time is over; called from another thread."""
        self._out_of_time = True
        self.reason = "stopped, as --max-time says"
        if self._ask is not None:
            self._ask()


@contextmanager
def stopping(on_terminal: bool, seconds: float | None = None) -> Iterator[Stop]:
    """While it lasts, the first signal asks for a stop; the second one ends the process at once.

    Parameters
    ----------
    on_terminal : bool
        Whether a live display may have hidden the cursor.
    seconds : float, optional
        When a stop is asked for without any signal.
    """
    stop = Stop()

    def handle(number: int, frame: FrameType | None) -> None:
        if stop.signal is not None:
            if on_terminal:
                os.write(2, SHOW_CURSOR + b"\n")
            # Nothing to tidy up: a job is whole after a kill at any instruction.
            os._exit(128 + number)
        stop.come(number)

    timer = threading.Timer(seconds, stop.run_out) if seconds is not None else None
    if timer is not None:
        timer.daemon = True
        timer.start()
    before = {number: signal.signal(number, handle) for number in SIGNALS}
    try:
        yield stop
    finally:
        if timer is not None:
            timer.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)
