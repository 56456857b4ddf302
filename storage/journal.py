"""The journal: the directory of a job whose parts are small and independent, such as a census.

``journal.json`` says what is computed; it is written once, and the lock of the job is its lock. ``finished.jsonl`` has
a line (:mod:`storage.files.lines`) for each part that is done; the part of a line that was not written whole is done
again.

Lines of version 1 have no tag; a journal of that version keeps its kind of lines.

Both may be anybody's: only ordinary files are read or written, and no more than a journal can have.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from storage.errors import CorruptJob, JobError
from storage.files.durable import publish, remove_orphans, temporary_name
from storage.files.lines import Entry, EntryWriter, entry_of, read_lines, tag_of, text_of
from storage.files.reading import DAMAGED
from storage.files.refusals import writing
from storage.files.sealed import read_document, write_document
from storage.locking.directory import LockedDirectory
from storage.records import JournalAttributes, parse

JOURNAL_VERSION = 2
UNTAGGED_VERSION = 1
DESCRIPTION = "journal.json"
ENTRIES = "finished.jsonl"
REMEDY = "restore it from a copy, or start again with --overwrite"


def _tag_of(description: dict[str, Any], version: int) -> bytes:
    """What ties the lines of a journal to what it computes; empty for version 1, whose lines have none."""
    return b"" if version == UNTAGGED_VERSION else tag_of(description)


class Journal(LockedDirectory):
    """A journal on disk.

    Use :meth:`create` or :meth:`open`; write within :meth:`lock`.

    Attributes
    ----------
    path : Path
    description : dict
        What is computed.
    version : int
        Of the journal on disk.
    """

    ROOT = DESCRIPTION
    HOLDER = "holder.json"

    def __init__(self, path: Path, description: dict[str, Any], version: int = JOURNAL_VERSION) -> None:
        super().__init__(path)
        self.description = description
        self.version = version
        self._tag = _tag_of(description, version)

    @staticmethod
    def is_at(path: Path) -> bool:
        """Whether what is at ``path`` looks like a journal."""
        return os.path.lexists(path / DESCRIPTION)

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
        attributes = {"journal_version": JOURNAL_VERSION, "description": description, "provenance": provenance}
        with cls._new(path) as new:
            write_document(new / DESCRIPTION, {"attributes": attributes})
            (new / ENTRIES).touch()
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
        if not cls.is_at(path):
            raise JobError(f"there is no census at {path}", "choose another place with --job")
        try:
            attributes = read_document(path / DESCRIPTION, sealed=True)["attributes"]
            version = attributes["journal_version"]
            if type(version) is int and version > JOURNAL_VERSION:
                raise JobError(
                    f"{path} has version {version} of the journal, and this program reads versions up to "
                    f"{JOURNAL_VERSION}",
                    "use a newer version of the program",
                )
            parse(JournalAttributes, attributes)
            return cls(path, dict(attributes["description"]), version)
        except PermissionError as error:
            raise JobError(f"{path} cannot be read ({error.strerror})", "check its permissions") from error
        except DAMAGED as error:
            raise CorruptJob(f"{path / DESCRIPTION} is damaged ({error})", REMEDY) from error

    @classmethod
    def remove(cls, path: Path) -> None:
        """Delete a journal, after making sure that it is one and that nobody writes to it.

        Raises
        ------
        JobError, JobLocked
        """
        if not cls.exists(path):
            return
        if path.is_symlink():
            raise JobError(f"{path} is a link and is left alone", "remove it, or choose another place with --job")
        with writing(path):
            recognised = cls.is_at(path)
        if not recognised:
            raise JobError(f"{path} is not a census and is left alone", "choose another place with --job")
        cls(path, {})._remove()

    def entries(self) -> list[Entry]:
        """All entries whose lines are whole.

        Raises
        ------
        CorruptJob
            If something else is in the place of their file, or it is larger than any, or some were written for
            another journal.
        """
        return [entry for _, entry in self._whole_lines()]

    def _whole_lines(self) -> Iterator[tuple[bytes, Entry]]:
        """The lines that are whole, each with its entry."""
        for number, line in enumerate(self._lines(), start=1):
            found = text_of(line)
            if found is None:
                continue
            tag, text = found
            if tag != self._tag:
                raise CorruptJob(
                    f"line {number} of {self.path / ENTRIES} was written for another census",
                    REMEDY,
                    self.path / ENTRIES,
                )
            entry = entry_of(text)
            if entry is not None:
                yield line, entry

    def _lines(self) -> Iterator[bytes]:
        """The lines of the file of entries; none if it is missing."""
        path = self.path / ENTRIES
        try:
            yield from read_lines(path)
        except OSError as error:
            raise CorruptJob(f"{path} cannot be read ({error.strerror})", REMEDY) from error
        except ValueError as error:
            raise CorruptJob(f"{path} is no file of entries ({error})", REMEDY) from error

    def writer(self) -> EntryWriter:
        """Adds entries; the journal must be locked. Damaged lines are dropped first.

        Raises
        ------
        JobError, OutOfBudget, CorruptJob
        """
        with writing(self.path):
            remove_orphans(self.path)
            self._drop_damaged_lines()
            return EntryWriter(self.path / ENTRIES, self._tag, self.check_lock)

    def _drop_damaged_lines(self) -> None:
        path = self.path / ENTRIES
        if path.exists() and sum(1 for _ in self._lines()) == sum(1 for _ in self._whole_lines()):
            return
        temporary = temporary_name(path)
        with open(temporary, "wb") as file:
            file.writelines(line for line, _ in self._whole_lines())
        publish(temporary, path)
