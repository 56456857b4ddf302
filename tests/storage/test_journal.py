"""Journals: what is whole counts, what is damaged does not, and only one process writes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.errors import CorruptJob, JobError, JobLocked
from storage.files.lines import line_of, tag_of
from storage.files.sealed import read_document, write_document
from storage.journal import DESCRIPTION, ENTRIES, Journal

WHAT = {"census": "pruned", "n": 12}


def filled(path: Path, count: int = 5) -> list[dict[str, int]]:
    """Make a journal with some entries."""
    entries = [{"task": number, "result": number * number} for number in range(count)]
    journal = Journal.create(path, WHAT, {})
    with journal.lock(), journal.writer() as writer:
        for entry in entries:
            writer.add(entry)
    return entries


def test_what_is_added_is_read(tmp_path: Path) -> None:
    entries = filled(tmp_path / "journal")
    journal = Journal.open(tmp_path / "journal")
    assert journal.description == WHAT
    assert journal.entries() == entries


def test_a_line_that_was_cut_off_counts_as_not_written(tmp_path: Path) -> None:
    entries = filled(tmp_path / "journal")
    path = tmp_path / "journal" / ENTRIES
    whole = path.read_bytes()
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    for end in range(last, len(whole)):
        path.write_bytes(whole[:end])
        assert Journal.open(tmp_path / "journal").entries() == entries[:-1]
    journal = Journal.open(tmp_path / "journal")
    with journal.lock(), journal.writer() as writer:
        writer.add(entries[-1])
    assert path.read_bytes() == whole


@given(place=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_a_flipped_bit_never_changes_an_entry(place: int, bit: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("flipped") / "journal"
    entries = filled(path, 3)
    data = bytearray((path / ENTRIES).read_bytes())
    data[place % len(data)] ^= 1 << bit
    (path / ENTRIES).write_bytes(bytes(data))
    left = Journal.open(path).entries()
    # A line break that vanishes takes the line behind it along.
    assert 1 <= len(left) < 3 or left == entries
    assert all(entry in entries for entry in left)


@given(place=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_a_flipped_bit_in_the_description_is_noticed(
    place: int, bit: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("flipped") / "journal"
    filled(path, 0)
    data = bytearray((path / DESCRIPTION).read_bytes())
    data[place % len(data)] ^= 1 << bit
    (path / DESCRIPTION).write_bytes(bytes(data))
    try:
        description = Journal.open(path).description
    except (CorruptJob, JobError):
        return
    assert description == WHAT


def test_a_newer_version_is_refused(tmp_path: Path) -> None:
    filled(tmp_path / "journal")
    path = tmp_path / "journal" / DESCRIPTION
    document = read_document(path, sealed=True)
    document["attributes"]["journal_version"] = 99
    write_document(path, document)
    with pytest.raises(JobError, match="version 99"):
        Journal.open(tmp_path / "journal")


def test_one_process_writes(tmp_path: Path) -> None:
    filled(tmp_path / "journal")
    first, second = Journal.open(tmp_path / "journal"), Journal.open(tmp_path / "journal")
    with first.lock(), pytest.raises(JobLocked), second.lock():
        pass


def test_other_things_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    with pytest.raises(JobError, match="exists"):
        Journal.create(tmp_path / "mine", WHAT, {})
    with pytest.raises(JobError, match="left alone"):
        Journal.remove(tmp_path / "mine")
    with pytest.raises(JobError, match="no census"):
        Journal.open(tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.tex").read_text() == "x"


def test_removing(tmp_path: Path) -> None:
    filled(tmp_path / "journal")
    Journal.remove(tmp_path / "journal")
    assert list(tmp_path.iterdir()) == []
    Journal.remove(tmp_path / "journal")


def test_lost_entries_are_no_error(tmp_path: Path) -> None:
    filled(tmp_path / "journal")
    (tmp_path / "journal" / ENTRIES).unlink()
    journal = Journal.open(tmp_path / "journal")
    assert journal.entries() == []
    with journal.lock(), journal.writer() as writer:
        writer.add({"task": 0})
    assert json.loads((tmp_path / "journal" / ENTRIES).read_text().split(" ", 2)[2]) == {"task": 0}


def another(kind: str, path: Path, outside: Path) -> None:
    """Put something else in the place of a file."""
    path.unlink()
    if kind == "link":
        path.symlink_to(outside)
    elif kind == "link to nothing":
        path.symlink_to(outside.with_name("nothing"))
    elif kind == "directory":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        with open(path, "wb") as file:
            file.truncate(1 << 40)


@pytest.mark.parametrize("name", [DESCRIPTION, ENTRIES])
@pytest.mark.parametrize("kind", ["link", "link to nothing", "directory", "pipe", "hole"])
def test_ordinary_files_only(kind: str, name: str, tmp_path: Path) -> None:
    """Nothing is read or written through a link, and no more than a journal can have."""
    filled(tmp_path / "journal")
    outside = tmp_path / "outside"
    outside.write_bytes((tmp_path / "journal" / name).read_bytes())
    before = outside.read_bytes()
    another(kind, tmp_path / "journal" / name, outside)
    with pytest.raises(CorruptJob, match=name):
        Journal.open(tmp_path / "journal").entries()
    if name == ENTRIES:
        journal = Journal.open(tmp_path / "journal")
        with journal.lock(), pytest.raises(CorruptJob, match=name), journal.writer():
            pass
    assert outside.read_bytes() == before
    assert not outside.with_name("nothing").exists()


def test_lines_that_are_too_long_count_as_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = filled(tmp_path / "journal")
    path = tmp_path / "journal" / ENTRIES
    path.write_bytes(b"x" * 1000 + b"\n" + path.read_bytes())
    monkeypatch.setattr("storage.files.lines.MOST_LINE_BYTES", 300)
    journal = Journal.open(tmp_path / "journal")
    assert journal.entries() == entries
    with journal.lock(), journal.writer():
        pass
    assert path.read_bytes().count(b"\n") == len(entries)


@pytest.mark.parametrize("change", [{"journal_version": "1"}, {"journal_version": 0}, {"description": [["n", 1]]}])
def test_a_description_of_another_kind(change: dict[str, Any], tmp_path: Path) -> None:
    """Its checksum is right, and it is damaged all the same."""
    filled(tmp_path / "journal")
    path = tmp_path / "journal" / DESCRIPTION
    document = read_document(path, sealed=True)
    document["attributes"].update(change)
    write_document(path, document)
    with pytest.raises(CorruptJob):
        Journal.open(tmp_path / "journal")


def test_a_journal_behind_a_link_is_not_deleted(tmp_path: Path) -> None:
    filled(tmp_path / "journal")
    (tmp_path / "link").symlink_to(tmp_path / "journal")
    with pytest.raises(JobError, match="left alone"):
        Journal.remove(tmp_path / "link")
    assert (tmp_path / "journal" / DESCRIPTION).exists()


OTHERS = [{**WHAT, "n": 13}, {**WHAT, "census": "exhaustive"}, {**WHAT, "collision": "static"}, {}]


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("lines", ["all", "the last"])
def test_lines_of_another_journal_are_damage(other: dict[str, Any], lines: str, tmp_path: Path) -> None:
    entries = filled(tmp_path / "journal")
    journal = Journal.create(tmp_path / "other", other, {})
    with journal.lock(), journal.writer() as writer:
        for entry in entries:
            writer.add(entry)
    path = tmp_path / "journal" / ENTRIES
    theirs = (tmp_path / "other" / ENTRIES).read_bytes()
    path.write_bytes(theirs if lines == "all" else path.read_bytes() + theirs.splitlines(keepends=True)[-1])
    before = path.read_bytes()
    journal = Journal.open(tmp_path / "journal")
    with pytest.raises(CorruptJob, match="another census"):
        journal.entries()
    with journal.lock(), pytest.raises(CorruptJob, match="another census"), journal.writer():
        pass
    assert path.read_bytes() == before


def test_lines_without_a_tag(tmp_path: Path) -> None:
    """Those of version 1: damage in a journal of today, right in one of their own, which keeps to them."""
    entries = filled(tmp_path / "journal")
    path = tmp_path / "journal" / ENTRIES
    path.write_bytes(b"".join(line_of(json.dumps(entry).encode(), b"") for entry in entries))
    with pytest.raises(CorruptJob, match="another census"):
        Journal.open(tmp_path / "journal").entries()
    document = read_document(tmp_path / "journal" / DESCRIPTION, sealed=True)
    document["attributes"]["journal_version"] = 1
    write_document(tmp_path / "journal" / DESCRIPTION, document)
    journal = Journal.open(tmp_path / "journal")
    assert journal.entries() == entries
    with journal.lock(), journal.writer() as writer:
        writer.add({"task": 99})
    assert journal.entries() == [*entries, {"task": 99}]
    assert path.read_text().splitlines()[-1].endswith(' {"task":99}')
    tagged = line_of(b"{}", tag_of(WHAT))
    path.write_bytes(path.read_bytes() + tagged)
    with pytest.raises(CorruptJob, match="another census"):
        journal.entries()


def test_the_order_of_a_description_does_not_matter() -> None:
    assert tag_of({"n": 12, "census": "pruned"}) == tag_of(WHAT)
