"""A search and its job: what is checked before it starts, and how its means are divided."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

from pipeline.level.disk import refuse_new_job
from pipeline.level.kernels import load_kernels
from pipeline.level.loop import LevelLoop
from pipeline.running.events import Observer
from pipeline.running.executors import Executor, Stopped
from pipeline.running.memory import MIB, Budget, budget_for
from pipeline.running.provenance import provenance
from pipeline.running.settings import Settings
from pipeline.running.stoppable import StoppableRun
from pipeline.running.tuning import Tuning, wanted_tuning
from pipeline.spaces.contract import StateSpace
from pipeline.spaces.guards import check_space, checked_roots
from pipeline.spaces.registry import short_name
from pipeline.table import Table
from storage.errors import InvalidInput, JobError, PipelineError
from storage.files.refusals import writing
from storage.jobs.job import Job
from storage.jobs.scratch import leave_scratch, work_in
from storage.jobs.sweeping import sweep

DEFAULT_JOBS_DIRECTORY = Path("jobs")


class Search(StoppableRun):
    """A search with its job directory.

    Parameters
    ----------
    space : StateSpace
    job : path-like, optional
        Job directory; ``jobs/<short name of the space>`` unless given.
    settings : Settings, optional
    observer : Observer, optional
    tuning : Tuning, optional
        How levels are cut up.
    **options
        Fields of :class:`Settings`, instead of ``settings``.

    Examples
    --------
    >>> from pipeline import Search, Snake
    >>> Search(Snake(n=6), job="jobs/six", memory=2**30).run().states
    (1, 3, 12, 19, 16, 5)
    """

    def __init__(
        self,
        space: StateSpace,
        job: str | os.PathLike[str] | None = None,
        settings: Settings | None = None,
        observer: Observer | None = None,
        tuning: Tuning | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        check_space(space)
        self.space = space
        self.path = Path(job) if job is not None else DEFAULT_JOBS_DIRECTORY / short_name(space)
        self.settings = Settings.of(settings, options)
        self.tuning = tuning
        self.observer = observer if observer is not None else Observer()

    def run(self, resume: bool = False, overwrite: bool = False, command: str | None = None) -> Table:
        """Search until the space is exhausted or ``max_depth`` is reached.

        Parameters
        ----------
        resume : bool
            Go on with the job if there is one.
        overwrite : bool
            Delete the job first if there is one.
        command : str, optional
            Recorded in the job's provenance.

        Returns
        -------
        Table
            States at each depth.

        Raises
        ------
        JobError, JobLocked, CorruptJob, OutOfBudget, InvalidInput
        Stopped
            After :meth:`stop`; the job can be resumed.
        """
        self._refuse_early(resume, overwrite, command)
        settings = self.settings
        with self._executing(settings.scheduler, settings.workers, settings.tls) as executor:
            load_kernels(self.space)
            executor.prepare(partial(load_kernels, self.space))
            budget = self._divide_memory(executor)
            if overwrite:
                Job.remove(self.path)
            # Workers elsewhere have other working directories.
            job = self._open_or_create(self.path if executor.shares_memory else self.path.resolve(), command)
            with job.lock(self.observer.message, executor.pause, executor.stop.set) as lock, writing(job.path):
                # Another process may have put another job in its place before the lock was ours.
                self._check_same(Job.open(job.path))
                work_in(job, settings.work_dir, self.observer.message)
                sweep(job, self.observer.message)
                executor.share(job.path, job.work)
                try:
                    LevelLoop(self.space, settings, job, executor, budget, self.observer).run()
                except (Stopped, PipelineError, OSError):
                    # Whatever else went wrong, a process that has lost the job says that.
                    lock.check()
                    raise
                leave_scratch(job)
            return Table.of(self.space, job)

    def _refuse_early(self, resume: bool, overwrite: bool, command: str | None) -> None:
        """Look at what can go wrong before the kernels are compiled and before anything is written."""
        if resume and overwrite:
            raise InvalidInput("resume and overwrite exclude each other", "ask for one of them")
        if self.settings.keep == "frontier" and not self.space.undirected:
            raise InvalidInput(
                f"the moves of {self.space.name} cannot be undone, and then every level is needed to the end",
                "search with --keep all (from Python keep='all')",
            )
        if overwrite or not Job.exists(self.path):
            attributes = {"space": self._description(), "provenance": provenance(command)}
            refuse_new_job(self.path, attributes, checked_roots(self.space).size, self.settings.max_disk)
        if Job.exists(self.path):
            if resume:
                self._check_same(Job.open(self.path))
            elif not overwrite:
                Job.open(self.path)
                raise JobError(
                    f"the job {self.path} exists",
                    "go on with it with --resume (from Python run(resume=True)), or start again with --overwrite "
                    "(run(overwrite=True))",
                )

    def _description(self) -> dict[str, Any]:
        layout = self.space.layout
        return {
            "name": self.space.name,
            "parameters": self.space.parameters.model_dump(),
            "key_version": layout.version,
            "field_bits": layout.field_bits,
            "mask_bits": layout.mask_bits,
        }

    def _check_same(self, job: Job) -> None:
        theirs, ours = job.attributes["space"], self._description()
        if theirs != ours:
            raise JobError(
                f"the job {self.path} is {_named(theirs)}, not {_named(ours)}",
                "resume it with its own parameters, or choose another place with --job",
            )

    def _open_or_create(self, path: Path, command: str | None) -> Job:
        if Job.exists(path):
            return Job.open(path)
        return Job.create(path, self._description(), provenance(command))

    def _divide_memory(self, executor: Executor) -> Budget:
        budget = budget_for(
            self.settings.memory,
            executor.workers,
            self.tuning if self.tuning is not None else wanted_tuning(),
            earlier_levels=1 if self.space.bipartite else 2,
            on_this_machine=executor.shares_memory,
        )
        if budget.workers < executor.workers:
            self.observer.message(
                f"{budget.workers} of {executor.workers} workers: a memory budget of {budget.total // MIB} MiB "
                "does not suffice for more"
            )
            executor.limit(budget.workers)
        return budget


def _named(space: dict[str, Any]) -> str:
    parameters = ", ".join(f"{key}={value}" for key, value in space["parameters"].items())
    return f"{space['name']} with {parameters} (keys of version {space['key_version']})"
