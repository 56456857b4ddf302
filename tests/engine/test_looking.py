"""Looking into levels whose content is known from the slow references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from pipeline import Search, Sliding, Snake
from pipeline.inspection import depth_of, first_keys, level_with_arrays, lines_of, sampled_keys, space_of
from pipeline.spaces.contract import Keys
from storage.errors import CorruptJob, InvalidInput, JobError
from storage.jobs.job import Job
from tests.engine.tiny import everything_small
from tests.spaces import slow_sliding, slow_snake


@pytest.fixture(scope="module")
def snake(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A finished job with several partitions a level."""
    path = tmp_path_factory.mktemp("looking") / "snake"
    with everything_small():
        Search(Snake(n=9), job=path, scheduler="sync").run()
    assert len(Job.open(path).level(5).manifest.partitions) > 1
    return Job.open(path)


def keys_in(blocks: Iterable[Keys]) -> list[int]:
    """All keys of some blocks."""
    return [key for block in blocks for key in block.tolist()]


def test_all_states_of_a_level(snake: Job) -> None:
    space = Snake(n=9)
    for depth, expected in enumerate(slow_snake.levels(9)):
        level = level_with_arrays(snake, depth)
        for blocks in (first_keys(level, 10**6), sampled_keys(level, 10**6)):
            lines = b"".join(lines_of(space, level, blocks)).decode().splitlines()
            assert len(lines) == len(expected)
            assert {slow_snake.canonical(line) for line in lines} == expected


@pytest.mark.parametrize("count", [0, 1, 7, 64, 65, 200])
def test_some_states_of_a_level(snake: Job, count: int) -> None:
    """The first ones are those with the smallest keys; a sample has no repetitions and ascends."""
    space = Snake(n=9)
    level = level_with_arrays(snake, 5)
    keys = sorted(space.key_of(space.parse(shape)) for shape in slow_snake.levels(9)[5])
    assert keys_in(first_keys(level, count)) == keys[:count]
    sample = keys_in(sampled_keys(level, count, seed=4))
    assert len(sample) == count
    assert sample == sorted(set(sample))
    assert set(sample) <= set(keys)
    assert sample == keys_in(sampled_keys(level, count, seed=4))
    assert sample != keys_in(sampled_keys(level, count, seed=5)) or count in (0, len(keys))


@pytest.mark.parametrize("count", [3, 10])
def test_every_state_is_chosen_as_often_as_any_other(count: int, tmp_path: Path) -> None:
    """Of 12 states each is expected in 150 or 500 of 600 samples (with fixed seeds), give or take 11."""
    Search(Snake(n=6), job=tmp_path / "job", memory=2**31, max_depth=2).run()
    level = level_with_arrays(Job.open(tmp_path / "job"), 2)
    assert level.manifest.keys == 12
    times = Counter(key for seed in range(600) for key in keys_in(sampled_keys(level, count, seed)))
    assert len(times) == 12
    assert all(abs(number - 50 * count) < 45 for number in times.values())


def test_a_key_of_no_state(snake: Job) -> None:
    level = level_with_arrays(snake, 5)
    with pytest.raises(CorruptJob, match=r"level 5 .*is the key of no snake"):
        list(lines_of(Snake(n=9), level, [np.array([2**60], dtype=np.uint64)]))


def test_depth_of_every_shape(snake: Job) -> None:
    space = Snake(n=9)
    for depth, level in enumerate(slow_snake.levels(9)):
        for shape in sorted(level)[:40]:
            image = slow_snake.symmetric_images(shape)[depth % 4]
            assert depth_of(space, snake, space.parse(image)) == depth


def test_depth_of_positions(tmp_path: Path) -> None:
    for blank in (3, 5, 1):
        space = Sliding(rows=2, cols=3, blank=blank)
        Search(space, job=tmp_path / f"{blank}", memory=2**31).run()
        job = Job.open(tmp_path / f"{blank}")
        for depth, level in enumerate(slow_sliding.levels(2, 3, blank)):
            for board in sorted(level)[:5]:
                assert depth_of(space, job, np.array(board, dtype=np.uint8)) == depth


def test_depth_of_transposed_positions(tmp_path: Path) -> None:
    space = Sliding(rows=3, cols=3)
    Search(space, job=tmp_path / "job", memory=2**31, max_depth=9).run()
    job = Job.open(tmp_path / "job")
    for depth, level in enumerate(slow_sliding.levels(3, 3, 8, 10)):
        for board in sorted(level)[:10]:
            found = depth_of(space, job, np.array(board, dtype=np.uint8))
            assert found == (depth if depth <= 9 else None)


def test_states_that_are_not_there(snake: Job, tmp_path: Path) -> None:
    space = Snake(n=9)
    with pytest.raises(InvalidInput):
        depth_of(space, snake, space.parse("111"))
    with pytest.raises(InvalidInput, match="has the depths 0 to 8"):
        level_with_arrays(snake, 9)
    with pytest.raises(InvalidInput):
        level_with_arrays(snake, -1)
    Search(space, job=tmp_path / "job", memory=2**31, keep="frontier").run()
    job = Job.open(tmp_path / "job")
    with pytest.raises(JobError, match=r"depth 3 .* deleted by --keep frontier"):
        level_with_arrays(job, 3)
    assert depth_of(space, job, space.parse("1" * 8)) is None


def test_space_of_a_job(snake: Job, tmp_path: Path) -> None:
    assert space_of(snake).parameters == Snake(n=9).parameters
    Search(Sliding(rows=2, cols=3, blank=2), job=tmp_path / "job", memory=2**31, max_depth=2).run()
    job = Job.open(tmp_path / "job")
    assert space_of(job).parameters == Sliding(rows=2, cols=3, blank=2).parameters
    job.attributes["space"]["key_version"] = 99
    with pytest.raises(JobError, match="keys of version 99"):
        space_of(job)
