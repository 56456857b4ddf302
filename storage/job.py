"""The job directory: a Zarr v3 group with one group per committed level.

``zarr.json`` in the root is written once and says what is searched; its lock is the lock of the job. Committed levels
are ``levels/<depth>``. What is being worked on is below ``work`` and can be deleted at any time without loss of more
than the work of the unfinished level. ``docs/format.md`` describes all of it.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import zarr

from storage.attributes import DISTRIBUTION, checked_attributes, writer_of
from storage.durable import (
    TEMPORARY_SUFFIX,
    publish,
    remove_orphans,
    sync_directory,
    sync_tree,
    temporary_name,
    write_text,
)
from storage.errors import CorruptJob, JobError
from storage.level import Level
from storage.lock import JobLock
from storage.manifest import Manifest, PartitionRecord
from storage.spill import DiskSpills

FORMAT_VERSION = 1
LEVELS = "levels"
WORK = "work"
HOLDER = "holder.json"


def _unwritable(path: Path, error: OSError) -> JobError:
    if error.errno == errno.ENOSPC:
        return JobError(f"the disk is full while writing {path}", "free some space and resume the job")
    return JobError(f"{path} cannot be written ({error.strerror or error})", "choose another place with --job")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn the operating system's refusals into errors that name the job.

    Raises
    ------
    JobError
    """
    try:
        yield
    except OSError as error:
        raise _unwritable(path, error) from error


class WorkingLevel:
    """The level that is being made.

    Parameters
    ----------
    path : Path
        Its directory, below ``work``.
    depth : int
    field_bits : int
        For the codec.
    """

    def __init__(self, path: Path, depth: int, field_bits: int) -> None:
        self.path = path
        self.depth = depth
        self.partitions = path / "partitions"
        self.field_bits = field_bits

    def plan(self) -> dict[str, Any] | None:
        """The plan that was made for the level, if there is one."""
        path = self.path / "plan.json"
        if not path.exists():
            return None
        plan: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return plan

    def save_plan(self, plan: dict[str, Any]) -> None:
        """Store the plan; the tasks that it names keep their meaning until the level is committed."""
        self.partitions.mkdir(parents=True, exist_ok=True)
        write_text(self.path / "plan.json", json.dumps(plan))

    def spills(self) -> DiskSpills:
        """The spill files of the level."""
        return DiskSpills(self.path / "spills", self.field_bits)

    def record(self, name: str) -> PartitionRecord | None:
        """The record of a finished partition, or None."""
        if not (self.partitions / name).exists():
            return None
        attributes = zarr.open_array(self.partitions / name, mode="r", zarr_format=3).attrs.asdict()
        return PartitionRecord.from_json(attributes)

    def drop_spills(self) -> None:
        """Remove the spill files."""
        shutil.rmtree(self.path / "spills", ignore_errors=True)

    def discard(self) -> None:
        """Remove all that was made of the level."""
        shutil.rmtree(self.path, ignore_errors=True)


