"""Sizes as people write and read them."""

from __future__ import annotations

import re

from storage.errors import InvalidInput

# Binary units with an i, decimal ones without.
_UNITS = {
    "": 1,
    **{letter: 1000**power for power, letter in enumerate("kmgtp", start=1)},
    **{f"{letter}i": 1024**power for power, letter in enumerate("kmgtp", start=1)},
}
_SIZE = re.compile(r"((?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?)\s*([kmgtp]?i?)b?", re.IGNORECASE | re.ASCII)
_SHARE = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*%", re.ASCII)


def parse_size(text: str | int, whole: int | None = None) -> int:
    """Bytes of a text such as ``2GiB``, ``500MB``, ``1.5G``, ``1073741824`` or ``50%``.

    Parameters
    ----------
    text : str or int
        G is 10⁹, Gi is 2³⁰; upper and lower case are the same.
    whole : int, optional
        Bytes that a percentage is of; without it there are none.

    Raises
    ------
    InvalidInput
        If it is no size, or none that memory or a disk can have.
    """
    if isinstance(text, bool) or not isinstance(text, (str, int)):
        raise _no_size(text, whole)
    bare = str(text).strip()
    if len(bare) > 100:
        raise _no_size(f"{bare[:20]}...", whole)
    size, share = _SIZE.fullmatch(bare), _SHARE.fullmatch(bare)
    if share is not None and whole is not None:
        percent = float(share[1])
        if not 0 < percent <= 100:
            raise InvalidInput(f"{text!r} is no part of the memory", "write more than 0% and at most 100%")
        return max(1, int(whole * percent / 100))
    if size is None or size[2].lower() not in _UNITS:
        raise _no_size(text, whole)
    unit = _UNITS[size[2].lower()]
    # Whole numbers exactly: a float has 53 bits.
    count = int(size[1]) * unit if size[1].isdecimal() else float(size[1]) * unit
    if not 1 <= count < 1 << 63:
        raise InvalidInput(f"{text!r} is not a size that memory or a disk can have")
    return int(count)


def _no_size(text: object, whole: int | None) -> InvalidInput:
    share = "" if whole is None else ", 50%"
    return InvalidInput(f"{text!r} is not a size", f"write 2GiB, 500MB{share} or a number of bytes")


def size(count: float) -> str:
    """Bytes in binary units, such as ``1.50 GiB``."""
    if count < 1024:
        return f"{count:.0f} B"
    for unit in ("KiB", "MiB", "GiB"):
        count /= 1024
        if count < 1024:
            return f"{count:.2f} {unit}" if count < 100 else f"{count:.0f} {unit}"
    return f"{count / 1024:.2f} TiB"
