"""The array of a partition as files: its metadata and its chunks, checked before anything is taken from them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import google_crc32c

from storage.files.reading import read_file, refuse_links
from storage.files.sealed import Document, read_document
from storage.records import CODEC, ArrayDocument, ArrayRecord, parse

CHECKSUM_BYTES = 4
LARGEST_CHUNK_KEYS = 1 << 20
# No frame of so many keys is larger, whatever they are: ten bytes and four planes for each, and headers.
LARGEST_CHUNK_BYTES = LARGEST_CHUNK_KEYS * 16


def array_document(keys: int, chunk_keys: int, field_bits: int, attributes: Document) -> Document:
    """The metadata of an array of ascending keys, as Zarr writes them.

    Parameters
    ----------
    keys, chunk_keys : int
        Of the array, and of each of its chunks.
    field_bits : int
        For the codec.
    attributes : dict
    """
    return {
        "shape": [keys],
        "data_type": "uint64",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [chunk_keys]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0,
        "codecs": [{"name": CODEC, "configuration": {"field_bits": field_bits}}, {"name": "crc32c"}],
        "attributes": attributes,
        "zarr_format": 3,
        "node_type": "array",
        "storage_transformers": [],
    }


def chunk_path(array: Path, chunk: int) -> Path:
    return array / "c" / str(chunk)


def chunks_there(array: Path) -> set[str]:
    """Names of the chunks of an array that are on disk."""
    try:
        refuse_links(array, array / "c")
        return {entry.name for entry in (array / "c").iterdir()}
    except OSError:
        return set()


def read_frame(array: Path, chunk: int, expected: str | None) -> bytes:
    """The bytes of a chunk after they were found to be right.

    Raises
    ------
    FileNotFoundError
    ValueError
        If they are damaged, or those of another chunk.
    """
    data = read_file(chunk_path(array, chunk), LARGEST_CHUNK_BYTES)
    frame, checksum = data[:-CHECKSUM_BYTES], data[-CHECKSUM_BYTES:]
    if google_crc32c.value(frame).to_bytes(CHECKSUM_BYTES, "little") != checksum:
        raise ValueError("its checksum is wrong")
    if expected is not None and checksum.hex() != expected:
        raise ValueError("it is whole, but not the chunk that belongs here")
    return frame


@dataclass(frozen=True)
class ArrayFacts:
    """What the metadata of a partition's array says.

    Attributes
    ----------
    record : ArrayRecord
    chunk_keys : int
        Keys of a chunk.
    """

    record: ArrayRecord
    chunk_keys: int

    @property
    def chunks(self) -> int:
        """Number of chunks."""
        return -(-self.record.keys // self.chunk_keys)


def read_facts(path: Path, sealed: bool) -> ArrayFacts:
    """Read the metadata of a partition's array.

    Parameters
    ----------
    path : Path
    sealed : bool
        Whether it must have a checksum.

    Raises
    ------
    OSError
    ValueError, KeyError, TypeError
        If it is damaged.
    """
    refuse_links(path, path / "c")
    document = read_document(path / "zarr.json", sealed)
    found = parse(ArrayDocument, document)
    (keys,) = found.shape
    (chunk_keys,) = found.chunk_grid.configuration["chunk_shape"]
    if type(chunk_keys) is not int or not 0 < chunk_keys <= LARGEST_CHUNK_KEYS:
        raise ValueError(f"it has chunks of {chunk_keys} keys")
    record = replace(found.attributes, keys=keys)
    facts = ArrayFacts(record, chunk_keys)
    if record.checksums is None and sealed:
        raise ValueError("it lists no checksums of chunks")
    if record.checksums is not None and len(record.checksums) != facts.chunks:
        raise ValueError(f"it lists the checksums of {len(record.checksums)} chunks and has {facts.chunks}")
    if record.digests is not None and (
        len(record.digests) != facts.chunks or sum(record.digests) % 2**64 != record.digest
    ):
        raise ValueError("the digests of its chunks do not add up to its own")
    return facts


def check_chunks(path: Path, facts: ArrayFacts) -> None:
    """Read all chunks of an array and compare them with their checksums.

    Raises
    ------
    OSError
    ValueError
        If one is damaged.
    """
    for chunk in range(facts.chunks):
        try:
            read_frame(path, chunk, None if facts.record.checksums is None else facts.record.checksums[chunk])
        except ValueError as error:
            raise ValueError(f"{chunk_path(path, chunk)}: {error}") from error
