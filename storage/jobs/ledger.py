"""The ledger of a job: what is committed, in short, in the attributes of the group ``levels``.

It repeats what the job searches and the numbers of every committed level. So levels that vanished from the end are
missed, and damaged metadata of the job or of a level whose states were deleted can be restored.

The document is written anew with every level while there are few; that costs more with every level. So the levels from
``DOCUMENT_LEVELS`` on are lines (:mod:`storage.files.lines`) of a file beside it, to which one is added.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from storage.files.durable import publish, remove, temporary_name
from storage.files.lines import EntryWriter, entry_of, line_of, read_lines, tag_of, text_for, text_of
from storage.files.reading import refuse_links
from storage.files.sealed import group_document, read_document, write_document
from storage.records import LedgerAttributes, LevelSummary, Manifest, parse, to_json

LINES = "ledger.jsonl"
DOCUMENT_LEVELS = 100
# What must agree with the manifest; the rest says how the level was made, which a repair may do in another way.
ESSENTIAL = ("depth", "keys", "states", "digest", "forward", "exhaustive")


class Ledger:
    """What the ledger of a job says.

    Parameters
    ----------
    path : Path
        Of the group ``levels``.
    job : dict
        The attributes of the job.

    Attributes
    ----------
    job : dict
    committed : list of LevelSummary
        For each level its manifest without the partitions, and without whether the arrays are on disk.
    """

    def __init__(self, path: Path, job: dict[str, Any]) -> None:
        self.job = job
        self.committed: list[LevelSummary] = []
        self._path = path
        self._tag = tag_of(job)
        self._whole_bytes = 0
        self._writer: EntryWriter | None = None

    @classmethod
    def read(cls, path: Path) -> Ledger:
        """Read the ledger of the group at ``path``.

        Raises
        ------
        OSError, ValueError, KeyError, TypeError
            If it is missing or damaged.
        """
        refuse_links(path)
        attributes = read_document(path / "zarr.json", sealed=True)["attributes"]
        found = parse(LedgerAttributes, attributes)
        ledger = cls(path, dict(attributes["job"]))
        ledger.committed += found.committed
        ledger._read_lines()
        return ledger

    def _read_lines(self) -> None:
        """The levels that are lines; the last one may be cut off, by a kill or a full disk."""
        damaged = None
        for number, line in enumerate(read_lines(self._path / LINES), start=1):
            if damaged is not None:
                raise ValueError(f"line {damaged} of {LINES} is damaged")
            found = text_of(line)
            entry = None if found is None else entry_of(found[1])
            if found is None or entry is None:
                damaged = number
                continue
            if found[0] != self._tag:
                raise ValueError(f"line {number} of {LINES} is of another job")
            summary = parse(LevelSummary, entry)
            if summary.depth > len(self.committed):
                raise ValueError(f"{LINES} has no line for level {len(self.committed)}")
            # Levels that the document has too were entered by a version that knew no lines.
            if summary.depth == len(self.committed):
                self.committed.append(summary)
            self._whole_bytes += len(line)

    def write(self, manifests: list[Manifest]) -> None:
        """Write it anew, with these levels, atomically and durably."""
        self.close()
        self.committed = [manifest.summary for manifest in manifests]
        lines = [line_of(text_for(to_json(summary)), self._tag) for summary in self.committed[DOCUMENT_LEVELS:]]
        self._whole_bytes = sum(map(len, lines))
        if lines:
            temporary = temporary_name(self._path / LINES)
            temporary.write_bytes(b"".join(lines))
            publish(temporary, self._path / LINES)
        else:
            remove(self._path / LINES)
        self._write_document()

    def enter(self, manifest: Manifest, last_look: Callable[[], None]) -> None:
        """Enter a level, durably, if it is the one after those that are there.

        Parameters
        ----------
        manifest : Manifest
        last_look : callable
            Called before anything is written; may raise.
        """
        if manifest.depth != len(self.committed):
            return
        if manifest.depth < DOCUMENT_LEVELS:
            last_look()
            self.committed.append(manifest.summary)
            self._write_document()
            return
        if self._writer is None:
            last_look()
            self._writer = EntryWriter(self._path / LINES, self._tag, last_look)
            os.truncate(self._path / LINES, self._whole_bytes)
        self._writer.add(to_json(manifest.summary))
        self.committed.append(manifest.summary)

    def close(self) -> None:
        """Let go of the file of lines."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _write_document(self) -> None:
        document = {"job": self.job, "committed": [to_json(summary) for summary in self.committed[:DOCUMENT_LEVELS]]}
        write_document(self._path / "zarr.json", group_document(document))
