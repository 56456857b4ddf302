"""Damage to a finished job is found by verification, with its place."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline import Snake
from pipeline.spaces.contract import StateSpace
from storage.errors import CorruptJob
from storage.files.sealed import read_document, seal
from storage.jobs.job import Job
from storage.jobs.restoring import restore_ledger
from storage.keys.partition import PartitionWriter
from storage.records import Manifest
from tests.faults.first_format import to_first_format
from tests.helpers.levels import verify_levels

DEPTH = 5
SPACE = Snake(n=10)


def verify(path: Path, space: StateSpace = SPACE) -> list[tuple[int, int]]:
    """Depths and states of the levels that were read."""
    return [(check.depth, check.states) for check in verify_levels(space, Job.open(path)) if check.read]


def chunk(path: Path, number: int = 0) -> Path:
    """A chunk of the first partition of the damaged level that has more than one."""
    level = path / "levels" / f"{DEPTH:04d}"
    arrays = [array for array in sorted(level.iterdir()) if array.is_dir() and len(list((array / "c").iterdir())) > 1]
    return arrays[0] / "c" / str(number)


def edit(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the manifest in a ``zarr.json``, with a checksum and a ledger that fit."""
    document = read_document(path, sealed=True)
    change(document["attributes"])
    path.write_text(json.dumps(seal(document)))
    restore_ledger(Job.open(path.parents[2]))


def test_an_undamaged_job(job_copy: Path) -> None:
    assert verify(job_copy) == list(enumerate([1, 5, 40, 156, 419, 697, 763, 507, 188, 30, 0]))


def test_a_missing_chunk(job_copy: Path) -> None:
    place = chunk(job_copy, 1)
    place.unlink()
    name = place.parent.parent.name
    with pytest.raises(CorruptJob, match=rf"chunk 1 of level 5, partition {name} \(.*\) is missing"):
        verify(job_copy)


def test_a_flipped_bit_anywhere_in_a_chunk(job_copy: Path) -> None:
    place = chunk(job_copy)
    name = place.parent.parent.name
    whole = place.read_bytes()
    for position in range(0, len(whole), 5):
        damaged = bytearray(whole)
        damaged[position] ^= 1 << (position % 8)
        place.write_bytes(damaged)
        with pytest.raises(CorruptJob, match=rf"chunk 0 of level 5, partition {name} \(.*\) is damaged.*--overwrite"):
            verify(job_copy)
    place.write_bytes(whole)
    verify(job_copy)


def test_a_truncated_chunk(job_copy: Path) -> None:
    place = chunk(job_copy, 1)
    name = place.parent.parent.name
    whole = place.read_bytes()
    for size in (0, 1, 3, 4, 10, 20, len(whole) // 2, len(whole) - 4, len(whole) - 1):
        place.write_bytes(whole[:size])
        with pytest.raises(CorruptJob, match=rf"chunk 1 of level 5, partition {name} \(.*\) is damaged"):
            verify(job_copy)


def test_a_chunk_of_another_place(job_copy: Path) -> None:
    """Whole, with the right checksum, but not what belongs there."""
    shutil.copy(chunk(job_copy, 0), chunk(job_copy, 1))
    with pytest.raises(CorruptJob, match=r"chunk 1 of level 5, partition \d+ .*is whole, but not the chunk"):
        verify(job_copy)
    to_first_format(job_copy)
    with pytest.raises(CorruptJob, match=r"level 5, partition \d+ .*: chunk 1 is whole, but its keys do not belong"):
        verify(job_copy)


def test_missing_metadata_of_an_array(job_copy: Path) -> None:
    (job_copy / "levels" / "0005" / "00001" / "zarr.json").unlink()
    with pytest.raises(CorruptJob, match=r"array of level 5, partition 00001 \(.*\) cannot be opened"):
        verify(job_copy)


def test_a_missing_array(job_copy: Path) -> None:
    shutil.rmtree(job_copy / "levels" / "0005" / "00000")
    with pytest.raises(CorruptJob, match=r"array of level 5, partition 00000 \(.*\) cannot be opened"):
        verify(job_copy)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"zarr_format": 3, "node_type": "array"}'])
