"""The job directory: a Zarr v3 group with one group per committed level.

``zarr.json`` in the root is written once and says what is searched; its lock is the lock of the job. Committed levels
are ``levels/<depth>``; the metadata of ``levels`` is the ledger (:mod:`storage.jobs.ledger`). What is being worked on
is below ``work`` and can be deleted at any time without loss of more than the work of the unfinished level.
``docs/format.md`` describes all of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from storage.errors import CorruptJob, JobError
from storage.files.durable import delete, make_directories, publish, remove
from storage.files.reading import DAMAGED, refuse_links
from storage.files.refusals import writing
from storage.files.sealed import group_document, read_document, write_document
from storage.jobs.formats import FORMAT_VERSION, SEALED_FORMAT, format_of, read_attributes
from storage.jobs.ledger import Ledger
from storage.jobs.level import Level
from storage.jobs.working import WorkingLevel
from storage.keys.cut import CUT, Cut
from storage.locking.directory import LockedDirectory
from storage.records import Manifest

LEVELS = "levels"
WORK = "work"
QUOTA = "quota"
REPAIR = "repair"
RECENT_LEVELS = 3
LEVEL_NAME = re.compile("[0-9]{4,9}")
REMEDY = "'pipeline verify --repair' restores it if it can, otherwise take it from a copy or use --overwrite"


class Job(LockedDirectory):
    """A job directory.

    Use :meth:`create` or :meth:`open`. Reading needs no lock; :meth:`lock` is for the one process that writes.

    Attributes
    ----------
    path : Path
    attributes : dict
        The attributes of the root group: ``format_version``, ``space`` (``name``, ``parameters``, ``key_version``,
        ``field_bits``, ``mask_bits``) and ``provenance``.
    work : Path
        What the level that is being made lies in; see :mod:`storage.jobs.scratch`.
    """

    ROOT = "zarr.json"
    HOLDER = f"{WORK}/holder.json"

    def __init__(self, path: Path, attributes: dict[str, Any]) -> None:
        super().__init__(path)
        self.attributes = attributes
        self.work = path / WORK
        self._ledger: Ledger | None = None
        self._recent: dict[int, Level] = {}

    @property
    def sealed(self) -> bool:
        """Whether the metadata of the job have checksums."""
        return int(self.attributes["format_version"]) >= SEALED_FORMAT

    @classmethod
    def create(cls, path: Path, space: dict[str, Any], provenance: dict[str, Any]) -> Job:
        """Make a new job directory, with no level.

        Raises
        ------
        JobError
            If there is something at ``path``, or it cannot be written.
        OutOfBudget
            If the disk is full.
        """
        attributes = {"format_version": FORMAT_VERSION, "space": space, "provenance": provenance}
        with cls._new(path) as new:
            for directory in (new / LEVELS, new / WORK):
                directory.mkdir()
            write_document(new / "zarr.json", group_document(attributes))
            Ledger(new / LEVELS, attributes).write([])
            write_document(new / WORK / "zarr.json", group_document({}))
        return cls(path, attributes)

    @classmethod
    def open(cls, path: Path) -> Job:
        """Open an existing job.

        Raises
        ------
        JobError
            If there is none, or it was written by a newer version.
        CorruptJob
            If it is there in part only.
        """
        if not path.exists():
            raise JobError(f"there is no job at {path}", "'pipeline list' shows the jobs")
        try:
            attributes = read_attributes(path)
        except PermissionError as error:
            raise JobError(f"{path} cannot be read ({error.strerror})", "check its permissions") from error
        except DAMAGED as error:
            if cls.copy_of_attributes(path) is not None:
                place = path / "zarr.json"
                raise CorruptJob(f"the metadata of the job ({place}) are damaged ({error})", REMEDY, place) from error
            raise JobError(f"{path} is not a job directory", "name one with --job, or choose another place") from error
        if not (path / LEVELS).is_dir():
            raise CorruptJob(f"the job {path} has lost its directory {LEVELS}", "start it again with --overwrite")
        cls._refuse_links(path)
        return cls(path, attributes)

    @staticmethod
    def _refuse_links(path: Path) -> None:
        """Nothing is read or written through a link, wherever it leads.

        Raises
        ------
        CorruptJob
        """
        if (path / WORK).is_symlink():
            raise CorruptJob(
                f"{path / WORK} is a link, and a job has none",
                "remove the link (unfinished work is made again), and name another disk for such work with --work-dir",
            )
        if (path / LEVELS).is_symlink():
            raise CorruptJob(
                f"{path / LEVELS} is a link, and a job has none", "put the directory that it leads to in its place"
            )

    @staticmethod
    def copy_of_attributes(path: Path) -> dict[str, Any] | None:
        """The attributes of the job at ``path`` as its ledger repeats them; None if there is no whole ledger."""
        try:
            return Ledger.read(path / LEVELS).job
        except DAMAGED:
            return None

    @classmethod
    def remove(cls, path: Path) -> None:
        """Delete a job, after making sure that it is one and that nobody writes to it.

        Raises
        ------
        JobError
        """
        with writing(path):
            if not path.exists() or not any(path.iterdir()):
                return
            if path.is_symlink():
                raise JobError(f"{path} is a link and is left alone", "remove it, or choose another place with --job")
            try:
                format_of(path)
                recognised = True
            except DAMAGED:
                recognised = False
            if not recognised and cls.copy_of_attributes(path) is None:
                raise JobError(f"{path} is not a job directory and is left alone", "choose another place with --job")
        cls(path, {})._remove()

    def forget_ledger(self) -> None:
        """Read the ledger anew when it is asked for next."""
        if self._ledger is not None:
            self._ledger.close()
            self._ledger = None

    def forget_level(self, depth: int) -> None:
        """Read a level anew when it is asked for next."""
        self._recent.pop(depth, None)

    def _unlocked(self) -> None:
        self.forget_ledger()
        self._recent.clear()

    def _make_room_for_holder(self) -> None:
        self._refuse_links(self.path)
        (self.path / WORK).mkdir(exist_ok=True)

    def ledger(self) -> Ledger | None:
        """The ledger; None in jobs of format 1.

        Raises
        ------
        CorruptJob
            If it is damaged.
        """
        if not self.sealed:
            return None
        if self._ledger is not None:
            return self._ledger
        try:
            ledger = Ledger.read(self.path / LEVELS)
            if ledger.job != self.attributes:
                raise ValueError("it is of another job")
            if self._lock is not None:
                # Nobody else writes it as long as the lock is ours.
                self._ledger = ledger
            return ledger
        except DAMAGED as error:
            raise CorruptJob(
                f"the ledger of the job ({self.path / LEVELS / 'zarr.json'}) is damaged ({error})", REMEDY
            ) from error

    def depths(self) -> list[int]:
        """Depths of the committed levels, ascending and without gaps.

        Raises
        ------
        CorruptJob
            If a level is missing, in between or at the end.
        """
        found = set(self.depths_found())
        ledger = self.ledger()
        last = max(found, default=-1)
        if ledger is not None:
            last = self.levels_after(len(ledger.committed), found) - 1
        for depth in range(last + 1):
            if depth not in found:
                raise CorruptJob(f"level {depth} of the job {self.path} is missing", REMEDY)
        return list(range(last + 1))

    def depths_found(self) -> list[int]:
        """Depths of the levels whose manifests are there, ascending."""
        return sorted(
            int(entry.name)
            for entry in (self.path / LEVELS).iterdir()
            if LEVEL_NAME.fullmatch(entry.name) and (entry / "zarr.json").exists()
        )

    def levels_after(self, entered: int, found: set[int]) -> int:
        """How many levels there are, if so many are entered in the ledger; it may be behind after a crash.

        What does not follow one after the other is no level of the job, whatever its name.
        """
        while entered in found and not self.is_copy(entered):
            entered += 1
        return entered

    def is_copy(self, depth: int) -> bool:
        """Whether in the place of a level there is a whole manifest of another one."""
        with suppress(*DAMAGED):
            document = read_document(self.level_path(depth) / "zarr.json", self.sealed)
            return bool(document["attributes"]["depth"] != depth)
        return False

    def level_path(self, depth: int) -> Path:
        """The directory of a level."""
        return self.path / LEVELS / f"{depth:04d}"

    def level(self, depth: int) -> Level:
        """A committed level.

        Raises
        ------
        CorruptJob
            If its manifest cannot be read.
        """
        if depth in self._recent:
            return self._recent[depth]
        path = self.level_path(depth)
        try:
            refuse_links(path)
            manifest = Manifest.from_json(read_document(path / "zarr.json", self.sealed)["attributes"])
            if manifest.depth != depth:
                raise ValueError(f"it is of level {manifest.depth}")
            level = Level(path, manifest, self.sealed)
            if self._lock is not None:
                # As long as nobody else writes, the last few need not be read again.
                self._recent = {known: self._recent[known] for known in self._recent if known > depth - RECENT_LEVELS}
                self._recent[depth] = level
            return level
        except DAMAGED as error:
            raise CorruptJob(
                f"the manifest of level {depth} ({path / 'zarr.json'}) cannot be read ({error})",
                REMEDY,
                path / "zarr.json",
            ) from error

    def manifests(self) -> list[Manifest]:
        """Manifests of all committed levels."""
        return [self.level(depth).manifest for depth in self.depths()]

    def working_level(self, depth: int, cut: Cut = CUT) -> WorkingLevel:
        """The directory for making a level."""
        self.check_lock()
        field_bits = int(self.attributes["space"]["field_bits"])
        return WorkingLevel(self.work / f"{depth:04d}", depth, field_bits, self.sealed, cut)

    def commit(self, work: WorkingLevel, manifest: Manifest) -> None:
        """Make a level count as done: its manifest is written and flushed, then its directory gets its place.

        The ledger follows. If it does not come to that, the next sweep enters the level.
        """
        kept = {partition.name for partition in manifest.partitions}
        make_directories(work.partitions)
        for entry in list(work.partitions.iterdir()):
            if entry.name not in kept:
                delete(entry)
        self.write_manifest(work.partitions, manifest)
        final = self.level_path(work.depth)
        try:
            # Committed by a process that has taken over: nothing may happen to it.
            self.level(work.depth)
        except CorruptJob:
            # Without its manifest it is no level, whatever it is.
            remove(final)
        # The arrays were flushed when they were finished, the manifest and the directory when it was written.
        publish(work.partitions, final, self.check_lock, flushed=True)
        self.enter([manifest])
        work.discard(committed=True)

    def write_manifest(self, directory: Path, manifest: Manifest) -> None:
        """Write the manifest of the level in a directory, atomically and durably."""
        self._recent.pop(manifest.depth, None)
        write_document(directory / "zarr.json", group_document(manifest.to_json()), self.sealed)

    def enter(self, manifests: Iterable[Manifest]) -> None:
        """Enter levels into the ledger that it does not have."""
        ledger = self.ledger()
        if ledger is not None:
            for manifest in manifests:
                ledger.enter(manifest, self.check_lock)

    def drop_arrays(self, depth: int) -> None:
        """Delete the arrays of a level; its manifest stays."""
        self.check_lock()
        level = self.level(depth)
        self.forget_level(depth)
        if level.manifest.arrays_kept:
            self.write_manifest(level.path, replace(level.manifest, arrays_kept=False))
        for entry in level.path.iterdir():
            if LEVEL_NAME.fullmatch(entry.name):
                delete(entry)
