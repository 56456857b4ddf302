"""One level on disk: a Zarr group whose attributes are its manifest, with one array per partition."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray
from zarr.codecs import Crc32cCodec
from zarr.registry import register_codec

from storage.codec import NAME, SortedKeysCodec
from storage.digest import add_digests, digest_of
from storage.durable import TEMPORARY_SUFFIX, bytes_below, publish
from storage.errors import CorruptJob

CHUNK_KEYS = 1 << 20
# Evenly spaced keys of each partition that its attributes repeat, for estimates that need no chunk.
SAMPLE_KEYS = 512

# Found by entry point too, but only once the package is installed and its metadata is visible.
register_codec(NAME, SortedKeysCodec)


def hexadecimal(value: int) -> str:
    """A 64-bit integer as text: JSON readers other than Python's round large numbers."""
    return f"{value:#018x}"


@dataclass(frozen=True)
class PartitionRecord:
    """What the manifest says of a partition.

    Attributes
    ----------
    name : str
        Name of its array in the level's group.
    keys, states : int
        Keys stored, and the states they stand for.
    first, last : int
        Smallest and largest key.
    digest : int
        From :mod:`storage.digest`.
    bytes : int
        Size of its chunks on disk.
    """

    name: str
    keys: int
    states: int
    first: int
    last: int
    digest: int
    bytes: int

    def to_json(self) -> dict[str, Any]:
        """As stored in attributes."""
        entry = asdict(self)
        for name in ("first", "last", "digest"):
            entry[name] = hexadecimal(entry[name])
        return entry

    @classmethod
    def from_json(cls, entry: dict[str, Any]) -> PartitionRecord:
        """Inverse of :meth:`to_json`."""
        numbers = {name: int(entry[name], 16) for name in ("first", "last", "digest")}
        return cls(**{**{name: entry[name] for name in ("name", "keys", "states", "bytes")}, **numbers})


@dataclass(frozen=True)
class Manifest:
    """What is known of a committed level.

    Attributes
    ----------
    depth, keys, states, digest, bytes : int
        ``bytes`` is what the arrays take on disk.
    partitions : tuple of PartitionRecord
        By ascending key range; none of them is empty.
    generated, spilled : int
        Neighbours that were generated to find the level, and keys that were left of them for the merge.
    forward : int
        Moves that lead from the level before to this one, as its expansion counted them; see
        :class:`pipeline.spaces.contract.Detection`.
    exhaustive : bool
        Whether all neighbours of the level before were generated.
    seconds : float
        Time spent on the level, interruptions left out.
    peak_spill_bytes : int
        Bytes of spills that were on disk while the level was made.
    arrays_kept : bool
        Whether the arrays are still on disk.
    """

    depth: int
    keys: int
    states: int
    digest: int
    bytes: int
    partitions: tuple[PartitionRecord, ...]
    generated: int = 0
    spilled: int = 0
    forward: int = 0
    exhaustive: bool = False
    seconds: float = 0.0
    peak_spill_bytes: int = 0
    arrays_kept: bool = True

    @classmethod
    def of(cls, depth: int, partitions: list[PartitionRecord], **facts: Any) -> Manifest:
        """Manifest of a level that consists of the given partitions."""
        kept = tuple(sorted((entry for entry in partitions if entry.keys), key=lambda entry: entry.first))
        digest = 0
        for entry in kept:
            digest = add_digests(digest, entry.digest)
        return cls(
            depth=depth,
            keys=sum(entry.keys for entry in kept),
            states=sum(entry.states for entry in kept),
            digest=digest,
            bytes=sum(entry.bytes for entry in kept),
            partitions=kept,
            **facts,
        )

    def to_json(self) -> dict[str, Any]:
        """As stored in the attributes of the level's group."""
        entry = {name: value for name, value in self.__dict__.items() if name != "partitions"}
        entry["digest"] = hexadecimal(self.digest)
        entry["partitions"] = [partition.to_json() for partition in self.partitions]
        return entry

    @classmethod
    def from_json(cls, entry: dict[str, Any]) -> Manifest:
        """Inverse of :meth:`to_json`."""
        partitions = tuple(PartitionRecord.from_json(partition) for partition in entry["partitions"])
        return cls(**{**entry, "digest": int(entry["digest"], 16), "partitions": partitions})


