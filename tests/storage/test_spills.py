"""Spills on disk and in memory, and damaged spill files."""

from __future__ import annotations

import pickle
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.errors import CorruptJob, CorruptSpill
from storage.keys.cut import Cut
from storage.keys.spill_file import DiskPiece
from storage.keys.spills import OVERFLOW_TASK, DiskSpills, MemoryPiece, MemorySpills, Spills

PARTITIONS = 3
RECEIPT = {"keys": 3, "generated": 8, "spilled": 6, "forward": 1, "backward": 2}

runs = st.lists(st.integers(0, 299), max_size=40).map(lambda keys: np.unique(np.array(keys, dtype=np.uint64)))
tasks = st.lists(st.lists(runs, max_size=4), max_size=4)


def fill(spills: Spills, output: list[list[np.ndarray]]) -> list[list[int]]:
    """Write the output of tasks, cut at 100 and 200; returns the keys of each partition."""
    held: list[list[int]] = [[] for _ in range(PARTITIONS)]
    for task, appended in enumerate(output):
        writer = spills.writer(task)
        for keys in appended:
            buffer = keys.copy()
            writer.append(buffer, [0, *np.searchsorted(keys, [100, 200]).tolist(), keys.size])
            buffer[:] = 5
            for key in keys.tolist():
                held[key // 100].append(key)
        writer.close({"task": task})
    return [sorted(keys) for keys in held]


def content(spills: Spills, partition: int) -> list[int]:
    """Keys of a partition; each piece must ascend."""
    found: list[int] = []
    for piece in spills.pieces(partition):
        out = np.full(piece.keys, 9, dtype=np.uint64)
        piece.read(out)
        assert np.all(out[1:] > out[:-1])
        found += out.tolist()
    return sorted(found)


@settings(max_examples=50)
@given(tasks, st.integers(1, 30), st.integers(0, 9))
def test_on_disk(output: list[list[np.ndarray]], frame_keys: int, field_bits: int) -> None:
    with TemporaryDirectory() as name:
        spills = DiskSpills(Path(name) / "spills", field_bits, cut=Cut(frame=frame_keys))
        held = fill(spills, output)
        spills = pickle.loads(pickle.dumps(spills))
        for partition in range(PARTITIONS):
            assert content(spills, partition) == held[partition]
            assert all(piece.keys <= frame_keys for piece in spills.pieces(partition))
        for task in range(len(output)):
            assert spills.receipt(task) == {"task": task}
        assert spills.receipt(len(output)) is None


@settings(max_examples=50)
@given(tasks, st.integers(0, 200))
def test_in_memory_with_overflow(output: list[list[np.ndarray]], capacity: int) -> None:
    with TemporaryDirectory() as name:
        disk = DiskSpills(Path(name), 0)
        spills = MemorySpills(capacity, disk)
        held = fill(spills, output)
        in_memory = 0
        for partition in range(PARTITIONS):
            assert content(spills, partition) == held[partition]
            pieces = spills.pieces(partition)
            in_memory += sum(piece.keys for piece in pieces if isinstance(piece, MemoryPiece))
        assert in_memory <= capacity
        if sum(map(len, held)) <= capacity:
            assert not list(Path(name).iterdir())
        # What is in memory is gone when the process is, so no task counts as finished.
        assert all(spills.receipt(task) is None and disk.receipt(task) is None for task in range(len(output)))


def test_overflow_is_told_from_finished_tasks(tmp_path: Path) -> None:
    spills = MemorySpills(3, DiskSpills(tmp_path, 0))
    fill(spills, [[np.arange(3, dtype=np.uint64)], [np.arange(5, dtype=np.uint64)]])
    assert [path.name for path in tmp_path.iterdir()] == [f"{OVERFLOW_TASK + 1}.spill"]
    assert any(isinstance(piece, DiskPiece) for piece in spills.pieces(0))


def test_a_task_without_output_is_done_too(tmp_path: Path) -> None:
    spills = DiskSpills(tmp_path, 0)
    spills.writer(4).close(RECEIPT)
    assert spills.receipt(4) == RECEIPT
    assert spills.pieces(0) == []


def test_an_unfinished_task_leaves_no_sign(tmp_path: Path) -> None:
    spills = DiskSpills(tmp_path, 0)
    writer = spills.writer(0)
    writer.append(np.arange(5, dtype=np.uint64), [0, 5])
    assert spills.receipt(0) is None
    assert spills.pieces(0) == []
    writer.close(RECEIPT)
    assert spills.receipt(0) == RECEIPT


@pytest.fixture
def spill_file(tmp_path: Path) -> Path:
    """A spill file with four frames in two partitions."""
    writer = DiskSpills(tmp_path, 4, cut=Cut(frame=10)).writer(0)
    writer.append(np.arange(0, 400, 10, dtype=np.uint64), [0, 20, 40])
    writer.close(RECEIPT)
    return tmp_path / "00000.spill"


def read_all(path: Path) -> None:
    """Receipt and content of a spill file."""
    spills = DiskSpills(path.parent, 4)
    assert spills.receipt(0) == RECEIPT
    assert content(spills, 0) == list(range(0, 200, 10))
    assert content(spills, 1) == list(range(200, 400, 10))
    assert spills.pieces(2) == []


def test_every_flipped_bit_is_noticed(spill_file: Path) -> None:
    whole = spill_file.read_bytes()
    read_all(spill_file)
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << (place % 8)
        spill_file.write_bytes(damaged)
        with pytest.raises(CorruptSpill, match=r"00000\.spill .*remove that file and resume") as caught:
            read_all(spill_file)
        # By its path the loop knows which task to run again, in whatever process it was found.
        assert pickle.loads(pickle.dumps(caught.value)).path == spill_file


def test_every_truncation_is_noticed(spill_file: Path) -> None:
    whole = spill_file.read_bytes()
    for size in range(len(whole)):
        spill_file.write_bytes(whole[:size])
        with pytest.raises(CorruptJob, match=r"00000\.spill .*remove that file and resume"):
            read_all(spill_file)


def test_a_spill_file_that_vanishes(spill_file: Path) -> None:
    piece = DiskSpills(spill_file.parent, 4).pieces(0)[0]
    spill_file.unlink()
    with pytest.raises(CorruptJob, match=r"00000\.spill is missing; resume"):
        piece.read(np.zeros(piece.keys, dtype=np.uint64))
