"""How a search runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True)
class Tls:
    """Files for an encrypted connection to a cluster; what is not given is left to dask's own configuration.

    Attributes
    ----------
    ca : Path, optional
        Certificates of the authorities that are trusted.
    cert, key : Path, optional
        Certificate and private key to show to the scheduler and the workers.
    """

    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None


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
    tls : Tls
        For a cluster.
    """

    memory: int | None = None
    workers: int | None = None
    scheduler: str = "threads"
    max_depth: int | None = None
    keep: Literal["all", "frontier"] = "all"
    max_disk: int | None = None
    force: bool = False
    tls: Tls = Tls()
