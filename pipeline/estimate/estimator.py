"""Measuring what an estimate starts from, in a temporary directory."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from pipeline.bench.disk import time_disk
from pipeline.bench.processes import Processes
from pipeline.bench.steps import keys_of, largest_level, time_steps
from pipeline.estimate.estimate import Estimate, Startup
from pipeline.estimate.trial import MOST_KEYS, MOST_SECONDS, TELLING_KEYS, Measured, Trial, measured_of
from pipeline.level.earlier import levels_read
from pipeline.level.kernels import load_kernels
from pipeline.running.memory import available_memory, available_workers, divide, resident_bytes
from pipeline.running.settings import Settings
from pipeline.spaces.contract import StateSpace
from storage.jobs.job import Job

DISK_BLOCKS = 32
# A start that takes longer has compiled kernels, which happens once.
COMPILING_SECONDS = 3.0


class Estimator:
    """Makes an estimate.

    Parameters
    ----------
    space : StateSpace
    settings : Settings
        Of the search: memory, workers and last depth.
    job : Job, optional
        Start from its levels, if it has come far enough. Otherwise a short search is made.
    most_keys, most_seconds : int, float
        Bounds of that search.
    """

    def __init__(
        self,
        space: StateSpace,
        settings: Settings,
        job: Job | None = None,
        most_keys: int = MOST_KEYS,
        most_seconds: float = MOST_SECONDS,
    ) -> None:
        self._space = space
        self._settings = settings
        self._job = job
        # An estimate may be for a machine with more memory than this one has.
        memory = settings.memory if settings.memory is None else min(settings.memory, available_memory())
        trial_settings = Settings(memory=memory, workers=settings.workers, max_depth=settings.max_depth)
        self._trial = Trial(space, trial_settings, most_keys, most_seconds)
        self._processes = Processes()

    def stop(self) -> None:
        """End what is being measured; may be called from a signal handler."""
        self._processes.stop()
        self._trial.stop()

    def run(
        self,
        parent: Path | None = None,
        program: Sequence[str] | None = None,
        tell: Callable[[str], None] = lambda text: None,
    ) -> Estimate:
        """Measure and estimate.

        Parameters
        ----------
        parent : Path, optional
            Directory in which a temporary one is made, whose disk is measured; the system's own place unless given.
        program : sequence of str, optional
            Command that takes the arguments of the command line, to measure what starting it takes.
        tell : callable
            Told what begins.

        Raises
        ------
        OutOfBudget
            If the memory is too little.
        Stopped
            After :meth:`stop`.
        """
        with tempfile.TemporaryDirectory(prefix="pipeline-estimate-", dir=parent) as name:
            directory = Path(name)
            load_kernels(self._space)
            startup = self._startup(directory, program)
            measured = self._measure(directory, tell)
            total = self._settings.memory if self._settings.memory is not None else available_memory() // 2
            budget = divide(
                total,
                startup.peak_bytes,
                self._settings.workers or available_workers(),
                earlier_levels=levels_read(self._space),
            )
            disk = time_disk(directory, DISK_BLOCKS)
        going_on = self._job is not None and self._tells(self._job)
        return Estimate(self._space, measured, self._settings.max_depth, budget, startup, disk, going_on)

    def _measure(self, directory: Path, tell: Callable[[str], None]) -> Measured:
        if self._job is not None and self._tells(self._job):
            tell(f"measuring on the levels of {self._job.path} ...")
            steps = time_steps(self._space, keys_of(largest_level(self._job)), repetitions=3)
            return measured_of(self._space, self._job, steps, self._settings.workers)
        tell("measuring with a short search ...")
        return self._trial.run(directory)

    def _tells(self, job: Job) -> bool:
        """Whether a job has come far enough to start from."""
        manifests = job.manifests()
        largest = max((manifest.keys for manifest in manifests if manifest.arrays_kept), default=0)
        return largest >= TELLING_KEYS or (largest > 0 and not manifests[-1].keys)

    def _startup(self, directory: Path, program: Sequence[str] | None) -> Startup:
        if program is None:
            return Startup(0.0, resident_bytes())
        small = (
            ["--puzzle", "sliding", "-p", "rows=2", "-p", "cols=2"] if self._space.name == "sliding" else ["--n", "2"]
        )
        for attempt in ("first", "second"):
            command = [*program, "run", *small, "--quiet", "--job", str(directory / attempt)]
            figures, _ = self._processes.run(command)
            if figures.processor_seconds < COMPILING_SECONDS:
                break
        # Nearly all of it is one thread that computes; the rest is waiting for what else the machine does.
        return Startup(figures.processor_seconds, figures.peak_bytes)
