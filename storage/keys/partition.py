"""One partition on disk: a Zarr array of ascending keys.

Metadata and chunks are written and read directly, in the bytes that Zarr would write (tests compare them): a level
moves gigabytes, handing every chunk to Zarr's event loop and back takes a third of the time, and importing Zarr takes a
fifth of a second.
"""

from __future__ import annotations

import json
import shutil
from bisect import bisect_left, bisect_right
from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path

import google_crc32c
import numpy as np
from numpy.typing import NDArray

from storage.errors import CorruptJob
from storage.files.durable import publish, temporary_name
from storage.files.quota import Quota
from storage.files.reading import DAMAGED, refuse_links
from storage.files.sealed import seal
from storage.keys.array import (
    CHECKSUM_BYTES,
    LARGEST_CHUNK_KEYS,
    array_document,
    chunk_path,
    chunks_there,
    read_facts,
    read_frame,
)
from storage.keys.cut import CUT, Cut
from storage.keys.digest import add_digests, digest_of
from storage.keys.gaps import decode, encode
from storage.records import ArrayRecord, PartitionRecord, to_json

# Chunks that are missing are named one by one, up to so many.
MOST_MISSING = 1000
# Blocks of keys, one after the other; to be closed by whoever does not read them to their end.
Blocks = Generator[NDArray[np.uint64], None, None]
REMEDY = "'pipeline verify --repair' makes it again if it can, otherwise restore it from a copy or use --overwrite"


def _encoded(keys: NDArray[np.uint64], field_bits: int) -> tuple[bytes, bytes]:
    """A chunk as Zarr would write it: its frame, and the checksum that follows."""
    frame = encode(keys, field_bits)
    return frame, google_crc32c.value(frame).to_bytes(CHECKSUM_BYTES, "little")


