"""Jobs to look into and to damage."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pipeline import Search, Sliding, Snake
from storage.jobs.job import Job
from tests.engine.tiny import everything_small


@pytest.fixture(scope="session")
def snake_job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished job with several partitions and chunks in a level. Not to be changed."""
    path = tmp_path_factory.mktemp("jobs") / "snake"
    with everything_small():
        Search(Snake(n=10), job=path, scheduler="sync").run()
    partitions = Job.open(path).level(5).manifest.partitions
    assert len(partitions) > 1
    assert any(len(list((path / "levels" / "0005" / entry.name / "c").iterdir())) > 1 for entry in partitions)
    return path


@pytest.fixture(scope="session")
def sliding_job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A job that is done to depth 12. Not to be changed."""
    path = tmp_path_factory.mktemp("jobs") / "sliding"
    with everything_small():
        Search(Sliding(rows=3, cols=3), job=path, scheduler="sync", max_depth=12).run()
    return path


@pytest.fixture
def job_copy(snake_job: Path, tmp_path: Path) -> Path:
    """A finished job to do anything with."""
    return Path(shutil.copytree(snake_job, tmp_path / "job"))
