"""Files of lines that are only ever added, each flushed and with its own checksum: journals, and ledgers of deep jobs.

A line is a checksum, the *tag* of what it belongs to, and a JSON object. A line whose checksum is wrong, such as the
last one after a kill, counts as not written. A line that is whole and has another tag was written for something else.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from storage.files.durable import sync_directory
from storage.files.reading import open_file
from storage.files.refusals import writing

CHECKSUM_DIGITS = 16
TAG_DIGITS = 16
# The largest census has a million parts, with a few hundred bytes each; what is longer than a line is none.
MOST_BYTES = 1 << 30
MOST_LINE_BYTES = 1 << 26

Entry = dict[str, Any]


def _checksum(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest()[:CHECKSUM_DIGITS].encode()


def tag_of(description: dict[str, Any]) -> bytes:
    """What ties a line to what it describes."""
    text = json.dumps(description, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:TAG_DIGITS].encode()


def text_for(entry: Entry) -> bytes:
    """The text of an entry."""
    return json.dumps(entry, separators=(",", ":")).encode()


def line_of(text: bytes, tag: bytes) -> bytes:
    """The line of an entry that is this text; without a tag if that is empty."""
    tagged = tag + b" " + text if tag else text
    return _checksum(tagged) + b" " + tagged + b"\n"


def text_of(line: bytes) -> tuple[bytes, bytes] | None:
    """Tag and text of a line, or None if it is damaged; JSON objects begin with a brace, and tags do not."""
    checksum, _, tagged = line.rstrip(b"\n").partition(b" ")
    if not line.endswith(b"\n") or checksum != _checksum(tagged):
        return None
    if re.match(rb"[0-9a-f]{%d} " % TAG_DIGITS, tagged):
        return tagged[:TAG_DIGITS], tagged[TAG_DIGITS + 1 :]
    return b"", tagged


def entry_of(text: bytes) -> Entry | None:
    """The object that is this text, if it is one."""
    try:
        entry = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def read_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file, those that are too long in parts; none if it is missing.

    Raises
    ------
    OSError
        If it cannot be read, or something else has its name.
    ValueError
        If it is larger than any.
    """
    try:
        descriptor = open_file(path)
    except FileNotFoundError:
        return
    with open(descriptor, "rb") as file:
        if os.fstat(file.fileno()).st_size > MOST_BYTES:
            raise ValueError(f"it has more than {MOST_BYTES} bytes")
        yield from iter(lambda: file.readline(MOST_LINE_BYTES), b"")


class EntryWriter:
    """Adds lines to a file and flushes each.

    Parameters
    ----------
    path : Path
        Made if it is not there.
    tag : bytes
        Of :func:`tag_of`.
    last_look : callable
        Called before every line; may raise.
    """

    def __init__(self, path: Path, tag: bytes, last_look: Callable[[], None]) -> None:
        self._last_look = last_look
        self._path = path
        self._tag = tag
        existed = os.path.lexists(path)
        self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o644)
        if not existed:
            sync_directory(path.parent)
        self._torn_from: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def add(self, entry: Entry) -> None:
        """Add an entry; it is on disk when this returns.

        Raises
        ------
        JobLocked
            If another process has taken over.
        OutOfBudget, JobError
            If it cannot be written. Then the next one takes its place.
        """
        self._last_look()
        line = line_of(text_for(entry), self._tag)
        with writing(self._path):
            if self._torn_from is not None:
                os.ftruncate(self._descriptor, self._torn_from)
            self._torn_from = os.fstat(self._descriptor).st_size
            written = 0
            while written < len(line):
                written += os.write(self._descriptor, line[written:])
            os.fsync(self._descriptor)
            self._torn_from = None
