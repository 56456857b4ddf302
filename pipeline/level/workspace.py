"""The large buffer of each worker thread, kept from task to task: fresh pages cost more than the work on them."""

from __future__ import annotations

import threading

import numpy as np

from pipeline.spaces.contract import Keys

_local = threading.local()


def workspace(keys: int) -> Keys:
    """This thread's buffer of exactly ``keys`` keys; what it holds is undefined."""
    buffer: Keys | None = getattr(_local, "buffer", None)
    if buffer is None or not keys <= buffer.size <= 2 * keys:
        # Let go of the old one first, so that there are never two; a much larger one is memory that others count on.
        _local.buffer = buffer = None
        buffer = np.empty(keys, dtype=np.uint64)
        _local.buffer = buffer
    return buffer[:keys]
