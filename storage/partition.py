"""One partition on disk: a Zarr array of ascending keys.

Zarr's own functions write and read the metadata. Chunks are written and read directly, in the same bytes: a level moves
gigabytes, and handing every chunk to Zarr's event loop and back takes a third of the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import google_crc32c
import numpy as np
import zarr
from numpy.typing import NDArray
from zarr.codecs import Crc32cCodec
from zarr.registry import register_codec

from storage.codec import NAME, SortedKeysCodec
from storage.digest import add_digests, digest_of
from storage.durable import publish, temporary_name
from storage.errors import CorruptJob
from storage.gaps import decode, encode
from storage.manifest import PartitionRecord, hexadecimal

CHUNK_KEYS = 1 << 20
# Evenly spaced keys of each partition that its attributes repeat, for estimates that need no chunk.
SAMPLE_KEYS = 512
CHECKSUM_BYTES = 4
REMEDY = "restore it from a copy, or run the job again with --overwrite"

# Found by entry point too, but only once the package is installed and its metadata is visible.
register_codec(NAME, SortedKeysCodec)


def _chunk_path(array: Path, chunk: int) -> Path:
    return array / "c" / str(chunk)


def write_chunk(array: Path, chunk: int, keys: NDArray[np.uint64], field_bits: int) -> int:
    """Write a chunk as Zarr would; returns its size in bytes."""
    frame = encode(keys, field_bits)
    checksum = google_crc32c.value(frame).to_bytes(CHECKSUM_BYTES, "little")
    with open(_chunk_path(array, chunk), "wb") as file:
        file.write(frame)
        file.write(checksum)
    return len(frame) + CHECKSUM_BYTES


def read_chunk(array: Path, chunk: int, out: NDArray[np.uint64]) -> None:
    """Read a chunk of an array.

    Parameters
    ----------
    array : Path
    chunk : int
    out : ndarray of uint64
        Of the chunk's size; zeros behind its last key.

    Raises
    ------
    FileNotFoundError
    ValueError
        If it is damaged.
    """
    data = _chunk_path(array, chunk).read_bytes()
    frame, checksum = data[:-CHECKSUM_BYTES], data[-CHECKSUM_BYTES:]
    if google_crc32c.value(frame).to_bytes(CHECKSUM_BYTES, "little") != checksum:
        raise ValueError("its checksum is wrong")
    decode(frame, out)


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
    """

    def __init__(self, directory: Path, name: str, most_keys: int, field_bits: int) -> None:
        self._final = directory / name
        self._temporary = temporary_name(self._final)
        self._name = name
        self._field_bits = field_bits
        self._keys = self._states = self._digest = self._first = self._last = self._bytes = 0
        self._chunk = np.empty(min(most_keys, CHUNK_KEYS), dtype=np.uint64)
        self._filled = 0
        self._stride = -(-most_keys // SAMPLE_KEYS)
        self._sample: list[int] = []
        _chunk_path(self._temporary, 0).parent.mkdir(parents=True)

    def append(self, keys: NDArray[np.uint64], states: int) -> None:
        """Write the next keys, ascending and above all before. The array may be reused by the caller afterwards."""
        if not keys.size:
            return
        if not self._keys:
            self._first = int(keys[0])
        self._last = int(keys[-1])
        self._digest = add_digests(self._digest, int(digest_of(keys)))
        self._sample.extend(keys[-self._keys % self._stride :: self._stride].tolist())
        self._states += states
        while keys.size:
            part = keys[: self._chunk.size - self._filled]
            self._chunk[self._filled : self._filled + part.size] = part
            self._filled += part.size
            self._keys += part.size
            keys = keys[part.size :]
            if self._filled == self._chunk.size:
                self._write()

    def _write(self) -> None:
        """Write the keys that are collected as the next chunk."""
        chunk = (self._keys - 1) // self._chunk.size
        self._bytes += write_chunk(self._temporary, chunk, self._chunk[: self._filled], self._field_bits)
        self._filled = 0

    def close(self) -> PartitionRecord:
        """Write the metadata, and give the array its name; its attributes are the record that is returned."""
        if self._filled:
            self._write()
        record = PartitionRecord(
            self._name, self._keys, self._states, self._first, self._last, self._digest, self._bytes
        )
        zarr.create_array(
            self._temporary,
            shape=(self._keys,),
            chunks=(self._chunk.size,),
            dtype="uint64",
            serializer=SortedKeysCodec(field_bits=self._field_bits),
            filters=None,
            compressors=[Crc32cCodec()],
            fill_value=0,
            attributes={**record.to_json(), "sample": [hexadecimal(key) for key in self._sample]},
            config={"write_empty_chunks": True},
        )
        publish(self._temporary, self._final)
        return record


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

    Raises
    ------
    CorruptJob
        If the array is missing, or its metadata damaged or not what the manifest says.
    """

    def __init__(self, path: Path, record: PartitionRecord, place: str) -> None:
        self._path = path
        self._place = place
        try:
            array = zarr.open_array(path, mode="r", zarr_format=3)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise CorruptJob(f"the array of {place} cannot be opened ({error})", REMEDY) from error
        if array.shape != (record.keys,):
            raise CorruptJob(f"{place} holds {array.shape} keys where its manifest says {record.keys}", REMEDY)
        self._keys = record.keys
        self._chunk_keys = array.chunks[0]
        self._attributes: dict[str, Any] = array.attrs.asdict()

    def read(self, start: int, stop: int) -> Iterator[NDArray[np.uint64]]:
        """Keys ``start`` to ``stop``, chunk by chunk.

        Raises
        ------
        CorruptJob
            If a chunk is missing or damaged.
        """
        position = start
        while position < stop:
            chunk, inside = divmod(position, self._chunk_keys)
            end = min(stop, (chunk + 1) * self._chunk_keys)
            buffer = np.empty(self._chunk_keys, dtype=np.uint64)
            try:
                read_chunk(self._path, chunk, buffer)
            except FileNotFoundError as error:
                raise CorruptJob(f"chunk {chunk} of {self._place} is missing", REMEDY) from error
            except (ValueError, OSError) as error:
                raise CorruptJob(f"chunk {chunk} of {self._place} is damaged ({error})", REMEDY) from error
            yield buffer[inside : inside + end - position]
            position = end

    def sample(self) -> list[int]:
        """Some keys, ascending and evenly spaced.

        Raises
        ------
        CorruptJob
            If the attributes are damaged.
        """
        try:
            return [int(key, 16) for key in self._attributes["sample"]]
        except (KeyError, ValueError, TypeError) as error:
            raise CorruptJob(f"the attributes of {self._place} cannot be read ({error})", REMEDY) from error
