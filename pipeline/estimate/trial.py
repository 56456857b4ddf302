"""A short search, whose levels say what a key of this state space takes on this machine."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pipeline.bench.steps import Steps, keys_of, largest_level, time_steps
from pipeline.running.events import Observer
from pipeline.running.memory import available_workers
from pipeline.running.settings import Settings
from pipeline.search import Search
from pipeline.spaces.contract import StateSpace
from storage.errors import Stopped
from storage.jobs.job import Job
from storage.records import Manifest

MOST_KEYS = 3 << 21
# Of processor time, which does not depend on what else the machine does.
MOST_SECONDS = 4.0
# Levels of so many keys say how much longer a level takes than its steps.
TELLING_KEYS = 1 << 16
# Of a level that takes no time: what committing it costs.
SMALL_LEVEL = 1 << 10
# Of the processors' time that workers do not wait for each other. Two workers are 1.82 times as fast as one.
EFFICIENCY = 0.91
# What a level costs where no small one was made.
LEVEL_SECONDS = 0.02


@dataclass(frozen=True)
class Measured:
    """Levels that were made, and what they took.

    Attributes
    ----------
    manifests : tuple of Manifest
        From depth 0 on, those without states left out.
    complete : bool
        Whether these are all levels of the graph.
    work : dict of int to float
        Seconds of one processor that each level took, by depth.
    level_seconds : float
        What a level costs however small it is.
    steps : Steps
        Of the deepest level that was timed.
    share : float
        Part of the processors' time that the search got, from 0 to 1: little on a machine that does other things too.
    origin : str
        What the figures are from, for people.
    """

    manifests: tuple[Manifest, ...]
    complete: bool
    work: dict[int, float]
    level_seconds: float
    steps: Steps
    share: float
    origin: str


class _Watch(Observer):
    """Notes when levels are committed, and says when to stop."""

    def __init__(self, most_keys: int, most_seconds: float) -> None:
        self.stop: Callable[[], None] = lambda: None
        self.times: dict[int, tuple[float, float]] = {}
        self._most_keys = most_keys
        self._most_seconds = most_seconds
        self._keys = 0

    def level_committed(self, manifest: Manifest) -> None:
        self.times[manifest.depth] = (time.monotonic(), time.process_time())
        factor = max(1.0, manifest.keys / self._keys) if self._keys else 1.0
        self._keys = manifest.keys
        processor = [seconds for _, seconds in self.times.values()]
        # The next level grows by about the same factor, and takes as much longer.
        used = processor[-1] - processor[0]
        expected = (processor[-1] - processor[-2]) * factor if len(processor) > 1 else 0.0
        if manifest.keys * factor > self._most_keys or used + expected > self._most_seconds:
            self.stop()


class Trial:
    """A short search.

    Parameters
    ----------
    space : StateSpace
    settings : Settings
        Memory and workers.
    most_keys : int
        Of a level; the search ends before one that is expected to have more.
    most_seconds : float
        Processor time; the search ends before a level that is expected to take more.
    """

    def __init__(
        self, space: StateSpace, settings: Settings, most_keys: int = MOST_KEYS, most_seconds: float = MOST_SECONDS
    ) -> None:
        self._space = space
        self._settings = settings
        self._watch = _Watch(most_keys, most_seconds)
        self._search: Search | None = None
        self._stopped = False

    def stop(self) -> None:
        """End the search, which then raises; may be called from a signal handler."""
        self._stopped = True
        if self._search is not None:
            self._search.stop()

    def run(self, directory: Path) -> Measured:
        """Search within a directory.

        Raises
        ------
        Stopped
            After :meth:`stop`.
        OutOfBudget
            If the memory is too little for the search.
        """
        if self._stopped:
            raise Stopped
        self._search = Search(self._space, directory / "trial", self._settings, self._watch)
        self._watch.stop = self._search.stop
        complete = False
        try:
            complete = self._search.run().complete
        except Stopped:
            if self._stopped:
                raise
        job = Job.open(directory / "trial")
        manifests = tuple(manifest for manifest in job.manifests() if manifest.keys)
        steps = time_steps(self._space, keys_of(largest_level(job)), repetitions=3)
        depth = manifests[-1].depth
        origin = f"a search to depth {depth} ({sum(manifest.states for manifest in manifests)} states)"
        work = self._work(manifests)
        share = self._share(manifests, work)
        return Measured(manifests, complete, work, self._level_seconds(manifests), steps, share, origin)

    def _share(self, manifests: tuple[Manifest, ...], work: dict[int, float]) -> float:
        """Of what the workers could have had while the largest level was made."""
        largest = max(manifests, key=lambda manifest: manifest.keys)
        if largest.keys < TELLING_KEYS:
            return 1.0
        depth = largest.depth
        times = self._watch.times
        workers = min(self._settings.workers or available_workers(), available_workers())
        return min(1.0, work[depth] / ((times[depth][0] - times[depth - 1][0]) * workers))

    def _work(self, manifests: tuple[Manifest, ...]) -> dict[int, float]:
        processor = {depth: seconds for depth, (_, seconds) in self._watch.times.items()}
        return {manifest.depth: processor[manifest.depth] - processor[manifest.depth - 1] for manifest in manifests[1:]}

    def _level_seconds(self, manifests: tuple[Manifest, ...]) -> float:
        times = self._watch.times
        small = [manifest.depth for manifest in manifests[1:] if manifest.keys <= SMALL_LEVEL]
        waits = [times[depth][0] - times[depth - 1][0] for depth in small]
        # What else the machine does makes some of them longer.
        return sorted(waits)[len(waits) // 4] if waits else LEVEL_SECONDS


def measured_of(space: StateSpace, job: Job, steps: Steps, workers: int | None = None) -> Measured:
    """What the levels of a job took, as its manifests say.

    Parameters
    ----------
    space : StateSpace
    job : Job
    steps : Steps
        Timed on this machine.
    workers : int, optional
        Tasks at a time, as the job was run; one for each processor unless given.
    """
    manifests = job.manifests()
    levels = tuple(manifest for manifest in manifests if manifest.keys)
    workers = workers if workers is not None else available_workers()
    small = [manifest.seconds for manifest in levels[1:] if manifest.keys <= SMALL_LEVEL]
    level_seconds = statistics.median(small) if small else LEVEL_SECONDS
    work = {
        manifest.depth: max(0.0, manifest.seconds - level_seconds) * workers * EFFICIENCY for manifest in levels[1:]
    }
    origin = f"the levels of {job.path} to depth {levels[-1].depth}" if levels else str(job.path)
    return Measured(levels, len(levels) < len(manifests), work, level_seconds, steps, 1.0, origin)
