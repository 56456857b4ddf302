"""How a search runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Settings:
    """How a search runs; none of it changes the result.

    Attributes
    ----------
    memory : int, optional
        Budget in bytes; half of what the machine or its container allows unless given.
    workers : int, optional
        Tasks at a time; one for each processor unless given.
    scheduler : str
        ``threads``, ``sync``, or the address of a dask.distributed scheduler.
    max_depth : int, optional
        Last depth to search.
    keep : {"all", "frontier"}
        Levels whose arrays stay on disk: all, or those that the search still needs.
    """

    memory: int | None = None
    workers: int | None = None
    scheduler: str = "threads"
    max_depth: int | None = None
    keep: Literal["all", "frontier"] = "all"