class PartitionWriter:
    """Writes one partition under a temporary name.

    Parameters
    ----------
    directory : Path
        Where the array goes.
    name : str
    most_keys : int
        Upper bound on the keys that will be written, at least 1.
    field_bits : int
        For the codec.
    quota : Quota, optional
        What may be written.
    cut : Cut
    """

    def __init__(
        self,
        directory: Path,
        name: str,
        most_keys: int,
        field_bits: int,
        quota: Quota | None = None,
        cut: Cut = CUT,
    ) -> None:
        self._final = directory / name
        self._temporary = temporary_name(self._final)
        self._name = name
        self._field_bits = field_bits
        self._quota = quota
        self._keys = self._states = self._first = self._last = self._bytes = 0
        self._chunk = np.empty(min(most_keys, cut.chunk), dtype=np.uint64)
        self._filled = 0
        self._stride = -(-most_keys // cut.sample)
        self._sample: list[int] = []
        self._checksums: list[str] = []
        self._digests: list[int] = []
        self._chunk_digest = 0
        chunk_path(self._temporary, 0).parent.mkdir(parents=True)

    def append(self, keys: NDArray[np.uint64], states: int) -> None:
        """Write the next keys, ascending and above all before. The array may be reused by the caller afterwards."""
        if not keys.size:
            return
        if not self._keys:
            self._first = int(keys[0])
        self._last = int(keys[-1])
        self._sample.extend(keys[-self._keys % self._stride :: self._stride].tolist())
        self._states += states
        while keys.size:
            part = keys[: self._chunk.size - self._filled]
            self._chunk[self._filled : self._filled + part.size] = part
            # Of what was given, not of the copy.
            self._chunk_digest = add_digests(self._chunk_digest, int(digest_of(part)))
            self._filled += part.size
            self._keys += part.size
            keys = keys[part.size :]
            if self._filled == self._chunk.size:
                self._write()

    def _write(self) -> None:
        """Write the keys that are collected as the next chunk."""
        frame, checksum = _encoded(self._chunk[: self._filled], self._field_bits)
        size = len(frame) + len(checksum)
        if self._quota is not None:
            self._quota.take(size)
        with open(chunk_path(self._temporary, len(self._checksums)), "wb") as file:
            file.write(frame)
            file.write(checksum)
        self._checksums.append(checksum.hex())
        self._digests.append(self._chunk_digest)
        self._chunk_digest = 0
        self._bytes += size
        self._filled = 0

    def close(self) -> PartitionRecord:
        """Write the metadata, and give the array its name; its attributes are the record that is returned."""
        if self._filled:
            self._write()
        digest = sum(self._digests) % 2**64
        record = PartitionRecord(self._name, self._keys, self._states, self._first, self._last, digest, self._bytes)
        array = ArrayRecord(
            **vars(record),
            sample=tuple(self._sample),
            checksums=tuple(self._checksums),
            digests=tuple(self._digests),
        )
        text = json.dumps(seal(array_document(self._keys, self._chunk.size, self._field_bits, to_json(array))))
        if self._quota is not None:
            self._quota.take(len(text))
        (self._temporary / "zarr.json").write_text(text, encoding="utf-8")
        publish(self._temporary, self._final)
        return record

    def abandon(self) -> None:
        """Delete what was written; it has no name that anyone looks for."""
        shutil.rmtree(self._temporary, ignore_errors=True)


class PartitionReader:
    """Reads one partition.

    Parameters
    ----------
    path : Path
        Its array.
    record : PartitionRecord
        What the manifest says of it.
    place : str
        How errors name it.
    sealed : bool
        Whether its metadata must have a checksum.

    Raises
    ------
    CorruptJob
        If the array is missing, or its metadata damaged or not what the manifest says.
    """

    def __init__(self, path: Path, record: PartitionRecord, place: str, sealed: bool = False) -> None:
        self._path = path
        self._place = place
        self._record = record
        metadata = path / "zarr.json"
        try:
            self._facts = read_facts(path, sealed)
        except DAMAGED as error:
            raise CorruptJob(
                f"the array of {place} ({metadata}) cannot be opened ({error})", REMEDY, metadata
            ) from error
        keys = self._facts.record.keys
        if keys != record.keys:
            raise CorruptJob(
                f"{place} ({metadata}) holds {keys} keys where its manifest says {record.keys}", REMEDY, metadata
            )
        # The size may differ: it depends on how the keys are cut into chunks.
        if replace(self._facts.record.partition, bytes=record.bytes) != record:
            raise CorruptJob(
                f"the array of {place} ({metadata}) is not the one that its manifest describes", REMEDY, metadata
            )
        # Arrays without recorded checksums or digests are read whole before any of it is used.
        self._digests = self._facts.record.digests if self._facts.record.checksums is not None else None

    def check_presence(self) -> None:
        """Make sure that there is a file for each chunk: a number of keys is not believed before.

        Raises
        ------
        CorruptJob
        """
        there = chunks_there(self._path)
        missing = next((chunk for chunk in range(self._facts.chunks) if str(chunk) not in there), None)
        if missing is not None:
            path = chunk_path(self._path, missing)
            raise CorruptJob(f"chunk {missing} of {self._place} ({path}) is missing", REMEDY, path)

    def read(self, start: int, stop: int) -> Blocks:
        """Keys ``start`` to ``stop``, chunk by chunk; close it if it is not read to its end.

        Each chunk is compared with its digest before it is given away, since a puzzle may not bear what is no key of
        its own, and again when the next one is asked for: so a bit that flips in memory meanwhile is noticed too.

        Raises
        ------
        CorruptJob
            If a chunk is missing, damaged, or not the one that belongs there.
        """
        digests = self._digests if self._digests is not None else self._prove()
        size = self._facts.chunk_keys
        position = start
        while position < stop:
            chunk, inside = divmod(position, size)
            end = min(stop, (chunk + 1) * size)
            keys = self._chunk(chunk)
            self._compare(chunk, keys, digests[chunk])
            try:
                yield keys[inside : inside + end - position]
            finally:
                self._compare(chunk, keys, digests[chunk])
            # Not to be held while the next chunk is decoded.
            del keys
            position = end

    def _compare(self, chunk: int, keys: NDArray[np.uint64], digest: int) -> None:
        """Compare keys in memory with the digest of the chunk that they come from."""
        if int(digest_of(keys)) != digest:
            path = chunk_path(self._path, chunk)
            raise CorruptJob(
                f"the keys read from chunk {chunk} of {self._place} ({path}) are not those that were written",
                "run the command again; if it happens again, check the memory of this machine, or use "
                "'pipeline verify --repair'",
                path,
            )

    def _chunk(self, chunk: int) -> NDArray[np.uint64]:
        """The keys of a chunk."""
        path = chunk_path(self._path, chunk)
        place = f"chunk {chunk} of {self._place} ({path})"
        checksums = self._facts.record.checksums
        buffer = np.empty(self._facts.chunk_keys, dtype=np.uint64)
        try:
            decode(read_frame(self._path, chunk, None if checksums is None else checksums[chunk]), buffer)
        except FileNotFoundError as error:
            raise CorruptJob(f"{place} is missing", REMEDY, path) from error
        except (ValueError, OSError) as error:
            raise CorruptJob(f"{place} is damaged ({error})", REMEDY, path) from error
        return buffer[: self._record.keys - chunk * self._facts.chunk_keys]

    def _prove(self) -> tuple[int, ...]:
        """Compare the whole partition with its record; returns the digests of its chunks."""
        digests: list[int] = []
        last = -1
        for chunk in range(self._facts.chunks):
            keys = self._chunk(chunk)
            # Two chunks that changed places have the right digest together.
            if int(keys[0]) <= last or (chunk == 0 and int(keys[0]) != self._record.first):
                break
            last = int(keys[-1])
            digests.append(int(digest_of(keys)))
        if (last, sum(digests) % 2**64) != (self._record.last, self._record.digest):
            raise CorruptJob(
                f"{self._place} ({self._path}) is damaged: chunk {chunk} is whole, but its keys do not belong here",
                REMEDY,
                chunk_path(self._path, chunk),
            )
        self._digests = tuple(digests)
        return self._digests

    def damage(self) -> list[CorruptJob]:
        """What is wrong with each of the chunks, as far as one can be blamed."""
        found = []
        for chunk in range(min(self._facts.chunks, len(chunks_there(self._path)) + MOST_MISSING)):
            try:
                keys = self._chunk(chunk)
                if self._digests is not None:
                    self._compare(chunk, keys, self._digests[chunk])
            except CorruptJob as error:
                found.append(error)
        return found

    def sample(self) -> list[int]:
        """Some keys, ascending and evenly spaced."""
        return list(self._facts.record.sample)

    def read_around(self, low: int, high: int) -> Blocks:
        """The chunks that can hold keys from ``low`` to ``high``; the sample tells which those are.

        Raises
        ------
        CorruptJob
            As for :meth:`read`.
        """
        sample, keys = self._facts.record.sample, self._record.keys
        before, behind = bisect_left(sample, low) - 1, bisect_right(sample, high)
        # Sampled keys are at multiples of a stride that is not recorded, and lies between these two.
        least = -(-keys // len(sample)) if sample else 1
        most = (keys - 1) // (len(sample) - 1) if len(sample) > 1 else keys
        start = max(0, before * least)
        stop = min(keys, behind * most + 1) if behind < len(sample) else keys
        size = self._facts.chunk_keys
        return self.read(start // size * size, min(keys, -(-stop // size) * size))


def read_loosely(path: Path) -> Iterator[NDArray[np.uint64]]:
    """The keys of the chunks of an array whose metadata cannot be trusted, one chunk after the other.

    Yields
    ------
    ndarray of uint64

    Raises
    ------
    OSError, ValueError
        If a chunk is missing or damaged.
    """
    refuse_links(path, path / "c")
    for chunk in range(len(chunks_there(path))):
        frame = read_frame(path, chunk, None)
        buffer = np.empty(LARGEST_CHUNK_KEYS, dtype=np.uint64)
        yield buffer[: decode(frame, buffer)]
