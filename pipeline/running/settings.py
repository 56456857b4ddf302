"""How a search runs."""

from __future__ import annotations

import operator
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from pipeline.running.memory import available_memory
from storage.errors import InvalidInput
from storage.sizes import parse_size

KEPT = ("all", "frontier")


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
    memory : int or str, optional
        Budget in bytes, or as text: ``"2GiB"``, or ``"50%"`` of what the machine or its container allows. Half of that
        unless given. Kept as a number of bytes.
    workers : int, optional
        Tasks at a time; one for each processor unless given.
    scheduler : str
        ``threads``, ``sync``, or the address of a dask.distributed scheduler.
    max_depth : int, optional
        Last depth to search.
    keep : {"all", "frontier"}
        Levels whose arrays stay on disk: all, or those that the search still needs.
    max_disk : int or str, optional
        Quota of the job's directory in bytes, or as text, spills included; all that the disk has unless given. Kept as
        a number of bytes.
    force : bool
        Begin levels that are not expected to fit on the disk or into the quota.
    tls : Tls
        For a cluster.
    work_dir : Path, optional
        Where levels are made before they are committed, such as a faster disk; in the job's directory unless given. It
        may serve any number of jobs.

    Raises
    ------
    InvalidInput
        If a value is none that the setting can have.
    """

    memory: int | None = None
    workers: int | None = None
    scheduler: str = "threads"
    max_depth: int | None = None
    keep: Literal["all", "frontier"] = "all"
    max_disk: int | None = None
    force: bool = False
    tls: Tls = Tls()
    work_dir: Path | None = None

    def __post_init__(self) -> None:
        self._put("memory", memory_budget(self.memory))
        self._put("max_disk", None if self.max_disk is None else parse_size(_plain(self.max_disk)))
        self._put("work_dir", None if self.work_dir is None else Path(self.work_dir))
        self._put("workers", whole_number("workers", self.workers, 1))
        self._put("max_depth", whole_number("max_depth", self.max_depth, 0))
        if not isinstance(self.scheduler, str):
            raise InvalidInput(f"scheduler is {self.scheduler!r}", "give threads, sync, or an address as text")
        if self.keep not in KEPT:
            raise InvalidInput(f"keep is {self.keep!r}", f"give {' or '.join(KEPT)}")
        if not isinstance(self.force, bool):
            raise InvalidInput(f"force is {self.force!r}", "give True or False")
        if not isinstance(self.tls, Tls):
            raise InvalidInput(f"tls is {self.tls!r}", "give a pipeline.running.settings.Tls")

    def _put(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @classmethod
    def of(cls, settings: Settings | None, options: dict[str, Any]) -> Settings:
        """The settings that were given whole, or one by one.

        Raises
        ------
        InvalidInput
            If both were, or there is no setting of a name.
        """
        known = [field.name for field in fields(cls)]
        for name in options:
            if name not in known:
                close = get_close_matches(name, known, 1)
                raise InvalidInput(
                    f"there is no setting {name!r}",
                    f"did you mean {close[0]!r}?" if close else f"the settings are {', '.join(known)}",
                )
        if settings is None:
            return cls(**options)
        if not isinstance(settings, cls):
            raise InvalidInput(f"settings is {settings!r}", "give a pipeline.Settings")
        if options:
            raise InvalidInput(
                f"settings and {', '.join(options)} are both given", "put all of them into the settings, or none"
            )
        return settings


def memory_budget(given: Any) -> int | None:
    """Bytes of a memory budget that was given as a number or as text; None if none was.

    Raises
    ------
    InvalidInput
    """
    if given is None:
        return None
    plain = _plain(given)
    whole = available_memory() if isinstance(plain, str) and "%" in plain else 0
    return parse_size(plain, whole)


def whole_number(name: str, given: Any, least: int) -> int | None:
    """A whole number that was given as such or in digits; None if none was.

    Raises
    ------
    InvalidInput
        If it is none, or less than ``least``.
    """
    if given is None:
        return None
    plain = _plain(given)
    if isinstance(plain, str) and plain.strip().isdecimal() and len(plain) < 20:
        plain = int(plain)
    if isinstance(plain, bool) or not isinstance(plain, int):
        raise InvalidInput(f"{name} is {given!r}", f"give a whole number of {least} or more")
    if plain < least:
        raise InvalidInput(f"{name} is {plain}", f"give {least} or more")
    return plain


def _plain(given: Any) -> Any:
    """A number of numpy's as Python's own, anything else as it is."""
    if isinstance(given, (bool, str)):
        return given
    try:
        return operator.index(given)
    except TypeError:
        return given
