"""A job read by zarr alone: the documented groups, arrays and attributes are there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from zarr.codecs import Crc32cCodec
from zarr.errors import UnknownCodecError

from storage.errors import CorruptJob
from storage.files.sealed import read_document, seal
from storage.jobs.job import Job
from storage.keys.codec import SortedKeysCodec
from storage.keys.cut import Cut
from storage.keys.partition import PartitionWriter

READER = """
import json, sys
import zarr
assert not [name for name in sys.modules if name.split(".")[0] in ("storage", "pipeline", "cli")]
root = zarr.open_group(sys.argv[1], mode="r")
found = {"root": dict(root.attrs), "groups": {}, "arrays": {}}
for name, member in root.members(max_depth=None):
    if isinstance(member, zarr.Group):
        found["groups"][name] = dict(member.attrs)
    else:
        entry = {"attributes": dict(member.attrs), "dtype": str(member.dtype), "values": member[:].tolist()}
        found["arrays"][name] = entry
print(json.dumps(found))
"""


def read_plainly(path: Path, directory: Path) -> dict[str, Any]:
    """What plain zarr finds, in a process of its own, far from the source, with warnings as errors."""
    command = [sys.executable, "-W", "error", "-I", "-c", READER, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=directory, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", ["snake_job", "sliding_job"])
def test_plain_zarr_finds_everything(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    path: Path = request.getfixturevalue(name)
    found = read_plainly(path, tmp_path)
    job = Job.open(path)

    assert set(found["root"]) == {"format_version", "space", "provenance", "checksum"}
    assert found["root"]["format_version"] == 2
    space = found["root"]["space"]
    assert set(space) == {"name", "parameters", "key_version", "field_bits", "mask_bits"}
    assert space["name"] == name.removesuffix("_job")
    provenance = found["root"]["provenance"]
    assert set(provenance) == {"versions", "command", "started"}
    assert {"python", "numpy", "zarr", "numba", "blosc2", "dask"} <= set(provenance["versions"])

    depths = job.depths()
    ledger = found["groups"]["levels"]
    assert ledger["job"] == {name: value for name, value in found["root"].items() if name != "checksum"}
    assert [entry["depth"] for entry in ledger["committed"]] == depths
    assert set(found["groups"]) == {"levels", "work", *(f"levels/{depth:04d}" for depth in depths)}
    arrays = set()
    for depth in depths:
        attributes = found["groups"][f"levels/{depth:04d}"]
        assert attributes["depth"] == depth
        assert ledger["committed"][depth].items() <= attributes.items()
        assert attributes["keys"] == sum(entry["keys"] for entry in attributes["partitions"])
        last = -1
        for entry in attributes["partitions"]:
            place = f"levels/{depth:04d}/{entry['name']}"
            arrays.add(place)
            array = found["arrays"][place]
            assert entry.items() <= array["attributes"].items()
            assert array["dtype"] == "uint64"
            values = array["values"]
            assert len(values) == entry["keys"]
            assert values == sorted(set(values))
            assert int(entry["first"], 16) == values[0] > last
            assert int(entry["last"], 16) == values[-1]
            last = values[-1]
    assert arrays == set(found["arrays"])


def test_a_search_does_not_import_zarr(tmp_path: Path) -> None:
    """It takes a fifth of a second, which is as long as a small search."""
    script = """if True:
        import sys
        from pipeline import Search, Snake
        Search(Snake(n=4), job="job", memory="2GiB").run()
        assert not [name for name in sys.modules if name.split(".")[0] in ("zarr", "distributed")]
        """
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)


def test_metadata_of_an_array(sliding_job: Path) -> None:
    """Plain chunks, the codec with its field bits, and the checksum behind it."""
    document = json.loads((sliding_job / "levels" / "0009" / "00000" / "zarr.json").read_text())
    assert document["zarr_format"] == 3
    assert document["data_type"] == "uint64"
    assert document["chunk_grid"]["name"] == "regular"
    assert [codec["name"] for codec in document["codecs"]] == ["pipeline.sorted-keys", "crc32c"]
    assert document["codecs"][0]["configuration"] == {"field_bits": 9}


def test_an_unknown_codec_is_zarrs_own_error(job_copy: Path) -> None:
    path = job_copy / "levels" / "0005" / "00000"
    document = read_document(path / "zarr.json", sealed=True)
    document["codecs"][0]["name"] = "pipeline.not-registered"
    (path / "zarr.json").write_text(json.dumps(seal(document)))
    with pytest.raises(UnknownCodecError, match=r"pipeline\.not-registered"):
        zarr.open_array(path, mode="r")
    level = Job.open(job_copy).level(5)
    with pytest.raises(CorruptJob, match=r"level 5, partition 00000.*pipeline\.not-registered"):
        list(level.read(level.manifest.partitions[0]))


def test_the_codec_refuses_what_it_cannot_hold(tmp_path: Path) -> None:
    from storage.keys.codec import SortedKeysCodec

    for shape, dtype in (((4, 4), "uint64"), ((4,), "int64"), ((4,), "uint32")):
        with pytest.raises(ValueError, match="one-dimensional arrays of uint64"):
            zarr.create_array(
                tmp_path / "array",
                shape=shape,
                dtype=dtype,
                serializer=SortedKeysCodec(),
                filters=None,
                compressors=None,
            )


def test_the_codec_without_configuration(tmp_path: Path) -> None:
    """Any zarr writer can use it by name, for values in any order."""
    from storage.keys.codec import NAME, SortedKeysCodec

    assert SortedKeysCodec.from_dict({"name": NAME}) == SortedKeysCodec(field_bits=0)
    codec = SortedKeysCodec.from_dict({"name": NAME, "configuration": {"field_bits": 4}})
    assert SortedKeysCodec.from_dict(codec.to_dict()) == codec == SortedKeysCodec(field_bits=4)
    array = zarr.create_array(
        tmp_path / "array", shape=(10,), chunks=(4,), dtype="uint64", serializer=codec, filters=None, compressors=None
    )
    values = np.array([5, 2**64 - 1, 0, 7, 7, 1, 0, 0, 3, 2], dtype=np.uint64)
    array[:] = values
    assert zarr.open_array(tmp_path / "array", mode="r")[:].tolist() == values.tolist()
    assert zarr.open_array(tmp_path / "array", mode="r")[3:9].tolist() == values[3:9].tolist()


@pytest.mark.parametrize("size", [1, 63, 64, 65, 200])
def test_metadata_and_chunks_are_what_zarr_writes(size: int, tmp_path: Path) -> None:
    keys = np.cumsum(np.random.default_rng(size).integers(1, 10**9, size, dtype=np.uint64))
    writer = PartitionWriter(tmp_path, "ours", size, 9, cut=Cut(64))
    writer.append(keys, size)
    writer.close()
    ours = zarr.open_array(tmp_path / "ours", mode="r")
    theirs = zarr.create_array(
        tmp_path / "theirs",
        shape=ours.shape,
        chunks=ours.chunks,
        dtype="uint64",
        serializer=SortedKeysCodec(field_bits=9),
        filters=None,
        compressors=[Crc32cCodec()],
        fill_value=0,
        attributes=ours.attrs.asdict(),
        config={"write_empty_chunks": True},
    )
    theirs[:] = keys
    documents = [json.loads((tmp_path / name / "zarr.json").read_text()) for name in ("ours", "theirs")]
    assert documents[0] == documents[1]
    names = sorted(path.name for path in (tmp_path / "theirs" / "c").iterdir())
    assert sorted(path.name for path in (tmp_path / "ours" / "c").iterdir()) == names
    for name in names:
        assert (tmp_path / "ours" / "c" / name).read_bytes() == (tmp_path / "theirs" / "c" / name).read_bytes()
