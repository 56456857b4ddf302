"""One spill file: the sorted, de-duplicated output of one expand task.

It holds frames (:mod:`storage.keys.gaps`) of at most 2**18 keys, each of one partition; behind them an index,
a note (JSON) that says of which level and task it is and what the task counted (its *receipt*), and a trailer with the
checksum of both. The file gets its name when it is complete, so a spill file that exists is a task that is done.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from storage.errors import CorruptSpill
from storage.files.durable import publish, temporary_name
from storage.files.quota import Quota
from storage.files.reading import open_file
from storage.keys.gaps import decode, encode

LARGEST_FRAME_KEYS = 1 << 18
# No frame of so many keys is larger, whatever they are.
LARGEST_FRAME_BYTES = LARGEST_FRAME_KEYS * 16
# An index of so many frames, and a note of so many bytes, are far from what any task writes.
MOST_ENTRIES = 1 << 22
MOST_NOTE_BYTES = 1 << 12
TRAILER = struct.Struct("<IIIQ")
MAGIC = 0x6C6C697073203120
INDEX_TYPE = np.dtype([("partition", "<u4"), ("keys", "<u4"), ("offset", "<u8"), ("size", "<u4"), ("crc32", "<u4")])

REMEDY = "remove that file and resume the job"

Receipt = dict[str, int]


class Piece(ABC):
    """A run of ascending keys of one partition."""

    keys: int

    @abstractmethod
    def read(self, out: NDArray[np.uint64]) -> None:
        """Write the keys to ``out``, which has room for exactly them."""


class DiskPiece(Piece):
    """A frame of a spill file."""

    def __init__(self, path: Path, entry: Any) -> None:
        self.path = path
        self.keys = int(entry["keys"])
        self._offset = int(entry["offset"])
        self._size = int(entry["size"])
        self._crc32 = int(entry["crc32"])

    def read(self, out: NDArray[np.uint64]) -> None:
        try:
            with open(open_file(self.path), "rb") as file:
                file.seek(self._offset)
                frame = file.read(self._size)
        except FileNotFoundError as error:
            raise CorruptSpill(f"the spill file {self.path} is missing", "resume the job", self.path) from error
        except OSError as error:
            raise CorruptSpill(
                f"the spill file {self.path} cannot be read ({error.strerror})", REMEDY, self.path
            ) from error
        try:
            if zlib.crc32(frame) != self._crc32:
                raise ValueError("its checksum is wrong")
            found = decode(frame, out)
            # A key that is 0 takes no space.
            if found != self.keys and (found, self.keys) != (0, 1):
                raise ValueError(f"it holds {found} keys where its index says {self.keys}")
        except ValueError as error:
            raise CorruptSpill(
                f"the spill file {self.path} is damaged at byte {self._offset} ({error})", REMEDY, self.path
            ) from error


class SpillWriter(ABC):
    """Takes the output of one expand task."""

    @abstractmethod
    def append(self, keys: NDArray[np.uint64], cuts: Sequence[int]) -> None:
        """Add ascending keys; those from ``cuts[p]`` to ``cuts[p + 1]`` belong to partition ``p``. They are copied."""

    @abstractmethod
    def close(self, receipt: Receipt) -> None:
        """Finish the task."""

    @abstractmethod
    def abandon(self) -> None:
        """Delete the file of a task that was not finished."""


class DiskSpillWriter(SpillWriter):
    """Writes a spill file.

    Parameters
    ----------
    path : Path
    field_bits : int
        For the codec.
    place : dict
        The level and the task, for the note.
    quota : Quota, optional
        What may be written.
    frame_keys : int
        Most keys of a frame.
    """

    def __init__(
        self, path: Path, field_bits: int, place: dict[str, int], quota: Quota | None, frame_keys: int
    ) -> None:
        self._path = path
        self._field_bits = field_bits
        self._place = place
        self._quota = quota
        self._frame_keys = frame_keys
        self._file: IO[bytes] | None = None
        self._index: list[tuple[int, int, int, int, int]] = []
        self._temporary = temporary_name(path)
        self._offset = 0

    def append(self, keys: NDArray[np.uint64], cuts: Sequence[int]) -> None:
        for partition in range(len(cuts) - 1):
            for start in range(cuts[partition], cuts[partition + 1], self._frame_keys):
                part = keys[start : min(start + self._frame_keys, cuts[partition + 1])]
                frame = encode(part, self._field_bits)
                self._write(frame)
                self._index.append((partition, part.size, self._offset, len(frame), zlib.crc32(frame)))
                self._offset += len(frame)

    def close(self, receipt: Receipt) -> None:
        note = json.dumps({**self._place, "receipt": receipt}).encode()
        end = np.array(self._index, dtype=INDEX_TYPE).tobytes() + note
        self._write(end + TRAILER.pack(len(self._index), len(note), zlib.crc32(end), MAGIC)).close()
        publish(self._temporary, self._path)

    def _write(self, data: bytes) -> IO[bytes]:
        """Write to the file, which is made when there is something to write; returns it."""
        if self._quota is not None:
            self._quota.take(len(data))
        if self._file is None:
            self._path.parent.mkdir(exist_ok=True)
            self._file = open(self._temporary, "wb")  # noqa: SIM115 (closed in close)
        self._file.write(data)
        return self._file

    def abandon(self) -> None:
        if self._file is not None:
            with suppress(OSError):  # closing writes what is buffered, which a full disk refuses
                self._file.close()
            self._temporary.unlink(missing_ok=True)


def read_end(path: Path, place: dict[str, int]) -> tuple[NDArray[Any], Receipt]:
    """Index and receipt of a spill file.

    Raises
    ------
    CorruptSpill
        If they are damaged, or those of another place.
    """
    try:
        with open(open_file(path), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < TRAILER.size:
                raise ValueError("it is cut short")
            file.seek(size - TRAILER.size)
            entries, note_size, crc32, magic = TRAILER.unpack(file.read(TRAILER.size))
            start = size - TRAILER.size - note_size - entries * INDEX_TYPE.itemsize
            if magic != MAGIC or start < 0 or entries > MOST_ENTRIES or note_size > MOST_NOTE_BYTES:
                raise ValueError("its end is damaged")
            file.seek(start)
            end = file.read(size - TRAILER.size - start)
        if zlib.crc32(end) != crc32:
            raise ValueError("its index is damaged")
        index = np.frombuffer(end, dtype=INDEX_TYPE, count=entries)
        _check_index(index, start)
        return index, _receipt_of(end[entries * INDEX_TYPE.itemsize :], place)
    except (OSError, ValueError, RecursionError) as error:
        raise CorruptSpill(f"the spill file {path} cannot be used ({error})", REMEDY, path) from error


def _check_index(index: NDArray[Any], size: int) -> None:
    """Raise ValueError if the frames are not one behind the other in ``size`` bytes, or hold more than they can."""
    if index["keys"].max(initial=0) > LARGEST_FRAME_KEYS:
        raise ValueError("a frame has more keys than a frame can")
    ends = np.cumsum(index["size"], dtype=np.uint64)
    if (ends[-1] if ends.size else 0) != size or not np.array_equal(index["offset"], ends - index["size"]):
        raise ValueError("its frames are not one behind the other")
    if index["size"].max(initial=0) > LARGEST_FRAME_BYTES:
        raise ValueError("a frame has more bytes than a frame can")


def _receipt_of(text: bytes, place: dict[str, int]) -> Receipt:
    """The receipt in a note; raises ValueError if it is none, or the note is of another place."""
    note = json.loads(text)
    if not isinstance(note, dict):
        raise ValueError("its note is damaged")
    # Files of format 1 do not say where they belong.
    receipt = note.pop("receipt", None)
    if receipt is not None and note != place:
        raise ValueError(f"it is of {note} where {place} should be")
    receipt = note if receipt is None else receipt
    if not isinstance(receipt, dict) or any(
        type(value) is not int or not 0 <= value < 2**64 for value in receipt.values()
    ):
        raise ValueError("its receipt is damaged")
    return receipt