class Job:
    """A job directory.

    Use :meth:`create` or :meth:`open`. Reading needs no lock; :meth:`lock` is for the one process that writes.

    Attributes
    ----------
    path : Path
    attributes : dict
        The attributes of the root group: ``format_version``, ``space`` (``name``, ``parameters``, ``key_version``,
        ``field_bits``, ``mask_bits``) and ``provenance``.
    """

    def __init__(self, path: Path, attributes: dict[str, Any]) -> None:
        self.path = path
        self.attributes = attributes
        self._lock: JobLock | None = None

    @staticmethod
    def exists(path: Path) -> bool:
        """Whether there is something at ``path`` that a new job would have to replace."""
        try:
            return path.is_symlink() or (path.exists() and not (path.is_dir() and not any(path.iterdir())))
        except OSError as error:
            raise _unwritable(path, error) from error

    @classmethod
    def create(cls, path: Path, space: dict[str, Any], provenance: dict[str, Any]) -> Job:
        """Make a new job directory, with no level.

        Raises
        ------
        JobError
            If there is something at ``path``, or it cannot be written.
        """
        if cls.exists(path):
            raise JobError(f"{path} exists", "use --resume to go on with it or --overwrite to start again")
        attributes = {"format_version": FORMAT_VERSION, "space": space, "provenance": provenance}
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = temporary_name(path)
            root = zarr.create_group(temporary, attributes=attributes, zarr_format=3)
            root.create_group(LEVELS)
            root.create_group(WORK)
            sync_tree(temporary)
            if path.exists():
                path.rmdir()
            publish(temporary, path)
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
            attributes = json.loads((path / "zarr.json").read_text(encoding="utf-8"))["attributes"]
            version = int(attributes["format_version"])
            if version <= FORMAT_VERSION:
                checked_attributes(attributes)
        except PermissionError as error:
            raise JobError(f"{path} cannot be read ({error.strerror})", "check its permissions") from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise JobError(f"{path} is not a job directory", "name one with --job, or choose another place") from error
        if version > FORMAT_VERSION:
            writer = writer_of(attributes)
            raise JobError(
                f"{path} has format {version}, and this version reads formats up to {FORMAT_VERSION}",
                f"use {writer} or newer" if writer else f"use a newer version of {DISTRIBUTION}",
            )
        if not (path / LEVELS / "zarr.json").exists():
            raise CorruptJob(f"the job {path} has lost its directory {LEVELS}", "start it again with --overwrite")
        return cls(path, attributes)

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
            root = path / "zarr.json"
            try:
                recognised = "format_version" in json.loads(root.read_text(encoding="utf-8"))["attributes"]
            except (OSError, ValueError, KeyError, TypeError):
                recognised = False
            if not recognised:
                raise JobError(f"{path} is not a job directory and is left alone", "choose another place with --job")
            job = cls(path, {})
            with job.lock():
                trash = temporary_name(path)
                os.replace(path, trash)
                sync_directory(path.parent)
            shutil.rmtree(trash)

    @contextmanager
    def lock(
        self,
        tell: Callable[[str], None] = lambda line: None,
        pause: Callable[[float], None] = time.sleep,
        lost: Callable[[], None] = lambda: None,
    ) -> Iterator[JobLock]:
        """Be the one process that writes to the job.

        Parameters
        ----------
        tell : callable
            Gets a line for the user when a lock of another host has to be watched.
        pause : callable
            Waits for some seconds meanwhile; may raise to give up.
        lost : callable
            Called from another thread when another process has taken over; no level is committed after that.

        Raises
        ------
        JobLocked
            If another process has the lock.
        JobError
            If the job cannot be written.
        """
        lock = JobLock(self.path / "zarr.json", self.path / WORK / HOLDER, tell, pause, lost)
        with writing(self.path):
            (self.path / WORK).mkdir(exist_ok=True)
            lock.acquire()
        self._lock = lock
        try:
            yield lock
        finally:
            self._lock = None
            lock.release()

    def _check_lock(self) -> None:
        """Before a change that counts: whether the lock, if this process took it, is still its own."""
        if self._lock is not None:
            self._lock.check()

    def depths(self) -> list[int]:
        """Depths of the committed levels, ascending and without gaps.

        Raises
        ------
        CorruptJob
            If a level is missing in between.
        """
        found = sorted(
            int(entry.name)
            for entry in (self.path / LEVELS).iterdir()
            if entry.name.isdigit() and (entry / "zarr.json").exists()
        )
        for expected, depth in enumerate(found):
            if depth != expected:
                raise CorruptJob(
                    f"level {expected} of the job {self.path} is missing",
                    "restore it from a copy, or start again with --overwrite",
                )
        return found

    def level(self, depth: int) -> Level:
        """A committed level.

        Raises
        ------
        CorruptJob
            If its manifest cannot be read.
        """
        path = self.path / LEVELS / f"{depth:04d}"
        try:
            entry = json.loads((path / "zarr.json").read_text(encoding="utf-8"))["attributes"]
            manifest = Manifest.from_json(entry)
            if manifest.depth != depth:
                raise ValueError(f"it is of level {manifest.depth}")
            return Level(path, manifest)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CorruptJob(
                f"the manifest of level {depth} ({path / 'zarr.json'}) cannot be read ({error})",
                "restore it from a copy, or start again with --overwrite",
            ) from error

    def earlier_levels(self, depth: int, bipartite: bool) -> list[Level]:
        """Committed levels that neighbours of level ``depth - 1`` can belong to."""
        steps = (2,) if bipartite else (1, 2)
        return [self.level(depth - step) for step in steps if depth >= step]

    def manifests(self) -> list[Manifest]:
        """Manifests of all committed levels."""
        return [self.level(depth).manifest for depth in self.depths()]

    def working_level(self, depth: int) -> WorkingLevel:
        """The directory for making a level."""
        return WorkingLevel(self.path / WORK / f"{depth:04d}", depth, int(self.attributes["space"]["field_bits"]))

    def commit(self, work: WorkingLevel, manifest: Manifest) -> None:
        """Make a level count as done: its manifest is written and flushed, then its directory gets its place."""
        kept = {partition.name for partition in manifest.partitions}
        work.partitions.mkdir(parents=True, exist_ok=True)
        for entry in list(work.partitions.iterdir()):
            if entry.is_dir() and entry.name not in kept:
                shutil.rmtree(entry)
        zarr.create_group(work.partitions, attributes=manifest.to_json(), zarr_format=3, overwrite=False)
        final = self.path / LEVELS / f"{work.depth:04d}"
        if final.exists() and not (final / "zarr.json").exists():
            # Without a manifest it is no level, whatever it is. With one it was committed by a process that has taken
            # over, and nothing may happen to it.
            shutil.rmtree(final)
        publish(work.partitions, final, self._check_lock)
        work.discard()

    def drop_arrays(self, depth: int) -> None:
        """Delete the arrays of a level; its manifest stays."""
        self._check_lock()
        level = self.level(depth)
        if level.manifest.arrays_kept:
            document = json.loads((level.path / "zarr.json").read_text(encoding="utf-8"))
            document["attributes"]["arrays_kept"] = False
            write_text(level.path / "zarr.json", json.dumps(document, indent=2))
        for entry in level.path.iterdir():
            if entry.is_dir():
                shutil.rmtree(entry)

    def sweep(self) -> None:
        """Remove what a killed process left behind; the job must be locked."""
        with writing(self.path):
            remove_orphans(self.path)
            # Of making this job or removing the one before it.
            orphan = re.compile(re.escape(self.path.name) + r"\.[0-9a-f]{8}" + re.escape(TEMPORARY_SUFFIX))
            for entry in self.path.parent.iterdir():
                if orphan.fullmatch(entry.name):
                    shutil.rmtree(entry, ignore_errors=True)
            if not (self.path / WORK / "zarr.json").exists():
                zarr.create_group(self.path / WORK, zarr_format=3)
            depths = self.depths()
            for entry in (self.path / LEVELS).iterdir():
                if entry.is_dir() and not (entry / "zarr.json").exists():
                    shutil.rmtree(entry)
            for depth in depths:
                if not self.level(depth).manifest.arrays_kept:
                    self.drop_arrays(depth)
            for entry in (self.path / WORK).iterdir():
                if entry.is_dir() and (not entry.name.isdigit() or int(entry.name) != len(depths)):
                    shutil.rmtree(entry)
            for path in (self.path / WORK).glob("*/partitions/zarr.json"):
                # A commit that was cut off before the rename.
                path.unlink()
            for path in (self.path / WORK).glob("*/spills/[1-9]??????.spill"):
                # Parts of tasks whose other parts were in memory.
                path.unlink()
