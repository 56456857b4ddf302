"""Estimates from short searches against what longer ones take. Time is not tested: it is another on every machine."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.estimate.estimate import Estimate
from pipeline.estimate.estimator import Estimator
from pipeline.estimate.growth import Source
from pipeline.running.memory import Budget
from pipeline.running.settings import Settings
from pipeline.search import Search
from pipeline.spaces.contract import StateSpace
from pipeline.spaces.permutations.space import Permutation
from pipeline.spaces.registry import make_space
from pipeline.spaces.sliding.space import Sliding
from pipeline.spaces.snake.space import Snake
from storage.files.durable import bytes_below
from storage.jobs.job import Job

# Spills of larger levels go to the disk.
SMALL = Budget(1 << 30, 1 << 27, 2, 1 << 20, 1 << 16, 1 << 16)
FACTOR = 1.3
CASES: dict[str, Callable[[], tuple[StateSpace, int | None]]] = {
    "fifteen 18": lambda: (make_space("fifteen", {}), 18),
    "snake 14": lambda: (Snake(n=14), None),
    "snake 16": lambda: (Snake(n=16), None),
    "blank elsewhere": lambda: (Sliding(rows=3, cols=3, blank=4), None),
    "pancakes": lambda: (Permutation(family="pancake", size=9), None),
}


def run(space: StateSpace, path: Path, depth: int | None, **options: object) -> Job:
    Search(space, path, Settings(max_depth=depth, workers=2, **options)).run()  # type: ignore[arg-type]
    return Job.open(path)


def estimate_of(space: StateSpace, depth: int | None, job: Job | None = None, most_keys: int = 1 << 14) -> Estimate:
    """An estimate from a search that ends long before."""
    return Estimator(space, Settings(max_depth=depth, workers=2), job, most_keys, math.inf).run()


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.search.budget_for", lambda *arguments, **options: SMALL)
    monkeypatch.setattr("pipeline.estimate.estimator.divide", lambda *arguments, **options: SMALL)


@pytest.mark.parametrize(
    ("case", "most_keys"),
    [("fifteen 18", 1 << 14), ("snake 14", 1 << 14), ("blank elsewhere", 1 << 14), ("pancakes", 1 << 16)],
)
def test_states_and_disk(case: str, most_keys: int, tmp_path: Path) -> None:
    space, depth = CASES[case]()
    job = run(space, tmp_path / "job", depth)
    estimate = estimate_of(space, depth, most_keys=most_keys)
    made = [manifest for manifest in job.manifests() if manifest.keys]
    assert len(estimate.levels) == pytest.approx(len(made), abs=2)
    assert estimate.states == pytest.approx(sum(manifest.states for manifest in made), rel=0.05)
    for level, manifest in zip(estimate.levels, made, strict=False):
        if level.source is not Source.EXTRAPOLATED:
            assert level.states == manifest.states
    on_disk = bytes_below(job.path)
    assert on_disk / FACTOR < estimate.disk_at_the_end("all") < on_disk * FACTOR
    assert estimate.disk_at_the_peak("all") == estimate.disk_at_the_end("all")
    assert estimate.first_spill_on_disk() is None


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize(("case", "most_keys"), [("fifteen 18", 1 << 16), ("snake 16", 1 << 18)])
def test_spills_on_disk(case: str, most_keys: int, tmp_path: Path) -> None:
    space, depth = CASES[case]()
    job = run(space, tmp_path / "job", depth)
    made = [manifest for manifest in job.manifests() if manifest.keys]
    estimate = estimate_of(space, depth, most_keys=most_keys)
    first = next(manifest.depth for manifest in made if manifest.peak_spill_bytes)
    assert estimate.first_spill_on_disk() == pytest.approx(first, abs=1)
    most = max(manifest.peak_spill_bytes for manifest in made)
    assert most / FACTOR < max(level.spill_bytes for level in estimate.levels) < most * FACTOR
    # What is there while a level is made: its spills and arrays, and the levels before.
    peak = max(
        manifest.peak_spill_bytes + sum(bytes_below(job.level_path(depth)) for depth in range(manifest.depth + 1))
        for manifest in made
    )
    assert peak / FACTOR < estimate.disk_at_the_peak("all") < peak * FACTOR


@pytest.mark.usefixtures("little_memory")
def test_levels_that_are_not_kept(tmp_path: Path) -> None:
    space, depth = CASES["fifteen 18"]()
    job = run(space, tmp_path / "job", depth, keep="frontier")
    estimate = estimate_of(space, depth)
    on_disk = bytes_below(job.path)
    assert on_disk / FACTOR < estimate.disk_at_the_end("frontier") < on_disk * FACTOR
    assert estimate.disk_at_the_peak("frontier") < estimate.disk_at_the_peak("all")


def test_a_job_is_gone_on_with(tmp_path: Path) -> None:
    space, _ = CASES["fifteen 18"]()
    job = run(space, tmp_path / "job", 17)
    before = sorted(tmp_path.rglob("*"))
    estimate = estimate_of(space, 19, job)
    assert sorted(tmp_path.rglob("*")) == before
    assert [level.made for level in estimate.levels] == [True] * 18 + [False] * 2
    assert [level.source for level in estimate.levels[17:19]] == [Source.COUNTED, Source.KNOWN]
    assert estimate.level_seconds(estimate.levels[17], 1) == (0.0, 0.0)
    on_disk = bytes_below(run(space, tmp_path / "longer", 19).path)
    assert on_disk / FACTOR < estimate.disk_at_the_end("all") < on_disk * FACTOR


def test_a_job_that_is_done_needs_nothing(tmp_path: Path) -> None:
    space = Snake(n=8)
    estimate = estimate_of(space, None, run(space, tmp_path / "job", None))
    assert estimate.growth.ends
    assert estimate.states == 388
    assert estimate.time(2).seconds == 0.0
    assert estimate.disk_at_the_end("frontier") < estimate.disk_at_the_end("all")


def test_a_job_that_has_hardly_begun_is_searched_anew(tmp_path: Path) -> None:
    space = Snake(n=8)
    estimate = estimate_of(space, None, run(space, tmp_path / "job", 2))
    assert estimate.states == 388
    assert estimate.growth.ends
    assert not any(level.made for level in estimate.levels)


def test_more_cores_are_faster_until_the_disk_is_the_limit() -> None:
    estimate = estimate_of(*CASES["fifteen 18"]())
    assert estimate.time(1).seconds > estimate.time(2).seconds > estimate.time(8).seconds >= estimate.time(64).seconds
    assert estimate.time(1).bound == "processors"
    assert list(estimate.cores()) == [2, 8, 64]


def test_the_complete_fifteen_puzzle() -> None:
    estimate = estimate_of(make_space("fifteen", {}), None, most_keys=1 << 17)
    assert estimate.states == math.factorial(16) // 2
    assert len(estimate.levels) == 81
    assert not estimate.is_extrapolated
    # Terabytes: 4.3 bits a state were measured at depth 36, and it becomes less with density.
    assert 2 < 8 * estimate.disk_at_the_end("all") / estimate.states < 4.5
    document = estimate.document()
    assert document["states"] == document["states_of_the_graph"]
    assert document["complete"]
    assert [entry["cores"] for entry in document["time"]] == [2, 8, 64]
