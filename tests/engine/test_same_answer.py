"""The same counts and digests whatever the memory, workers, partitions and scheduler; and that the paths are taken."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline import Search, Sliding, Snake
from pipeline.level import merge as merge_pass
from pipeline.level.places import PlaceTables
from pipeline.spaces.contract import StateSpace
from pipeline.spaces.permutations.space import Permutation
from storage.jobs.job import Job
from storage.keys.spill_file import DiskSpillWriter
from storage.keys.spills import DiskSpills, MemorySpills
from tests.engine.jobs import Summary, keys_at, leftovers, summary
from tests.engine.tiny import Sizes, everything_small

SPACES: dict[str, tuple[Callable[[], StateSpace], int | None]] = {
    "snake": (lambda: Snake(n=10), None),
    "static snake": (lambda: Snake(n=9, collision="static"), None),
    "eight puzzle": (lambda: Sliding(rows=3, cols=3), 15),
    "3x4": (lambda: Sliding(rows=3, cols=4, blank=5), 11),
    "pancakes": (lambda: Permutation(family="pancake", size=7), None),
    "directed": (lambda: Permutation(family="lx", size=7), None),
}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Summary]:
    """What a search with ordinary sizes finds, by the name of the space."""
    found: dict[str, Summary] = {}

    def search(name: str) -> Summary:
        if name not in found:
            path = tmp_path_factory.mktemp("plain") / "job"
            make, depth = SPACES[name]
            Search(make(), job=path, memory=2**31, max_depth=depth, scheduler="sync").run()
            found[name] = summary(path)
        return found[name]

    return search


def run_small(name: str, path: Path, sizes: Sizes, **options: Any) -> None:
    """A search where everything is small."""
    make, depth = SPACES[name]
    with everything_small(sizes):
        Search(make(), job=path, max_depth=depth, **options).run()
    assert leftovers(path) == []


class Witness:
    """Counts how often the paths of large levels are taken."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.parts = self.spilled = self.kept = self.refused = self.files = 0
        load, keep, append, writer = (
            merge_pass.load_runs,
            MemorySpills.keep,
            DiskSpillWriter.append,
            DiskSpills.writer,
        )

        def counted_load(pieces: Any, low: int | None, high: int | None, buffer: Any) -> Any:
            self.parts += low is not None
            return load(pieces, low, high, buffer)

        def counted_keep(*arguments: Any) -> bool:
            kept = keep(*arguments)
            self.kept += kept
            self.refused += not kept
            return kept

        def counted_append(*arguments: Any) -> None:
            self.spilled += 1
            append(*arguments)

        def counted_writer(*arguments: Any) -> Any:
            self.files += 1
            return writer(*arguments)

        patch.setattr(merge_pass, "load_runs", counted_load)
        patch.setattr(MemorySpills, "keep", counted_keep)
        patch.setattr(DiskSpillWriter, "append", counted_append)
        patch.setattr(DiskSpills, "writer", counted_writer)


def most_partitions(path: Path) -> int:
    """Partitions of the level that has most of them."""
    return max(len(manifest.partitions) for manifest in Job.open(path).manifests())


@pytest.mark.parametrize("name", SPACES)
def test_many_partitions_and_spills(
    name: str, tmp_path: Path, plain: Callable[[str], Summary], monkeypatch: pytest.MonkeyPatch
) -> None:
    witness = Witness(monkeypatch)
    run_small(name, tmp_path / "job", Sizes(), scheduler="sync")
    assert summary(tmp_path / "job") == plain(name)
    assert most_partitions(tmp_path / "job") > 4
    assert witness.spilled > 20
    assert witness.files > 20


