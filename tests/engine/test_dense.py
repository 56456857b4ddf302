"""Tables of places: the same levels as by sorting, whoever makes them, and however often it is interrupted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import Search, Sliding
from pipeline.level import dense, maker, passes
from pipeline.level.places import PlaceTables, aligned, table_words
from pipeline.spaces.contract import Detection, Places, StateSpace
from pipeline.spaces.permutations.space import Permutation
from storage.errors import InvalidInput
from storage.jobs.job import Job
from tests.engine.jobs import keys_at, leftovers, summary
from tests.engine.tiny import Sizes, everything_small
from tests.engine.toys import Toy, breadth_first

# A space, and the deepest level that is looked at.
SPACES: dict[str, tuple[Callable[[], StateSpace], int | None]] = {
    "2x4": (lambda: Sliding(rows=2, cols=4), 20),
    "3x3, blank in the middle of an edge": (lambda: Sliding(rows=3, cols=3, blank=1), 15),
    "2x5": (lambda: Sliding(rows=2, cols=5, blank=3), 15),
    "pancakes": (lambda: Permutation(family="pancake", size=7), None),
    "burnt pancakes": (lambda: Permutation(family="burnt-pancake", size=4), None),
}


class Uses:
    """How many tasks of each kind were run."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.marked = self.collected = self.expanded = 0

        def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
            def run(*arguments: Any) -> Any:
                setattr(self, name, getattr(self, name) + 1)
                return function(*arguments)

            return run

        patch.setattr(passes, "mark", counted("marked", passes.mark))
        patch.setattr(passes, "collect", counted("collected", passes.collect))
        patch.setattr(passes, "expand", counted("expanded", passes.expand))


