"""Sizes as people write them, and numbers as they like to read them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from storage.errors import InvalidInput
from storage.sizes import parse_size

if TYPE_CHECKING:
    IntegerType = click.ParamType[int]
    FloatType = click.ParamType[float]
else:
    # Not generic in older versions of click.
    IntegerType = FloatType = click.ParamType

# The longest time that a timer of Python waits on every system, about.
MOST_SECONDS = 30 * 86400.0


class Size(IntegerType):
    """Bytes, such as ``2GiB``, ``500MB``, ``1.5G`` or ``1073741824``.

    Parameters
    ----------
    of_memory : bool
        Take ``50%``, of the memory that this process may use, too.
    """

    name = "size"

    def __init__(self, of_memory: bool = False) -> None:
        self._of_memory = of_memory

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return parse_size(value, self._whole(str(value)))
        except InvalidInput as error:
            self.fail(str(error), param, ctx)

    def _whole(self, text: str) -> int | None:
        if not self._of_memory:
            return None
        if "%" not in text:
            return 0
        from pipeline.running.memory import available_memory

        return available_memory()


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