def test_damaged_metadata_of_an_array(job_copy: Path, text: str) -> None:
    (job_copy / "levels" / "0005" / "00000" / "zarr.json").write_text(text)
    with pytest.raises(CorruptJob, match=r"array of level 5, partition 00000 \(.*\) cannot be opened"):
        verify(job_copy)


def test_an_array_of_another_size(job_copy: Path) -> None:
    path = job_copy / "levels" / "0005" / "00000" / "zarr.json"
    document = read_document(path, sealed=True)
    document["shape"] = [document["shape"][0] - 1]
    path.write_text(json.dumps(seal(document)))
    with pytest.raises(CorruptJob, match=r"level 5, partition 00000 .* keys where its manifest says"):
        verify(job_copy)


def test_a_missing_manifest(job_copy: Path) -> None:
    (job_copy / "levels" / "0005" / "zarr.json").unlink()
    with pytest.raises(CorruptJob, match=r"manifest of level 5 \(.*0005/zarr\.json\) cannot be read"):
        verify(job_copy)


@pytest.mark.parametrize("name", ["keys", "states", "digest", "bytes"])
def test_an_edited_total(job_copy: Path, name: str) -> None:
    other: int | str = "0x0000000000000001" if name == "digest" else 698
    edit(job_copy / "levels" / "0005" / "zarr.json", lambda attributes: attributes.update({name: other}))
    with pytest.raises(CorruptJob, match=rf"level 5 \(.*0005/zarr\.json\): .* {name}"):
        verify(job_copy)


@pytest.mark.parametrize("name", ["keys", "states", "first", "last", "digest"])
def test_an_edited_partition(job_copy: Path, name: str) -> None:
    """Its totals changed with it, so that only the array tells."""

    def change(attributes: dict[str, Any]) -> None:
        entry = attributes["partitions"][1]
        if name in ("keys", "states"):
            entry[name] -= 1
            attributes[name] -= 1
        elif name == "digest":
            entry[name] = f"{(int(entry[name], 16) + 1) % 2**64:#018x}"
            attributes[name] = f"{(int(attributes[name], 16) + 1) % 2**64:#018x}"
        else:
            entry[name] = f"{int(entry[name], 16) + (1 if name == 'first' else -1):#018x}"

    edit(job_copy / "levels" / "0005" / "zarr.json", change)
    with pytest.raises(CorruptJob, match=r"level 5, partition 00001"):
        verify(job_copy)


def test_overlapping_partitions(job_copy: Path) -> None:
    def change(attributes: dict[str, Any]) -> None:
        attributes["partitions"][0]["last"] = attributes["partitions"][1]["first"]

    edit(job_copy / "levels" / "0005" / "zarr.json", change)
    with pytest.raises(CorruptJob, match="level 5: the partitions 00000 and 00001 overlap"):
        verify(job_copy)


def test_a_manifest_of_another_level(job_copy: Path) -> None:
    """Copied whole, it is consistent in itself."""
    levels = job_copy / "levels"
    shutil.rmtree(levels / "0005")
    shutil.copytree(levels / "0006", levels / "0005")
    with pytest.raises(CorruptJob, match="manifest of level 5"):
        verify(job_copy)


@pytest.mark.parametrize("order", [[3, 2, 9], [3, 3, 9]])
def test_keys_that_do_not_ascend(job_copy: Path, order: list[int]) -> None:
    """With a checksum, a digest and counts that fit."""
    path = job_copy / "levels" / "0005"
    level = Job.open(job_copy).level(DEPTH)
    first = level.manifest.partitions[0]
    shutil.rmtree(path / first.name)
    writer = PartitionWriter(path, first.name, 3, 0)
    writer.append(np.array(order, dtype=np.uint64), 3)
    record = writer.close()
    manifest = Manifest.of(DEPTH, [record, *level.manifest.partitions[1:]])
    edit(path / "zarr.json", lambda attributes: attributes.update(manifest.to_json()))
    with pytest.raises(CorruptJob, match="level 5, partition 00000, chunk 0: the keys do not ascend at position 1"):
        verify(job_copy)


def test_deleted_arrays_are_not_damage(job_copy: Path) -> None:
    Job.open(job_copy).drop_arrays(DEPTH)
    assert [depth for depth, _ in verify(job_copy)] == [0, 1, 2, 3, 4, 6, 7, 8, 9, 10]