def choose(patch: pytest.MonkeyPatch, tables: bool) -> None:
    """Use tables wherever there can be some, or nowhere."""
    patch.setattr(maker, "WORDS_WORTH_A_KEY", 10**12 if tables else 0)


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize("workers", [1, 3])
def test_same_levels(name: str, workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make, depth = SPACES[name]
    choose(monkeypatch, tables=False)
    Search(make(), job=tmp_path / "sorted", memory=2**31, max_depth=depth).run()
    choose(monkeypatch, tables=True)
    uses = Uses(monkeypatch)
    # Small buffers that the keys of a table go through, and many partitions and tasks.
    monkeypatch.setattr(dense, "TAKEN_KEYS", 300)
    monkeypatch.setattr(dense, "TAKEN_WORDS", 7)
    with everything_small(Sizes(memory=2**24)):
        Search(make(), job=tmp_path / "dense", max_depth=depth, workers=workers).run()
    assert uses.marked > 10
    assert uses.collected > 10
    assert not uses.expanded
    assert summary(tmp_path / "dense") == summary(tmp_path / "sorted")
    assert leftovers(tmp_path / "dense") == []
    jobs = [Job.open(tmp_path / kind) for kind in ("dense", "sorted")]
    for level in range(len(jobs[0].depths())):
        assert keys_at(jobs[0], level).tolist() == keys_at(jobs[1], level).tolist()
    assert max(len(manifest.partitions) for manifest in jobs[0].manifests()) > 1


def test_the_planner_takes_tables_for_dense_levels_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uses = Uses(monkeypatch)
    Search(Sliding(rows=2, cols=4), job=tmp_path / "job", memory=2**31, workers=2).run()
    assert uses.expanded > 10
    assert uses.marked > 10
    assert sum(level[1] for level in summary(tmp_path / "job")) == 20160


@pytest.mark.parametrize("reason", ["memory", "cluster", "no places"])
def test_tables_that_cannot_be(reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    choose(monkeypatch, tables=True)
    uses = Uses(monkeypatch)
    space = Sliding(rows=3, cols=3)
    words = table_words(space.places, 4) if space.places else None
    assert words is not None
    if reason == "no places":
        space.places = None
    if reason == "cluster":
        monkeypatch.setattr("pipeline.running.executors.ThreadExecutor.shares_memory", False)
    with everything_small(Sizes(memory=2 * words - 1 if reason == "memory" else 2**24)):
        Search(space, job=tmp_path / "job", max_depth=8, workers=2).run()
    assert uses.expanded
    assert not uses.marked


class Interrupted(Exception):
    """Ends a search in the middle of a pass."""


@pytest.mark.parametrize("name", ["mark", "collect"])
@pytest.mark.parametrize("tables_next", [True, False])
def test_interrupted(name: str, tables_next: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A level that was begun with tables is finished with them, or with spills; what is done stays."""
    choose(monkeypatch, tables=True)
    with everything_small(Sizes(memory=2**24)):
        Search(Sliding(rows=3, cols=3), job=tmp_path / "whole", max_depth=15).run()
        Search(Sliding(rows=3, cols=3), job=tmp_path / "job", max_depth=12).run()
        plain = getattr(passes, name)
        runs = 0

        def break_off(*arguments: Any) -> Any:
            nonlocal runs
            runs += 1
            if runs == 3:
                raise Interrupted
            return plain(*arguments)

        search = Search(Sliding(rows=3, cols=3), job=tmp_path / "job", max_depth=15, scheduler="sync")
        with monkeypatch.context() as patch:
            patch.setattr(passes, name, break_off)
            with pytest.raises(Interrupted):
                search.run(resume=True)
        choose(monkeypatch, tables_next)
        uses = Uses(monkeypatch)
        search.run(resume=True)
        assert bool(uses.marked) == tables_next
    assert summary(tmp_path / "job") == summary(tmp_path / "whole")


def test_spills_of_an_interrupted_level_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A level that was begun with spills on the disk is not begun again with tables."""
    with everything_small(Sizes()):
        Search(Sliding(rows=3, cols=3), job=tmp_path / "whole", max_depth=13).run()
        Search(Sliding(rows=3, cols=3), job=tmp_path / "job", max_depth=12).run()
        with monkeypatch.context() as patch:

            def broken(*_: Any) -> Any:
                raise Interrupted

            patch.setattr(passes, "merge", broken)
            with pytest.raises(Interrupted):
                Search(Sliding(rows=3, cols=3), job=tmp_path / "job", max_depth=13).run(resume=True)
    choose(monkeypatch, tables=True)
    uses = Uses(monkeypatch)
    with everything_small(Sizes(memory=2**24)):
        Search(Sliding(rows=3, cols=3), job=tmp_path / "job", max_depth=13).run(resume=True)
    assert not uses.marked
    assert summary(tmp_path / "job") == summary(tmp_path / "whole")


class Wrong(Toy):
    """Has more keys than it says."""

    places = Places(30)


@pytest.mark.parametrize("tables", [True, False])
def test_all_neighbours_and_earlier_levels(tables: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph that is not bipartite: two levels are removed."""
    choose(monkeypatch, tables)

    def neighbours(node: int) -> list[int]:
        return [(node + step) % 500 for step in (1, 499, 20, 480, 7, 493)]

    space = Toy(neighbours, [3], 6, Detection.LEVELS, bipartite=False)
    space.places = Places(500)
    with everything_small(Sizes(memory=2**20)):
        Search(space, job=tmp_path / "job", scheduler="sync").run()
    job = Job.open(tmp_path / "job")
    wanted = breadth_first(neighbours, [3])
    assert [set(keys_at(job, depth).tolist()) for depth in range(len(wanted))] == wanted


def test_a_key_without_a_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    choose(monkeypatch, tables=True)
    space = Wrong(lambda node: [node + 1, node - 1] if node else [1], [0], 2, Detection.LEVELS, bipartite=True)
    with everything_small(Sizes(memory=2**20)), pytest.raises(InvalidInput, match="0x1e, which is not among"):
        Search(space, job=tmp_path / "job", scheduler="sync").run()
    assert len(Job.open(tmp_path / "job").depths()) == 30


@pytest.mark.parametrize("key", [0x70, 1000 << 9 | 1, 5 << 9 | 1 << 8 | 1])
def test_keys_that_have_no_place(key: int) -> None:
    """Without a move mask, beyond the last place, and with a bit that is never set."""
    tables = PlaceTables(Places(1000 << 4, 9, 4), 4, 1)
    with pytest.raises(InvalidInput, match=f"{key:#x}, which is not among those"):
        tables.mark(0, np.array([0x71, key, 0x72], dtype=np.uint64))


LAYOUTS = [(Places(1000), 0), (Places(1000, 4, 0), 4), (Places(1000, 9, 4), 4), (Places(1000, 3, 2), 1)]


@given(st.sampled_from(LAYOUTS), st.lists(st.tuples(st.integers(0, 999), st.integers(1, 15), st.integers(0, 1))))
def test_tables(layout: tuple[Places, int], found: list[tuple[int, int, int]]) -> None:
    """Marked in any table and order, taken in order with their masks joined, and gone then."""
    places, mask_bits = layout
    tables = PlaceTables(places, mask_bits, 2)
    expected: dict[int, int] = {}
    for place, moves, table in found:
        moves = moves & ((1 << mask_bits) - 1) or (1 if mask_bits else 0)
        key = places.key_at(place, mask_bits)
        assert places.place_of(key, mask_bits) == place
        tables.mark(table, np.array([key | moves], dtype=np.uint64))
        expected[key] = expected.get(key, 0) | moves
    assert tables.count(0, tables.words) == len(expected)
    removed = sorted(expected)[::3]
    tables.clear(np.array(removed, dtype=np.uint64))
    out = np.empty(70, dtype=np.uint64)
    taken: list[int] = []
    word = 0
    while word < tables.words:
        word, written = tables.take(word, tables.words, out)
        taken.extend(out[:written].tolist())
    assert taken == [key | expected[key] for key in sorted(expected) if key not in removed]
    assert tables.count(0, tables.words) == 0


@given(st.sampled_from(LAYOUTS), st.integers(0, 999))
def test_alignment(layout: tuple[Places, int], place: int) -> None:
    """Partitions begin at words, and no key of the words below is in them."""
    places, mask_bits = layout
    tables = PlaceTables(places, mask_bits, 1)
    key = places.key_at(place, mask_bits)
    start = aligned(key, places, mask_bits)
    assert start <= key
    assert aligned(start, places, mask_bits) == start
    word = tables.word_of(start)
    assert tables.keys_of(word, tables.words)[0] == start
    if word:
        assert tables.keys_of(0, word)[1] < start
