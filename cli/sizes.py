"""Sizes as people write them, and numbers as they like to read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    IntegerType = click.ParamType[int]
else:
    # Not generic in older versions of click.
    IntegerType = click.ParamType


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
