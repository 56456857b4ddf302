"""A search and its job: what is checked before it starts, and how its means are divided."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pipeline.level.disk import refuse_new_job
from pipeline.level.earlier import levels_read
from pipeline.level.kernels import load_kernels
from pipeline.level.loop import LevelLoop
from pipeline.running.events import Observer
from pipeline.running.executors import Executor
from pipeline.running.memory import MIB, Budget, budget_for
from pipeline.running.provenance import provenance
from pipeline.running.settings import Settings
from pipeline.running.stoppable import StoppableRun
from pipeline.running.tuning import Tuning, wanted_tuning
from pipeline.spaces.claims import check_space
from pipeline.spaces.contract import StateSpace
from pipeline.spaces.guards import roots_of
from pipeline.spaces.registry import short_name
from pipeline.table import Table
from storage.errors import InvalidInput, JobError, PipelineError, Stopped
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
    >>> Search(Snake(n=6), job="jobs/six", memory=2**31).run().states
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
        if not isinstance(space, StateSpace):
            raise InvalidInput(
                f"a search is of a state space, not of {type(space).__name__}", "see Search.of for functions"
            )
        check_space(space)
        self.space = space
        self.path = Path(job) if job is not None else DEFAULT_JOBS_DIRECTORY / short_name(space)
        self.settings = Settings.of(settings, options)
        self.tuning = tuning
        self.observer = observer if observer is not None else Observer()

    @classmethod
    def of(
        cls,
        neighbours: Callable[..., Any],
        roots: Sequence[int] = (0,),
        *,
        name: str,
        max_neighbours: int,
        undirected: bool = True,
        bipartite: bool = False,
        vectorised: bool = False,
        key_count: int | None = None,
        size: int | None = None,
        job: str | os.PathLike[str] | None = None,
        settings: Settings | None = None,
        observer: Observer | None = None,
        **options: Any,
    ) -> Search:
        """A search of the graph that a function gives.

        Parameters
        ----------
        neighbours : callable
            ``(key, out) -> count`` for one key (an integer from 0 to 2**63 - 1), compiled with numba: it writes the
            neighbours to ``out`` and returns how many there are. With ``vectorised``, a function of an array of keys in
            plain numpy, see :meth:`pipeline.StateSpace.neighbour_keys`.
        roots : sequence of int
        name : str
            Of the graph; what the function depends on belongs to it, such as ``hanoi-8``.
        max_neighbours, undirected, bipartite, key_count, size
            Claims, see :class:`pipeline.StateSpace`.
        vectorised : bool
        job, settings, observer, **options
            As of :class:`Search`.

        Raises
        ------
        PuzzleError, InvalidInput

        Examples
        --------
        >>> from pipeline import Search
        >>> def corners(key, out):
        ...     for bit in range(10):
        ...         out[bit] = key ^ (1 << bit)
        ...     return 10
        >>> Search.of(corners, name="cube-10", max_neighbours=10, job="jobs/cube", memory=2**31).run().states
        (1, 10, 45, 120, 210, 252, 210, 120, 45, 10, 1)
        """
        from pipeline.spaces.functions import FunctionSpace

        claims = {"undirected": undirected, "bipartite": bipartite, "key_count": key_count, "size": size}
        space = FunctionSpace(neighbours, roots, name, max_neighbours, vectorised, **claims)
        return cls(space, job, settings, observer, **options)

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
            raise InvalidInput("a job is either resumed or overwritten", "give one of them")
        if self.settings.keep == "frontier" and not self.space.undirected:
            raise InvalidInput(
                f"the graph of {self.space.name} is directed, so that its search needs the states of all levels",
                "leave --keep frontier out",
            )
        if overwrite or not Job.exists(self.path):
            attributes = {"space": self._description(), "provenance": provenance(command)}
            refuse_new_job(self.path, attributes, roots_of(self.space).size, self.settings.max_disk)
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
        description: dict[str, Any] = {
            "name": self.space.name,
            "parameters": self.space.parameters.model_dump(),
            "key_version": layout.version,
            "field_bits": layout.field_bits,
            "mask_bits": layout.mask_bits,
        }
        source = self.space.source()
        return description if source is None else {**description, "source": source}

    def _check_same(self, job: Job) -> None:
        theirs, ours = job.attributes["space"], self._description()
        # Jobs of earlier versions do not say what source their puzzle had.
        changed = "source" in theirs and theirs["source"] != ours.get("source")
        theirs, ours = ({name: value for name, value in of.items() if name != "source"} for of in (theirs, ours))
        if changed and theirs == ours:
            raise JobError(
                f"the puzzle {self.space.name} has changed since the job {self.path} was begun",
                "resume it with the source that it was begun with, or start again with --overwrite",
            )
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
            earlier_levels=levels_read(self.space),
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
