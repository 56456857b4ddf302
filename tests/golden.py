"""Golden jobs: small job directories of every format there was, which must open for ever.

``python -m tests.golden`` makes those of the present format, under ``tests/data/golden/format-<version>``. Run it, and
commit what it makes, when ``FORMAT_VERSION`` or the key version of a puzzle goes up. What is there already is never
made again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.running.events import Observer, PassProgress
from pipeline.search import Search
from pipeline.spaces.contract import StateSpace
from pipeline.spaces.registry import make_space
from storage.errors import Stopped
from storage.jobs.formats import FORMAT_VERSION
from tests.engine.tiny import Sizes, everything_small

DIRECTORY = Path(__file__).parent / "data" / "golden"
SIZES = Sizes(buffer=200, task=40, partition=60)


@dataclass(frozen=True)
class GoldenJob:
    """A job to make.

    Attributes
    ----------
    name, puzzle : str
    parameters : dict
    stop : (int, str), optional
        Depth and pass in the middle of which the search is stopped; to the end unless given.
    keep : {"all", "frontier"}
    """

    name: str
    puzzle: str
    parameters: dict[str, Any]
    stop: tuple[int, str] | None = None
    keep: str = "all"

    @property
    def space(self) -> StateSpace:
        """Its state space."""
        return make_space(self.puzzle, self.parameters)


JOBS = (
    GoldenJob("snake-complete", "snake", {"n": 7}),
    GoldenJob("snake-expanding", "snake", {"n": 8}, stop=(4, "expand")),
    GoldenJob("snake-merging", "snake", {"n": 8}, stop=(5, "merge")),
    GoldenJob("sliding-frontier", "sliding", {"rows": 2, "cols": 3}, keep="frontier"),
    GoldenJob("sliding-merging", "sliding", {"rows": 3, "cols": 3}, stop=(11, "merge")),
    GoldenJob("permutations-merging", "permutations", {"size": 6}, stop=(4, "merge")),
    GoldenJob("words-complete", "permutations", {"family": "top-spin", "size": 8, "start": "00112222"}),
)


class _StopInside(Observer):
    """Stops a search in the middle of a pass."""

    def __init__(self, depth: int, name: str) -> None:
        self._place = depth, name
        self.search: Search | None = None

    def progressed(self, progress: PassProgress) -> None:
        if (progress.depth, progress.name) == self._place and 2 * progress.counters.keys >= progress.total:
            assert self.search is not None
            self.search.stop()


def path_of(job: GoldenJob) -> Path:
    """Where a job of the present format and key version is."""
    return DIRECTORY / f"format-{FORMAT_VERSION}" / f"{job.name}-keys-{job.space.layout.version}"


def make(job: GoldenJob, path: Path) -> None:
    """Make a job."""
    observer = _StopInside(*job.stop) if job.stop is not None else Observer()
    search = Search(job.space, path, observer=observer, scheduler="sync", keep=job.keep)
    if isinstance(observer, _StopInside):
        observer.search = search
    with everything_small(SIZES):
        try:
            search.run(command=f"python -m tests.golden # {job.name}")
            assert job.stop is None, f"{job.name} came to its end"
        except Stopped:
            assert job.stop is not None


def golden_jobs() -> Iterator[Path]:
    """All that are there, of all formats."""
    yield from sorted(path.parent for path in DIRECTORY.glob("format-*/*/zarr.json"))


def main() -> None:
    """Make what is missing."""
    for job in JOBS:
        path = path_of(job)
        if not path.exists():
            make(job, path)
            print(path.relative_to(DIRECTORY))


if __name__ == "__main__":
    main()
