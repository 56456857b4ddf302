"""Searches that end themselves at a place, however fast or busy the machine is."""

from __future__ import annotations

import os

from pipeline.running.events import Observer, PassProgress


def in_pass(depth: int, name: str, number: int) -> None:
    """Send this process a signal as soon as some tasks of a pass have been done.

    Parameters
    ----------
    depth, name : int, str
        The pass, such as ``expand`` of the level that is made.
    number : int
        The signal.
    """
    sent = False

    def progressed(self: Observer, progress: PassProgress) -> None:
        nonlocal sent
        if not sent and (progress.depth, progress.name) == (depth, name):
            sent = True
            os.kill(os.getpid(), number)

    Observer.progressed = progressed  # type: ignore[method-assign]