@pytest.mark.parametrize("name", SPACES)
def test_merging_range_by_range(
    name: str, tmp_path: Path, plain: Callable[[str], Summary], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One partition a level, and buffers that hold a small part of it."""
    witness = Witness(monkeypatch)
    run_small(name, tmp_path / "job", Sizes(buffer=200, partition=10**9, frame=100, fill=1e9), scheduler="sync")
    assert summary(tmp_path / "job") == plain(name)
    assert most_partitions(tmp_path / "job") <= 2
    assert witness.parts > 20


@pytest.mark.parametrize("name", SPACES)
def test_memory_that_overflows(
    name: str, tmp_path: Path, plain: Callable[[str], Summary], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan expects that the spills fit in memory, and they do not."""
    witness = Witness(monkeypatch)
    monkeypatch.setattr("pipeline.level.maker.LevelMaker.spills", lambda _, work, *__: MemorySpills(500, work.spills()))
    run_small(name, tmp_path / "job", Sizes(), workers=2)
    assert summary(tmp_path / "job") == plain(name)
    assert witness.kept
    assert witness.refused
    assert witness.spilled


@pytest.mark.parametrize("name", SPACES)
def test_memory_that_suffices(
    name: str, tmp_path: Path, plain: Callable[[str], Summary], monkeypatch: pytest.MonkeyPatch
) -> None:
    witness = Witness(monkeypatch)
    run_small(name, tmp_path / "job", Sizes(memory=10**6), workers=2)
    assert summary(tmp_path / "job") == plain(name)
    assert witness.kept
    assert not witness.refused
    assert not witness.spilled
    assert all(manifest.peak_spill_bytes == 0 for manifest in Job.open(tmp_path / "job").manifests())


def test_tables_where_spills_would_not_fit(
    tmp_path: Path, plain: Callable[[str], Summary], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables take less memory than the spills of the largest levels."""
    held: list[int] = []
    count = PlaceTables.count
    monkeypatch.setattr(PlaceTables, "count", lambda *arguments: held.append(count(*arguments)) or held[-1])
    run_small("pancakes", tmp_path / "job", Sizes(memory=400), workers=2)
    assert summary(tmp_path / "job") == plain("pancakes")
    assert held
    assert max(manifest.spilled for manifest in Job.open(tmp_path / "job").manifests()) > 400


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("name", ["snake", "eight puzzle"])
def test_threads(name: str, workers: int, tmp_path: Path, plain: Callable[[str], Summary]) -> None:
    run_small(name, tmp_path / "job", Sizes(buffer=300, memory=2000), workers=workers)
    assert summary(tmp_path / "job") == plain(name)


@pytest.mark.parametrize("chunk", [1, 7, 1000])
def test_chunks_of_any_size(chunk: int, tmp_path: Path, plain: Callable[[str], Summary]) -> None:
    make, _ = SPACES["snake"]
    with everything_small(Sizes(chunk=chunk, buffer=100, frame=5)):
        Search(make(), job=tmp_path / "job", max_depth=4, scheduler="sync").run()
    assert summary(tmp_path / "job") == plain("snake")[:5]


def test_keeping_the_frontier_only(tmp_path: Path, plain: Callable[[str], Summary]) -> None:
    for name, still_needed in (("snake", 2), ("eight puzzle", 1)):
        path = tmp_path / name.replace(" ", "-")
        run_small(name, path, Sizes(), workers=2, keep="frontier")
        assert summary(path) == plain(name)
        kept = [manifest.arrays_kept for manifest in Job.open(path).manifests()]
        assert kept == [False] * (len(kept) - still_needed) + [True] * still_needed
        on_disk = [
            any(entry.is_dir() for entry in level.iterdir()) for level in sorted((path / "levels").glob("[0-9]*"))
        ]
        assert not any(on_disk[:-still_needed])


def test_keys_are_the_same_too(tmp_path: Path) -> None:
    """Not only their digests."""
    Search(Snake(n=9), job=tmp_path / "plain", memory=2**31).run()
    with everything_small():
        Search(Snake(n=9), job=tmp_path / "small").run()
    for depth in range(10):
        one, other = (keys_at(Job.open(tmp_path / name), depth) for name in ("plain", "small"))
        assert one.tolist() == other.tolist()
