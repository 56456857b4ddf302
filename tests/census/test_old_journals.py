"""Journals of version 1 still open. Their lines do not say of which census they are; what does not fit is damage."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pipeline import Census
from storage.errors import CorruptJob
from storage.journal import ENTRIES, Journal

OLD = Path(__file__).parents[1] / "data" / "journals" / "version-1"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A copy of the old journals."""
    return Path(shutil.copytree(OLD, tmp_path / "old"))


@pytest.mark.parametrize(("name", "n", "exhaustive"), [("census-18", 18, False), ("exhaustive-9", 9, True)])
def test_finished_ones_are_read(
    name: str, n: int, exhaustive: bool, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.census.census.LOADERS", {})
    found = Census(n, exhaustive, journal=old / name).run(resume=True)
    expected = {9: 1047, 18: 7793632}[n]
    assert (found.shapes, found.stuck_shapes) == (expected, ())


def test_an_unfinished_one_is_finished(old: Path) -> None:
    before = Journal.open(old / "census-24").entries()
    assert len(before) == 40
    found = Census(24, journal=old / "census-24").run(resume=True)
    assert found.stuck_shapes == Census(24).run().stuck_shapes
    journal = Journal.open(old / "census-24")
    assert journal.version == 1
    assert journal.entries()[:40] == before
    assert len(journal.entries()) == 65
    again = Census(24, journal=old / "census-24").run(resume=True)
    assert again.stuck_shapes == found.stuck_shapes


@pytest.mark.parametrize(("theirs", "n"), [("census-24", 18), ("exhaustive-9", 18), ("exhaustive-9", 24)])
def test_lines_of_another_census_are_damage(theirs: str, n: int, old: Path) -> None:
    mine = old / f"census-{n}"
    (mine / ENTRIES).write_bytes((old / theirs / ENTRIES).read_bytes())
    with pytest.raises(CorruptJob, match="another census"):
        Census(n, journal=mine).run(resume=True)


def test_a_lost_half_is_damage(old: Path) -> None:
    """A stuck shape that was found from one end only: of the other, an empty task of another census stands there."""
    path = old / "census-24" / ENTRIES
    Census(24, journal=old / "census-24").run(resume=True)
    lines = path.read_bytes().splitlines(keepends=True)
    found = [number for number, line in enumerate(lines) if b'"walks":0' not in line and b'"phase":"stuck"' in line]
    empty = next(line for line in lines if b'"walks":0' in line)
    from storage.files.lines import line_of

    task = lines[found[-1]].split(b'"task":')[1].split(b",")[0]
    other = empty.split(b'"task":')[1].split(b",")[0]
    text = empty.split(b" ", 1)[1].rstrip(b"\n").replace(b'"task":' + other, b'"task":' + task)
    lines[found[-1]] = line_of(text, b"")
    path.write_bytes(b"".join(lines))
    with pytest.raises(CorruptJob, match="another census"):
        Census(24, journal=old / "census-24").run(resume=True)
