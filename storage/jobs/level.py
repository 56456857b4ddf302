"""One committed level: a Zarr group whose attributes are its manifest, with one array per partition."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np

from storage.errors import CorruptJob
from storage.keys.partition import Blocks, PartitionReader
from storage.records import Manifest, PartitionRecord


class Level:
    """A committed level.

    Parameters
    ----------
    path : Path
        Directory of the level's group.
    manifest : Manifest
    sealed : bool
        Whether the metadata of its arrays must have checksums: in jobs of format 2 and later.
    """

    def __init__(self, path: Path, manifest: Manifest, sealed: bool = False) -> None:
        self.path = path
        self.manifest = manifest
        self._sealed = sealed
        self._readers: dict[str, PartitionReader] = {}

    def __reduce__(self) -> tuple[type[Level], tuple[Path, Manifest, bool]]:
        return Level, (self.path, self.manifest, self._sealed)

    def _reader(self, partition: PartitionRecord) -> PartitionReader:
        """Reader of a partition, opened once."""
        if partition.name not in self._readers:
            place = f"level {self.manifest.depth}, partition {partition.name}"
            reader = PartitionReader(self.path / partition.name, partition, place, self._sealed)
            self._readers[partition.name] = reader
        return self._readers[partition.name]

    def read(self, partition: PartitionRecord, start: int = 0, stop: int | None = None) -> Blocks:
        """Keys ``start`` to ``stop`` of a partition, chunk by chunk; close it if it is not read to its end.

        Yields
        ------
        ndarray of uint64
            At most a chunk.

        Raises
        ------
        CorruptJob
            If the array is missing, damaged, or not of the size that the manifest says.
        """
        return self._reader(partition).read(start, partition.keys if stop is None else stop)

    def check_presence(self, partition: PartitionRecord) -> None:
        """Make sure that all chunks of a partition are there, without reading them.

        Raises
        ------
        CorruptJob
        """
        self._reader(partition).check_presence()

    def damage(self, partition: PartitionRecord) -> list[CorruptJob]:
        """What is wrong with each chunk of a partition, or with its metadata; empty if only the whole tells."""
        try:
            return self._reader(partition).damage()
        except CorruptJob as error:
            return [error]

    def sample(self, partition: PartitionRecord) -> list[int]:
        """Some keys of a partition, ascending and evenly spaced."""
        return self._reader(partition).sample()

    def read_range(self, low: int, high: int) -> Blocks:
        """Keys from ``low`` to ``high``, both included, in ascending blocks; close it if it is not read to its end."""
        for partition in self.manifest.partitions:
            if partition.last < low or partition.first > high:
                continue
            with closing(self._reader(partition).read_around(low, high)) as blocks:
                for block in blocks:
                    if block[0] > high:
                        return
                    start = int(np.searchsorted(block, np.uint64(low), side="left"))
                    stop = int(np.searchsorted(block, np.uint64(high), side="right"))
                    if stop > start:
                        yield block[start:stop]
                    # Not to be held while the next chunk is decoded.
                    del block
