"""Sizes as people write them, and numbers as they like to read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from storage.errors import InvalidInput
from storage.sizes import parse_size

if TYPE_CHECKING:
    IntegerType = click.ParamType[int]
else:
    # Not generic in older versions of click.
    IntegerType = click.ParamType


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
