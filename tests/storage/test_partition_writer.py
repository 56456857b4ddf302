"""Writing a partition in pieces of any size, against a plain list."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import zarr
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.files.durable import bytes_below
from storage.jobs.level import Level
from storage.keys.cut import Cut
from storage.keys.digest import digest_of
from storage.keys.partition import PartitionWriter
from storage.records import ArrayRecord, Manifest, PartitionRecord, parse

keys_of_any_number = st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 100), min_size=1, max_size=120, unique=True)


def write(
    directory: Path, keys: np.ndarray, cuts: list[int], most: int, field_bits: int, chunk: int = 64
) -> PartitionRecord:
    """A partition that is appended piece by piece from one array that is overwritten in between."""
    writer = PartitionWriter(directory, "00000", most, field_bits, cut=Cut(chunk))
    bounds = [0, *sorted(cut for cut in cuts if cut <= keys.size), keys.size]
    for start, stop in pairwise(bounds):
        piece = keys[start:stop].copy()
        writer.append(piece, piece.size)
        piece[:] = 77
    return writer.close()


@settings(max_examples=60)
@given(keys_of_any_number, st.lists(st.integers(0, 120), max_size=8), st.integers(0, 40), st.integers(1, 50))
def test_pieces_of_any_size(numbers: list[int], cuts: list[int], room: int, chunk: int) -> None:
    keys = np.sort(np.array(numbers, dtype=np.uint64))
    with TemporaryDirectory() as name:
        directory = Path(name)
        record = write(directory, keys, cuts, keys.size + room, 4, chunk)
        array = zarr.open_array(directory / "00000", mode="r")
        assert array[:].tolist() == keys.tolist()
        assert array.shape == keys.shape
        assert record == PartitionRecord(
            "00000",
            keys.size,
            keys.size,
            int(keys[0]),
            int(keys[-1]),
            int(digest_of(keys)),
            bytes_below(directory / "00000" / "c"),
        )
        assert parse(ArrayRecord, array.attrs.asdict()).partition == record
        # No chunk behind the end, and nothing under a temporary name.
        size = array.chunks[0]
        assert sorted(int(entry.name) for entry in (directory / "00000" / "c").iterdir()) == list(
            range(-(-keys.size // size))
        )
        assert [entry.name for entry in directory.iterdir()] == ["00000"]

        level = Level(directory, Manifest.of(0, [record]))
        blocks = list(level.read(record))
        assert np.concatenate(blocks).tolist() == keys.tolist()
        assert all(block.size <= size for block in blocks)


@settings(max_examples=60)
@given(keys_of_any_number, st.data())
def test_reading_a_part(numbers: list[int], data: st.DataObject) -> None:
    keys = np.sort(np.array(numbers, dtype=np.uint64))
    with TemporaryDirectory() as name:
        directory = Path(name)
        half = keys.size // 2
        records = []
        for number, part in enumerate((keys[:half], keys[half:])):
            if part.size:
                writer = PartitionWriter(directory, f"{number:05d}", part.size, 0, cut=Cut(7))
                writer.append(part, part.size)
                records.append(writer.close())
        level = Level(directory, Manifest.of(0, records))
        record = records[-1]
        start = data.draw(st.integers(0, record.keys))
        stop = data.draw(st.integers(start, record.keys))
        blocks = list(level.read(record, start, stop))
        assert [key for block in blocks for key in block.tolist()] == keys[half:][start:stop].tolist()

        ends = st.sampled_from(numbers) | st.integers(0, 2**64 - 1)
        low, high = sorted((data.draw(ends), data.draw(ends)))
        blocks = list(level.read_range(low, high))
        assert [key for block in blocks for key in block.tolist()] == [k for k in keys.tolist() if low <= k <= high]
        assert all(block.size for block in blocks)


def test_nothing_has_its_name_before_it_is_closed(tmp_path: Path) -> None:
    writer = PartitionWriter(tmp_path, "00003", 10, 0)
    writer.append(np.arange(5, dtype=np.uint64), 5)
    (entry,) = tmp_path.iterdir()
    assert entry.name.startswith("00003.")
    assert entry.name.endswith(".partial")
    writer.close()
    assert [entry.name for entry in tmp_path.iterdir()] == ["00003"]


def test_a_second_run_leaves_the_first(tmp_path: Path) -> None:
    """A task may run twice, and at the same time; what it writes is the same."""
    inodes = set()
    for _ in range(2):
        unfinished = PartitionWriter(tmp_path, "00000", 10, 0)
        unfinished.append(np.arange(3, dtype=np.uint64), 3)
        write(tmp_path, np.arange(9, dtype=np.uint64), [], 10, 0)
        assert zarr.open_array(tmp_path / "00000", mode="r")[:].tolist() == list(range(9))
        inodes.add((tmp_path / "00000" / "zarr.json").stat().st_ino)
    assert len(inodes) == 1


def test_manifest_round_trip() -> None:
    records = [
        PartitionRecord("00001", 3, 5, 2**63, 2**64 - 1, 2**64 - 1, 40),
        PartitionRecord("00002", 0, 0, 0, 0, 0, 0),
        PartitionRecord("00000", 2, 2, 0, 9, 2, 30),
    ]
    manifest = Manifest.of(7, records, generated=20, spilled=10, forward=4, exhaustive=True, seconds=1.5)
    assert [record.name for record in manifest.partitions] == ["00000", "00001"]
    assert (manifest.keys, manifest.states, manifest.digest, manifest.bytes) == (5, 7, 1, 70)
    assert Manifest.from_json(manifest.to_json()) == manifest


@pytest.mark.parametrize("most", [1, 5, 100])
def test_one_key(tmp_path: Path, most: int) -> None:
    record = write(tmp_path, np.array([2**64 - 1], dtype=np.uint64), [], most, 9)
    assert (record.first, record.last, record.keys) == (2**64 - 1, 2**64 - 1, 1)
    assert zarr.open_array(tmp_path / "00000", mode="r")[:].tolist() == [2**64 - 1]
