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
    max_disk : int, optional
        Quota of the job's directory in bytes, spills included; all that the disk has unless given.
    force : bool
        Begin levels that are not expected to fit on the disk or into the quota.
    """

    memory: int | None = None
    workers: int | None = None
    scheduler: str = "threads"
    max_depth: int | None = None
    keep: Literal["all", "frontier"] = "all"
    max_disk: int | None = None
    force: bool = False