class PartitionWriter:
    """Writes one partition as a Zarr array under a temporary name.

    Parameters
    ----------
    directory : Path
        Where the array goes.
    name : str
    most_keys : int
        Upper bound on the keys that will be written, at least 1.
    field_bits : int
        For the codec.
    """

    def __init__(self, directory: Path, name: str, most_keys: int, field_bits: int) -> None:
        self._final = directory / name
        self._temporary = directory / (name + TEMPORARY_SUFFIX)
        self._name = name
        self._keys = self._states = self._digest = self._first = self._last = 0
        self._chunk = np.empty(min(most_keys, CHUNK_KEYS), dtype=np.uint64)
        self._filled = 0
        self._stride = -(-most_keys // SAMPLE_KEYS)
        self._sample: list[int] = []
        self._array = zarr.create_array(
            self._temporary,
            shape=(most_keys,),
            chunks=(self._chunk.size,),
            dtype="uint64",
            serializer=SortedKeysCodec(field_bits=field_bits),
            filters=None,
            compressors=[Crc32cCodec()],
            fill_value=0,
            overwrite=True,
            config={"write_empty_chunks": True},
        )

    def append(self, keys: NDArray[np.uint64], states: int) -> None:
        """Write the next keys, ascending and above all before. The array may be reused by the caller afterwards."""
        if not keys.size:
            return
        if not self._keys:
            self._first = int(keys[0])
        self._last = int(keys[-1])
        self._digest = add_digests(self._digest, int(digest_of(keys)))
        self._sample.extend(keys[-self._keys % self._stride :: self._stride].tolist())
        start = self._keys
        self._keys += keys.size
        self._states += states
        # Whole chunks only: a chunk that is written twice would have to be read in between.
        while keys.size:
            if not self._filled and keys.size >= self._chunk.size:
                part = keys[: self._chunk.size]
                self._array[start : start + part.size] = part
            else:
                part = keys[: self._chunk.size - self._filled]
                self._chunk[self._filled : self._filled + part.size] = part
                self._filled += part.size
                if self._filled == self._chunk.size:
                    self._write_chunk(start + part.size)
            start += part.size
            keys = keys[part.size :]

    def _write_chunk(self, stop: int) -> None:
        """Write what is collected; it ends at ``stop``. What a last chunk lacks is filled with zeros."""
        start = stop - self._filled
        self._chunk[self._filled :] = 0
        size = min(self._chunk.size, self._array.shape[0] - start)
        self._array[start : start + size] = self._chunk[:size]
        self._filled = 0

    def close(self) -> PartitionRecord:
        """Give the array its final shape and name; its attributes are the record that is returned."""
        if self._filled:
            self._write_chunk(self._keys)
        self._array.resize((self._keys,))
        record = PartitionRecord(
            self._name,
            self._keys,
            self._states,
            self._first,
            self._last,
            self._digest,
            bytes_below(self._temporary / "c"),
        )
        sample = [hexadecimal(key) for key in self._sample]
        self._array.update_attributes({**record.to_json(), "sample": sample})
        publish(self._temporary, self._final)
        return record


class Level:
    """A committed level.

    Parameters
    ----------
    path : Path
        Directory of the level's group.
    manifest : Manifest
    """

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest
        self._arrays: dict[str, zarr.Array[Any]] = {}

    def __reduce__(self) -> tuple[type[Level], tuple[Path, Manifest]]:
        return Level, (self.path, self.manifest)

    def _place(self, partition: PartitionRecord) -> str:
        return f"level {self.manifest.depth}, partition {partition.name} ({self.path / partition.name})"

    def _open(self, partition: PartitionRecord) -> zarr.Array[Any]:
        """The array of a partition, opened once."""
        if partition.name not in self._arrays:
            try:
                array = zarr.open_array(self.path / partition.name, mode="r", zarr_format=3)
            except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
                raise CorruptJob(f"the array of {self._place(partition)} cannot be opened ({error})", REMEDY) from error
            self._arrays[partition.name] = array
        return self._arrays[partition.name]

    def read(self, partition: PartitionRecord, start: int = 0, stop: int | None = None) -> Iterator[NDArray[np.uint64]]:
        """Keys ``start`` to ``stop`` of a partition, chunk by chunk.

        Yields
        ------
        ndarray of uint64
            At most ``CHUNK_KEYS`` keys.

        Raises
        ------
        CorruptJob
            If the array is missing, damaged, or not of the size that the manifest says.
        """
        path = self.path / partition.name
        stop = partition.keys if stop is None else stop
        place = self._place(partition)
        array = self._open(partition)
        if array.shape != (partition.keys,):
            raise CorruptJob(f"{place} holds {array.shape} keys where its manifest says {partition.keys}", REMEDY)
        size = array.chunks[0]
        position = start
        while position < stop:
            chunk = position // size
            # Zarr would read a missing chunk as zeros.
            if not os.path.exists(path / "c" / str(chunk)):
                raise CorruptJob(f"chunk {chunk} of {place} is missing", REMEDY)
            end = min(stop, (chunk + 1) * size)
            try:
                block = np.asarray(array[position:end], dtype=np.uint64)
            except (ValueError, RuntimeError, OSError) as error:
                raise CorruptJob(f"chunk {chunk} of {place} is damaged ({error})", REMEDY) from error
            yield block
            position = end

    def sample(self, partition: PartitionRecord) -> list[int]:
        """Some keys of a partition, ascending and evenly spaced."""
        attributes: dict[str, Any] = self._open(partition).attrs.asdict()
        try:
            return [int(key, 16) for key in attributes["sample"]]
        except (KeyError, ValueError, TypeError) as error:
            raise CorruptJob(f"the attributes of {self._place(partition)} cannot be read ({error})", REMEDY) from error

    def read_range(self, low: int, high: int) -> Iterator[NDArray[np.uint64]]:
        """Keys from ``low`` to ``high``, both included, in ascending blocks."""
        for partition in self.manifest.partitions:
            if partition.last < low or partition.first > high:
                continue
            for block in self.read(partition):
                if block[-1] < low:
                    continue
                if block[0] > high:
                    return
                start = int(np.searchsorted(block, np.uint64(low), side="left"))
                stop = int(np.searchsorted(block, np.uint64(high), side="right"))
                if stop > start:
                    yield block[start:stop]


REMEDY = "restore it from a copy, or run the job again with --overwrite"
