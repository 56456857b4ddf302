"""The journal: the directory of a job whose parts are small and independent, such as a census.

``journal.json`` says what is computed; it is written once, and the lock of the job is its lock. ``finished.jsonl`` has
a line for each part that is done: a checksum and a JSON object. Lines are only ever added, and flushed one by one. A
line whose checksum is wrong, such as the last one after a kill, counts as not written: its part is done again.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from storage.durable import make_directories, publish, remove, remove_orphans, sync_directory, temporary_name
from storage.errors import CorruptJob, JobError
from storage.job import HOLDER
from storage.lock import JobLock
from storage.metadata import read_document, write_document
from storage.writing import writing

JOURNAL_VERSION = 1
DESCRIPTION = "journal.json"
ENTRIES = "finished.jsonl"
CHECKSUM_DIGITS = 16

Entry = dict[str, Any]


def _checksum(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest()[:CHECKSUM_DIGITS].encode()


def _entry_of(line: bytes) -> Entry | None:
    """What a line says, or None if it is damaged."""
    checksum, _, text = line.rstrip(b"\n").partition(b" ")
    if not line.endswith(b"\n") or checksum != _checksum(text):
        return None
    try:
        entry: Entry = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return entry


class Journal:
    """A journal on disk.

    Use :meth:`create` or :meth:`open`; write within :meth:`lock`.

    Attributes
    ----------
    path : Path
    description : dict
        What is computed.
    """

    def __init__(self, path: Path, description: dict[str, Any]) -> None:
        self.path = path
        self.description = description
        self._lock: JobLock | None = None

    @staticmethod
    def exists(path: Path) -> bool:
        """Whether there is something at ``path`` that is not an empty directory."""
        with writing(path):
            return path.is_symlink() or (path.exists() and not (path.is_dir() and not any(path.iterdir())))

    @classmethod
    def create(cls, path: Path, description: dict[str, Any], provenance: dict[str, Any]) -> Journal:
        """Make a journal without entries.

        Raises
        ------
        JobError
            If there is something at ``path``, or it cannot be written.
        OutOfBudget
            If the disk is full.
        """
        if cls.exists(path):
            raise JobError(f"{path} exists", "use --resume to go on with it or --overwrite to start again")
        attributes = {"journal_version": JOURNAL_VERSION, "description": description, "provenance": provenance}
        with writing(path):
            make_directories(path.absolute().parent)
            temporary = temporary_name(path)
            try:
                temporary.mkdir()
                write_document(temporary / DESCRIPTION, {"attributes": attributes})
                (temporary / ENTRIES).touch()
                if path.exists():
                    path.rmdir()
                publish(temporary, path)
            except OSError:
                shutil.rmtree(temporary, ignore_errors=True)
                raise
        return cls(path, description)

    @classmethod
    def open(cls, path: Path) -> Journal:
        """Open an existing journal.

        Raises
        ------
        JobError
            If there is none, or it was written by a newer version.
        CorruptJob
            If it is damaged.
        """
        if not (path / DESCRIPTION).is_file():
            raise JobError(f"there is no census at {path}", "choose another place with --job")
        try:
            attributes = read_document(path / DESCRIPTION, sealed=True)["attributes"]
            version = attributes["journal_version"]
            if version > JOURNAL_VERSION:
                raise JobError(
                    f"{path} has version {version} of the journal, and this program reads versions up to "
                    f"{JOURNAL_VERSION}",
                    "use a newer version of the program",
                )
            return cls(path, dict(attributes["description"]))
        except PermissionError as error:
            raise JobError(f"{path} cannot be read ({error.strerror})", "check its permissions") from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CorruptJob(
                f"{path / DESCRIPTION} is damaged ({error})", "restore it from a copy, or start again with --overwrite"
            ) from error

    @classmethod
    def remove(cls, path: Path) -> None:
        """Delete a journal, after making sure that it is one and that nobody writes to it.

        Raises
        ------
        JobError, JobLocked
        """
        if not cls.exists(path):
            return
        if not (path / DESCRIPTION).is_file():
            raise JobError(f"{path} is not a census and is left alone", "choose another place with --job")
        with cls(path, {}).lock(), writing(path):
            trash = temporary_name(path)
            os.replace(path, trash)
            sync_directory(path.absolute().parent)
        remove(trash)

    @contextmanager
    def lock(
        self,
        tell: Callable[[str], None] = lambda line: None,
        pause: Callable[[float], None] = time.sleep,
        lost: Callable[[], None] = lambda: None,
    ) -> Iterator[JobLock]:
        """Be the one process that writes to the journal; parameters and errors as :meth:`storage.job.Job.lock`."""
        lock = JobLock(self.path / DESCRIPTION, self.path / HOLDER, tell, pause, lost)
        with writing(self.path):
            lock.acquire()
        self._lock = lock
        try:
            yield lock
        finally:
            self._lock = None
            lock.release()

    def entries(self) -> list[Entry]:
        """All entries whose lines are whole."""
        try:
            with open(self.path / ENTRIES, "rb") as file:
                found = [_entry_of(line) for line in file]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise CorruptJob(
                f"{self.path / ENTRIES} cannot be read ({error.strerror})", "start again with --overwrite"
            ) from error
        return [entry for entry in found if entry is not None]

    def writer(self) -> EntryWriter:
        """Adds entries; the journal must be locked. Damaged lines are dropped first.

        Raises
        ------
        JobError, OutOfBudget
        """
        with writing(self.path):
            remove_orphans(self.path)
            self._drop_damaged_lines()
            return EntryWriter(self.path / ENTRIES, self._lock)

    def _drop_damaged_lines(self) -> None:
        path = self.path / ENTRIES
        lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
        whole = [line for line in lines if _entry_of(line) is not None]
        if whole != lines or not path.exists():
            temporary = temporary_name(path)
            temporary.write_bytes(b"".join(whole))
            publish(temporary, path)


class EntryWriter:
    """Adds lines to a file and flushes each.

    Parameters
    ----------
    path : Path
    lock : JobLock, optional
        Looked at before every line.
    """

    def __init__(self, path: Path, lock: JobLock | None) -> None:
        self._lock = lock
        self._path = path
        self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)

    def add(self, entry: Entry) -> None:
        """Add an entry; it is on disk when this returns.

        Raises
        ------
        JobLocked
            If another process has taken the journal over.
        OutOfBudget, JobError
            If it cannot be written.
        """
        if self._lock is not None:
            self._lock.check()
        text = json.dumps(entry, separators=(",", ":")).encode()
        line = _checksum(text) + b" " + text + b"\n"
        with writing(self._path):
            written = 0
            while written < len(line):
                written += os.write(self._descriptor, line[written:])
            os.fsync(self._descriptor)
