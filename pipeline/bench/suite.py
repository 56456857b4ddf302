"""All that ``pipeline bench`` measures, one after the other."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pipeline.bench.cases import Case, run_case
from pipeline.bench.disk import time_disk
from pipeline.bench.machine import describe_machine
from pipeline.bench.processes import Processes
from pipeline.bench.results import RESULT_FORMAT
from pipeline.bench.sorts import time_sorts
from pipeline.bench.steps import keys_of, largest_level, time_steps
from pipeline.inspection import space_of
from pipeline.level.kernels import load_kernels
from pipeline.level.sort import sort_in_use
from pipeline.running.memory import available_workers
from storage.jobs.job import Job

# One case of each kind, as small as can be: kernels are compiled, and files read, before anything is timed.
WARM_UP = (
    Case("warm snake", ("run", "--n", "3")),
    Case("warm sliding", ("run", "--puzzle", "sliding", "-p", "rows=2", "-p", "cols=2")),
    Case("warm census", ("census", "--n", "8"), keeps_job=False),
)
# Cases whose largest levels the steps are timed on.
STEPPED = ("snake", "fifteen")


class Suite:
    """A measurement.

    Parameters
    ----------
    program : sequence of str
        Command that takes the arguments of the command line.
    cases : sequence of Case
    parent : Path or None
        Directory in which a temporary one is made; the system's own place if None.
    workers : int, optional
        Of every case; one for each processor unless given.
    tell : callable
        Told what begins.
    """

    def __init__(
        self,
        program: Sequence[str],
        cases: Sequence[Case],
        parent: Path | None,
        workers: int | None,
        tell: Callable[[str], None],
    ) -> None:
        self._program = program
        self._cases = cases
        self._parent = parent
        self._workers = workers
        self._tell = tell
        self._processes = Processes()

    def stop(self) -> None:
        """End the case that runs, and the measurement; may be called from a signal handler."""
        self._processes.stop()

    def run(self) -> dict[str, Any]:
        """Measure.

        Returns
        -------
        dict
            The result document; see :mod:`pipeline.bench.results`.

        Raises
        ------
        PipelineError
            If a case fails.
        Stopped
            After :meth:`stop`.
        """
        with tempfile.TemporaryDirectory(prefix="pipeline-bench-", dir=self._parent) as name:
            directory = Path(name)
            self._warm_up(directory)
            cases: dict[str, Any] = {}
            steps: dict[str, Any] = {}
            for case in self._cases:
                self._tell(f"{case.name} ...")
                cases[case.name], job = run_case(case, self._program, self._processes, directory, self._workers)
                if case.name.split()[0] in STEPPED:
                    steps[case.name] = job
            self._tell("steps, sorts and disk ...")
            # What counts is the last, largest case of each puzzle.
            largest = {case.split()[0]: case for case in steps}.values()
            return {
                "format": RESULT_FORMAT,
                "machine": describe_machine(),
                "workers": self._workers if self._workers is not None else available_workers(),
                "cases": cases,
                "steps": {case: _steps_of(steps[case]) for case in largest},
                "sort_in_use": sort_in_use(),
                "sorts": time_sorts(),
                "disk": time_disk(directory).document(),
            }

    def _warm_up(self, directory: Path) -> None:
        kinds = {case.arguments[0] + ("" if "--puzzle" not in case.arguments else " puzzle") for case in self._cases}
        for case in WARM_UP:
            kind = case.arguments[0] + ("" if "--puzzle" not in case.arguments else " puzzle")
            if kind in kinds:
                self._tell("getting ready ...")
                run_case(case, self._program, self._processes, directory, None)


def _steps_of(path: Path) -> dict[str, Any]:
    job = Job.open(path)
    space = space_of(job)
    load_kernels(space)
    level = largest_level(job)
    return {"depth": level.manifest.depth, **time_steps(space, keys_of(level)).document()}
