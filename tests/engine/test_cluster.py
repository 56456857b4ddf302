"""The same passes on a dask.distributed cluster of two worker processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed import Client

from pipeline import Search, Sliding, Snake
from pipeline.spaces.contract import StateSpace
from pipeline.spaces.permutations.space import Permutation
from storage.errors import InvalidInput, Stopped
from tests.engine.jobs import leftovers, summary
from tests.engine.test_resuming import StopAt
from tests.engine.tiny import Sizes, everything_small
from tests.faults.servers import two_workers

# The workers count too: they are processes of the tree.
MEMORY = 2**32


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Address of a scheduler on the loopback interface."""
    with two_workers() as found:
        yield found


@pytest.mark.parametrize(
    ("space", "depth"),
    [(Snake(n=9), None), (Sliding(rows=3, cols=3), 14), (Permutation(family="pocket-cube"), 5)],
    ids=["snake", "board", "cube"],
)
def test_same_answer(space: StateSpace, depth: int | None, tmp_path: Path, address: str) -> None:
    Search(space, job=tmp_path / "plain", memory=MEMORY, max_depth=depth).run()
    with everything_small(Sizes(memory=10**6)):
        Search(space, job=tmp_path / "job", scheduler=address, max_depth=depth).run()
    assert summary(tmp_path / "job") == summary(tmp_path / "plain")
    assert leftovers(tmp_path / "job") == []


def test_relative_path(tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The workers' working directory is another one."""
    monkeypatch.chdir(tmp_path)
    assert Search(Snake(n=7), job="jobs/seven", scheduler=address).run().total == 147
    assert leftovers(tmp_path / "jobs" / "seven") == []


def test_stopped_and_resumed_elsewhere(tmp_path: Path, address: str) -> None:
    """Begun on the cluster, gone on with threads, finished on the cluster."""
    Search(Snake(n=9), job=tmp_path / "plain", memory=MEMORY).run()
    with everything_small():
        for scheduler, event in ((address, 12), ("threads", 40), (address, 8)):
            observer = StopAt(event)
            observer.search = Search(Snake(n=9), job=tmp_path / "job", scheduler=scheduler, observer=observer)
            with pytest.raises(Stopped):
                observer.search.run(resume=True)
        Search(Snake(n=9), job=tmp_path / "job", scheduler=address).run(resume=True)
    assert summary(tmp_path / "job") == summary(tmp_path / "plain")
    assert leftovers(tmp_path / "job") == []


@pytest.mark.parametrize("scheduler", ["fast", "", "tcp://127.0.0.1:1"])
def test_a_scheduler_that_is_none(scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("distributed.Client", lambda address, timeout: Client(address, timeout=timeout / 10))
    with pytest.raises(InvalidInput):
        Search(Snake(n=5), job=tmp_path / "job", scheduler=scheduler).run()
    assert list(tmp_path.iterdir()) == []
