"""Sizes as people read them."""

from __future__ import annotations


def size(count: float) -> str:
    """Bytes in binary units, such as ``1.50 GiB``."""
    if count < 1024:
        return f"{count:.0f} B"
    for unit in ("KiB", "MiB", "GiB"):
        count /= 1024
        if count < 1024:
            return f"{count:.2f} {unit}" if count < 100 else f"{count:.0f} {unit}"
    return f"{count / 1024:.2f} TiB"
