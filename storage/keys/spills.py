"""The spills of a level, on their way from the expand tasks to the merge.

On disk there is a file for each task (:mod:`storage.keys.spill_file`). While a level fits in memory its spills stay
there; see :class:`MemorySpills`.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from storage.errors import CorruptSpill
from storage.files.quota import Quota
from storage.keys.cut import CUT, Cut
from storage.keys.spill_file import REMEDY, DiskPiece, DiskSpillWriter, Piece, Receipt, SpillWriter, read_end

SUFFIX = ".spill"


class DiskSpills:
    """The spills of one level as files. Instances can be sent to other processes.

    Parameters
    ----------
    directory : Path
        Created when the first file is written.
    field_bits : int
        For the codec.
    depth : int
        Of the level that is being made.
    quota : Quota, optional
        What may be written.
    cut : Cut
    """

    def __init__(
        self, directory: Path, field_bits: int, depth: int = 0, quota: Quota | None = None, cut: Cut = CUT
    ) -> None:
        self.directory = directory
        self._field_bits = field_bits
        self._depth = depth
        self._quota = quota
        self._cut = cut
        self._indexes: dict[Path, NDArray[Any]] = {}

    def writer(self, task: int) -> SpillWriter:
        """Writer for the output of an expand task."""
        return DiskSpillWriter(self.path_of(task), self._field_bits, self._place(task), self._quota, self._cut.frame)

    def receipt(self, task: int) -> Receipt | None:
        """What a task counted, or None if it is not done."""
        path = self.path_of(task)
        return read_end(path, self._place(task))[1] if path.exists() else None

    def pieces(self, partition: int) -> list[Piece]:
        """All pieces of a partition."""
        found: list[Piece] = []
        for path in self.files():
            index = self._index(path)
            found.extend(DiskPiece(path, entry) for entry in index[index["partition"] == partition])
        return found

    def _index(self, path: Path) -> NDArray[Any]:
        """Index of a finished file; it is read once, though every partition needs it."""
        if path not in self._indexes:
            self._indexes[path] = read_end(path, self._place(int(path.stem)))[0]
        return self._indexes[path]

    def check_partitions(self, partitions: int) -> None:
        """Make sure that no file has keys of a partition that there is not.

        Raises
        ------
        CorruptSpill
        """
        for path in self.files():
            if self._index(path)["partition"].max(initial=0) >= partitions:
                raise CorruptSpill(f"the spill file {path} has keys of a partition that there is not", REMEDY, path)

    def check(self, path: Path) -> None:
        """Read a file of the level to its end.

        Raises
        ------
        CorruptSpill
            If it is damaged.
        """
        for entry in self._index(path):
            piece = DiskPiece(path, entry)
            piece.read(np.empty(piece.keys, dtype=np.uint64))

    def files(self) -> list[Path]:
        """The files that are there."""
        return sorted(self.directory.glob(f"*{SUFFIX}"))

    def _place(self, task: int) -> dict[str, int]:
        return {"level": self._depth, "task": task}

    def __reduce__(self) -> tuple[type[DiskSpills], tuple[Path, int, int, Quota | None, Cut]]:
        return DiskSpills, (self.directory, self._field_bits, self._depth, self._quota, self._cut)

    def path_of(self, task: int) -> Path:
        """The file of a task, whether it is there or not."""
        return self.directory / f"{task:05d}{SUFFIX}"


class SelectedSpills(DiskSpills):
    """The spills of a level that is made again in part: keys of other partitions are let go.

    Parameters
    ----------
    directory, field_bits, depth
        As for :class:`DiskSpills`.
    partitions : frozenset of int
        Those to keep.
    cut : Cut
    """

    def __init__(
        self,
        directory: Path,
        field_bits: int,
        depth: int,
        partitions: frozenset[int],
        cut: Cut = CUT,
    ) -> None:
        super().__init__(directory, field_bits, depth, cut=cut)
        self._partitions = partitions

    def writer(self, task: int) -> SpillWriter:
        return _SelectingSpillWriter(super().writer(task), self._partitions)


class _SelectingSpillWriter(SpillWriter):
    def __init__(self, writer: SpillWriter, partitions: frozenset[int]) -> None:
        self._writer = writer
        self._partitions = partitions

    def append(self, keys: NDArray[np.uint64], cuts: Sequence[int]) -> None:
        for partition in self._partitions:
            start, stop = cuts[partition], cuts[partition + 1]
            size = stop - start
            if size:
                behind = len(cuts) - partition - 1
                self._writer.append(keys[start:stop], [0] * (partition + 1) + [size] * behind)

    def close(self, receipt: Receipt) -> None:
        self._writer.close(receipt)

    def abandon(self) -> None:
        self._writer.abandon()


class MemoryPiece(Piece):
    """A piece that has not left memory: ``keys`` keys of an array from ``start`` on."""

    def __init__(self, arena: NDArray[np.uint64], start: int, keys: int) -> None:
        self.arena = arena
        self.start = start
        self.keys = keys

    def read(self, out: NDArray[np.uint64]) -> None:
        out[:] = self.arena[self.start : self.start + self.keys]


class MemorySpills:
    """The spills of one level in memory, the ones that do not fit on disk.

    Parameters
    ----------
    capacity : int
        Keys that may be held in memory.
    disk : DiskSpills
        Takes the rest, in files that are no sign of a finished task.
    arena : ndarray of uint64, shape (capacity,), optional
        Memory to hold them in. Touching fresh pages costs more than copying keys; levels that are made one after the
        other use the same.
    """

    def __init__(self, capacity: int, disk: DiskSpills, arena: NDArray[np.uint64] | None = None) -> None:
        self._arena = np.empty(capacity, dtype=np.uint64) if arena is None else arena
        self._used = 0
        self._disk = disk
        self._lock = threading.Lock()
        self._pieces: defaultdict[int, list[Piece]] = defaultdict(list)

    def writer(self, task: int) -> SpillWriter:
        """Writer for the output of an expand task."""
        return _MemorySpillWriter(self, self._disk.writer(OVERFLOW_TASK + task))

    def receipt(self, task: int) -> Receipt | None:
        """None: what is in memory does not outlive the process."""
        return None

    def pieces(self, partition: int) -> list[Piece]:
        """All pieces of a partition."""
        return self._pieces[partition] + self._disk.pieces(partition)

    def keep(self, keys: NDArray[np.uint64], cuts: Sequence[int]) -> bool:
        """Take keys as :meth:`SpillWriter.append` does, or return False if they do not fit."""
        with self._lock:
            start = self._used
            if start + keys.size > self._arena.size:
                return False
            self._used += keys.size
        self._arena[start : start + keys.size] = keys
        for partition in range(len(cuts) - 1):
            if cuts[partition] < cuts[partition + 1]:
                piece = MemoryPiece(self._arena, start + cuts[partition], cuts[partition + 1] - cuts[partition])
                with self._lock:
                    self._pieces[partition].append(piece)
        return True


# Task numbers from here on are parts of tasks whose other parts are in memory.
OVERFLOW_TASK = 1_000_000


class _MemorySpillWriter(SpillWriter):
    def __init__(self, spills: MemorySpills, overflow: SpillWriter) -> None:
        self._spills = spills
        self._overflow = overflow
        self._overflown = False

    def append(self, keys: NDArray[np.uint64], cuts: Sequence[int]) -> None:
        if not self._spills.keep(keys, cuts):
            self._overflown = True
            self._overflow.append(keys, cuts)

    def close(self, receipt: Receipt) -> None:
        if self._overflown:
            self._overflow.close(receipt)

    def abandon(self) -> None:
        self._overflow.abandon()


Spills = DiskSpills | MemorySpills
