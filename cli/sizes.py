"""Sizes as people write them, and numbers as they like to read them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    IntegerType = click.ParamType[int]
    FloatType = click.ParamType[float]
else:
    # Not generic in older versions of click.
    IntegerType = FloatType = click.ParamType

# The longest time that a timer of Python waits on every system, about.
MOST_SECONDS = 30 * 86400.0


class Size(IntegerType):
    """Bytes, such as ``2GiB``, ``500MB``, ``1.5G`` or ``1073741824``."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int) and not isinstance(value, bool):
            size = value
        else:
            from dask.utils import parse_bytes

            text = str(value).strip()
            try:
                if not text[:1].isdigit() and text[:1] != ".":
                    raise ValueError
                size = parse_bytes(text)
            except (ValueError, OverflowError):
                self.fail(f"{value!r} is not a size; write 2GiB, 500MB or a number of bytes", param, ctx)
        if not 0 < size < 1 << 63:
            self.fail(f"{value!r} is not a size that memory or a disk can have", param, ctx)
        return size


class Duration(FloatType):
    """Seconds, such as ``90min``, ``2h``, ``1d``, ``1:30:00`` or ``3600``."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        text = str(value).strip().lower()
        clock = re.fullmatch(r"(?:(\d{1,6}):)?(\d{1,6}):(\d{2})", text)
        number = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)\s*(s|sec|m|min|h|d|)", text)
        if clock is not None:
            seconds = 3600.0 * int(clock[1] or 0) + 60 * int(clock[2]) + int(clock[3])
        elif number is not None:
            seconds = float(number[1]) * {"m": 60, "h": 3600, "d": 86400}.get(number[2][:1], 1)
        else:
            self.fail(f"{value!r} is not a time; write 2h, 90min, 1:30:00 or a number of seconds", param, ctx)
        if not 0 < seconds <= MOST_SECONDS:
            self.fail(f"{value!r} is not a time to wait for", param, ctx)
        return seconds


def short(count: float) -> str:
    """A number to three or four digits, such as ``12.3 M``."""
    if count < 10_000:
        return f"{count:.0f}"
    for unit in ("k", "M", "G"):
        count /= 1000
        if count < 1000:
            return f"{count:.3g} {unit}" if count < 999.5 else f"{count:.0f} {unit}"
    return f"{count / 1000:.3g} T"


def duration(seconds: float) -> str:
    """A time such as ``0.35 s``, ``12 s``, ``3:05`` or ``1:02:03``."""
    if seconds < 9.95:
        return f"{seconds:.2g} s" if seconds >= 0.01 else "0 s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"
