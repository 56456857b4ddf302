"""Jobs with an eventful life: any order of settings, bounds, stops and failures gives the same levels."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import Search, Sliding, Snake, levels
from pipeline.executors import Stopped
from pipeline.passes.expand import expand
from pipeline.passes.merge import merge
from pipeline.spaces.contract import StateSpace
from pipeline.verification import verify_levels
from storage.job import Job
from tests.engine.jobs import Summary, leftovers, summary
from tests.engine.test_resuming import Broken, StopAt
from tests.engine.tiny import Sizes, everything_small

SPACES: list[StateSpace] = [Snake(n=8), Sliding(rows=2, cols=3), Sliding(rows=2, cols=2)]

sizes = st.builds(
    Sizes,
    buffer=st.sampled_from([60, 100, 1000]),
    memory=st.sampled_from([0, 30, 200, 10**6]),
    chunk=st.integers(3, 80),
    frame=st.integers(2, 50),
    task=st.integers(4, 60),
    partition=st.integers(5, 200),
    step=st.integers(3, 50),
    window=st.integers(1, 100),
)
episodes = st.fixed_dictionaries(
    {
        "sizes": sizes,
        "scheduler": st.sampled_from(["sync", "threads"]),
        "workers": st.integers(1, 3),
        "max_depth": st.none() | st.integers(0, 12),
        "keep": st.sampled_from(["all", "all", "frontier"]),
        "stop_at": st.integers(1, 60),
        "break_at": st.none() | st.integers(0, 25),
        "break_after": st.booleans(),
    }
)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[Summary]:
    """What uninterrupted searches find."""
    found = []
    for number, space in enumerate(SPACES):
        path = tmp_path_factory.mktemp("whole") / str(number)
        Search(space, job=path, memory=2**30).run()
        found.append(summary(path))
    return found


def live(space: StateSpace, path: Path, episode: dict[str, Any]) -> None:
    """One run, which may be stopped, or fail before or after one of its tasks."""
    tasks = 0

    def breaking(function: Any) -> Any:
        def task(*arguments: Any) -> Any:
            nonlocal tasks
            tasks += 1
            mine = tasks - 1 == episode["break_at"]
            if mine and not episode["break_after"]:
                raise Broken
            result = function(*arguments)
            if mine:
                raise Broken
            return result

        return task

    observer = StopAt(episode["stop_at"])
    options = {name: episode[name] for name in ("scheduler", "workers", "max_depth", "keep")}
    observer.search = Search(space, job=path, observer=observer, **options)
    with everything_small(episode["sizes"]), pytest.MonkeyPatch.context() as patch:
        patch.setattr(levels, "expand", breaking(expand))
        patch.setattr(levels, "merge", breaking(merge))
        try:
            observer.search.run(resume=True)
        except (Stopped, Broken):
            return


@settings(max_examples=25)
@given(st.integers(0, len(SPACES) - 1), st.lists(episodes, min_size=1, max_size=5))
def test_any_life(expected: list[Summary], number: int, life: list[dict[str, Any]]) -> None:
    space = SPACES[number]
    with TemporaryDirectory() as name:
        path = Path(name) / "job"
        for episode in life:
            live(space, path, episode)
            if Job.exists(path):
                # What is committed is right at any time.
                done = summary(path)
                assert done == expected[number][: len(done)]
                list(verify_levels(space, Job.open(path)))
        Search(space, job=path, memory=2**30).run(resume=True)
        assert summary(path) == expected[number]
        assert leftovers(path) == []


@pytest.mark.slow
@settings(max_examples=500)
@given(st.integers(0, len(SPACES) - 1), st.lists(episodes, min_size=1, max_size=8))
def test_many_lives(expected: list[Summary], number: int, life: list[dict[str, Any]]) -> None:
    test_any_life.hypothesis.inner_test(expected, number, life)  # type: ignore[attr-defined]
