"""Graphs that are deep and narrow: a level costs the same at any depth."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pipeline import Search
from pipeline.audit.damage import Damage, examine
from pipeline.audit.repair import repair
from pipeline.running.events import Observer
from pipeline.spaces.contract import Detection
from storage.errors import CorruptJob
from storage.files import durable, sealed
from storage.files.reading import read_file
from storage.jobs import ledger
from storage.jobs.job import Job
from storage.records import Manifest
from tests.engine.jobs import leftovers, summary
from tests.engine.toys import Toy


def path_graph(nodes: int) -> Toy:
    """One state at each depth."""
    return Toy(
        lambda node: [other for other in (node - 1, node + 1) if 0 <= other < nodes],
        [0],
        2,
        Detection.LEVELS,
        bipartite=True,
    )


@pytest.fixture(autouse=True)
def without_flushing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here outlives a loss of power, and flushing takes most of the time."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


class Costs(Observer):
    """Counts what each level costs: documents read and written, bytes of them, directories listed."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.now: Counter[str] = Counter()
        self.levels: list[Counter[str]] = []

        def counted(name: str, function: Any, size: Any = lambda result, arguments: 0) -> Any:
            def wrapper(*arguments: Any, **options: Any) -> Any:
                result = function(*arguments, **options)
                self.now[name] += 1
                self.now[f"bytes {name}"] += size(result, arguments)
                return result

            return wrapper

        patch.setattr(sealed, "read_json", counted("read", sealed.read_json))
        patch.setattr(
            durable, "write_text", counted("written", durable.write_text, lambda _, arguments: len(arguments[1]))
        )
        patch.setattr(os, "scandir", counted("listed", os.scandir))
        patch.setattr(os, "listdir", counted("listed", os.listdir))
        patch.setattr(os, "lstat", counted("looked at", os.lstat))

    def level_committed(self, manifest: Manifest) -> None:
        self.levels.append(self.now)
        self.now = Counter()


@pytest.mark.parametrize("options", [{}, {"keep": "frontier"}, {"max_disk": 10**9}], ids=["all", "frontier", "quota"])
def test_what_a_level_costs(options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "DOCUMENT_LEVELS", 20)
    with monkeypatch.context() as patch:
        costs = Costs(patch)
        Search(path_graph(160), tmp_path / "job", scheduler="sync", observer=costs, **options).run()
    assert summary(tmp_path / "job") == [
        (depth, 1, 1, found) for depth, (_, _, _, found) in enumerate(summary(tmp_path / "job")[:160])
    ] + [(160, 0, 0, 0)]
    for depth in range(30, 150):
        # Numbers have more digits later.
        for name, count in costs.levels[depth].items():
            assert count <= costs.levels[30][name] + (60 if name.startswith("bytes") else 0), (depth, name)
    assert 1 < costs.levels[30]["read"] < 12
    assert costs.levels[30]["bytes written"] < 3000


@pytest.fixture
def deep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A job with a ledger whose last 30 levels are lines."""
    monkeypatch.setattr(ledger, "DOCUMENT_LEVELS", 10)
    Search(path_graph(39), tmp_path / "job", scheduler="sync").run()
    lines = (tmp_path / "job" / "levels" / "ledger.jsonl").read_bytes().splitlines()
    assert len(lines) == 30
    return tmp_path / "job"


def damages(path: Path) -> list[Damage]:
    """What is wrong with the job."""
    return [found for found in examine(path_graph(39), Job.open(path)) if isinstance(found, Damage)]


def test_a_ledger_of_lines(deep: Path) -> None:
    """Reading it, going on with it, and restoring it: always the same ledger."""
    assert damages(deep) == []
    before = [entry["depth"] for entry in (Job.open(deep).ledger() or pytest.fail("no ledger")).committed]
    assert before == list(range(40))
    content = (deep / "levels" / "ledger.jsonl").read_bytes()
    document = read_file(deep / "levels" / "zarr.json", 10**6)
    Search(path_graph(39), deep).run(resume=True)
    (deep / "levels" / "ledger.jsonl").unlink()
    assert [found.what for found in damages(deep)] == ["ledger"]
    assert all(outcome.repaired for outcome in repair(path_graph(39), Job.open(deep)))
    assert (deep / "levels" / "ledger.jsonl").read_bytes() == content
    assert (deep / "levels" / "zarr.json").read_bytes() == document


@pytest.mark.parametrize("removed", [1, 5])
def test_levels_that_vanished_from_the_end(removed: int, deep: Path) -> None:
    for depth in range(40 - removed, 40):
        durable.remove(deep / "levels" / f"{depth:04d}")
    with pytest.raises(CorruptJob, match=f"level {40 - removed} of the job .* is missing"):
        Job.open(deep).depths()
    assert [found.depth for found in damages(deep)] == list(range(40 - removed, 40))
    assert all(outcome.repaired for outcome in repair(path_graph(39), Job.open(deep)))
    assert damages(deep) == []
    assert len(summary(deep)) == 40


def test_every_flipped_bit_of_the_lines(deep: Path) -> None:
    """It is damage; but for the last line, which counts as cut off, and its level is entered again."""
    place = deep / "levels" / "ledger.jsonl"
    content = place.read_bytes()
    last = content.rindex(b"\n", 0, -1) + 1
    for position in range(0, len(content), 97):
        damaged = bytearray(content)
        damaged[position] ^= 1 << position % 8
        place.write_bytes(damaged)
        if position < last:
            with pytest.raises(CorruptJob, match=r"ledger of the job .*ledger\.jsonl"):
                Job.open(deep).depths()
        else:
            assert len(Job.open(deep).depths()) == 40
    for size in range(last, len(content), 40):
        place.write_bytes(content[:size])
        assert len(Job.open(deep).depths()) == 40
    Search(path_graph(39), deep).run(resume=True)
    assert place.read_bytes() == content


def test_lines_of_another_job(deep: Path, tmp_path: Path) -> None:
    Search(path_graph(39), tmp_path / "other", scheduler="sync").run(command="another")
    (deep / "levels" / "ledger.jsonl").write_bytes((tmp_path / "other" / "levels" / "ledger.jsonl").read_bytes())
    with pytest.raises(CorruptJob, match=r"line 1 of ledger\.jsonl is of another job"):
        Job.open(deep).depths()


def test_a_job_of_a_version_that_knew_no_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its document names more levels than ours would; what follows are lines."""
    Search(path_graph(39), tmp_path / "job", scheduler="sync", max_depth=20).run()
    monkeypatch.setattr(ledger, "DOCUMENT_LEVELS", 10)
    Search(path_graph(39), tmp_path / "job", scheduler="sync").run(resume=True)
    assert len((tmp_path / "job" / "levels" / "ledger.jsonl").read_bytes().splitlines()) == 19
    assert damages(tmp_path / "job") == []
    assert len(summary(tmp_path / "job")) == 40
    assert leftovers(tmp_path / "job") == []


@pytest.mark.slow
def test_twenty_thousand_levels(tmp_path: Path) -> None:
    table = Search(path_graph(20_000), tmp_path / "job", scheduler="sync").run()
    assert table.states == (1,) * 20_000
    assert table.complete
    assert damages_of_none(tmp_path / "job")


def damages_of_none(path: Path) -> bool:
    """Whether the manifests and the ledger of a job agree."""
    found = Job.open(path).ledger()
    return found is not None and [entry["depth"] for entry in found.committed] == list(range(20_001))
