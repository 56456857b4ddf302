"""Graphs with edges that lead one way alone."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import Search
from pipeline.audit.damage import Damage, examine
from pipeline.audit.repair import repair
from pipeline.audit.verification import verify_expansion
from pipeline.level import earlier
from pipeline.spaces.contract import Detection
from storage.jobs.job import Job
from tests.engine.jobs import keys_at
from tests.engine.tiny import Sizes, everything_small
from tests.engine.toys import Neighbours, Toy, breadth_first, permutation_graph

SIZES = Sizes(buffer=130, chunk=50, frame=20, task=20, partition=60, step=10)


def directed(neighbours: Neighbours, roots: list[int], most: int) -> Toy:
    space = Toy(neighbours, roots, most, Detection.LEVELS, False)
    space.undirected = False
    return space


def lx(size: int) -> tuple[Neighbours, int]:
    """Rotating all, and exchanging the first two."""
    return permutation_graph(size, [[*range(1, size), 0], [1, 0, *range(2, size)]])


def check(space: Toy, levels: list[set[int]], job: Path, **options: object) -> None:
    with everything_small(SIZES):
        assert Search(space, job=job, **options).run().complete  # type: ignore[arg-type]
        opened = Job.open(job)
        for depth, level in enumerate(levels):
            assert keys_at(opened, depth).tolist() == sorted(level)
        assert len(opened.manifests()) == len(levels) + 1


@settings(max_examples=20)
@given(
    st.sets(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=120),
    st.sets(st.integers(0, 40), min_size=1, max_size=3),
)
def test_any_directed_graph(edges: set[tuple[int, int]], roots: set[int]) -> None:
    table: defaultdict[int, list[int]] = defaultdict(list)
    for one, other in sorted(edges):
        table[one] += [other, other]

    def neighbours(node: int) -> list[int]:
        return table.get(node, [])

    with TemporaryDirectory() as name:
        space = directed(neighbours, sorted(roots), 100)
        check(space, breadth_first(neighbours, roots), Path(name) / "job", scheduler="sync")


@pytest.mark.parametrize("joined", [0, 40, 1 << 20])
def test_levels_in_memory_and_on_disk(joined: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small levels are joined; those that are not are read one by one."""
    monkeypatch.setattr(earlier, "JOINED_KEYS", joined)
    neighbours, root = lx(5)
    check(directed(neighbours, [root], 2), breadth_first(neighbours, [root]), tmp_path / "job", workers=2)


def test_resuming_verifying_and_repairing(tmp_path: Path) -> None:
    neighbours, root = lx(5)
    space = directed(neighbours, [root], 2)
    levels = breadth_first(neighbours, [root])
    for depth in (1, 4, 5):
        Search(space, job=tmp_path / "job", memory=2**31, max_depth=depth).run(resume=depth > 1)
    Search(space, job=tmp_path / "job", memory=2**31).run(resume=True)
    job = Job.open(tmp_path / "job")
    assert [manifest.states for manifest in job.manifests()] == [*map(len, levels), 0]
    verify_expansion(space, job, 7, 2**31)
    chunk = job.path / "levels" / "0006" / "00000" / "c" / "0"
    content = bytearray(chunk.read_bytes())
    content[len(content) // 2] ^= 16
    chunk.write_bytes(content)
    assert any(isinstance(found, Damage) for found in examine(space, job))
    outcomes = list(repair(space, job, 2**31))
    assert outcomes
    assert all(outcome.repaired for outcome in outcomes)
    assert not any(isinstance(found, Damage) for found in examine(space, Job.open(tmp_path / "job")))
