"""The large buffer of each worker thread, kept from task to task: fresh pages cost more than the work on them."""

from __future__ import annotations

import threading

import numpy as np

from pipeline.spaces.contract import Keys


class _Buffers(threading.local):
    """One buffer for each thread."""

    buffer: Keys | None = None


_buffers = _Buffers()


def workspace(keys: int) -> Keys:
    """This thread's buffer of exactly ``keys`` keys; what it holds is undefined."""
    held = _buffers
    if held.buffer is None or not keys <= held.buffer.size <= 2 * keys:
        # Let go of the old one first, so that there are never two; a much larger one is memory that others count on.
        held.buffer = None
        held.buffer = np.empty(keys, dtype=np.uint64)
    return held.buffer[:keys]


def release_workspaces() -> None:
    """Let go of the buffers of all threads; called while no task runs."""
    global _buffers
    _buffers = _Buffers()
