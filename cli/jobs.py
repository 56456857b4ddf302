"""Finding a job by what the user calls it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipeline.spaces.contract import StateSpace
    from storage.jobs.job import Job


def job_path(job: str, jobs_directory: Path) -> Path:
    """Path of a job.

    Parameters
    ----------
    job : str
        With a slash a path; otherwise the name of a job in the jobs directory, or failing that a path.
    jobs_directory : Path
    """
    if os.sep in job:
        return Path(job)
    named = jobs_directory / job
    if job and not named.exists() and Path(job).exists():
        return Path(job)
    return named


def open_job(job: str, jobs_directory: Path, puzzle: str | None = None) -> tuple[Job, StateSpace]:
    """A job and its state space.

    Raises
    ------
    JobError, CorruptJob, PuzzleError
    """
    from pipeline.inspection import space_of

    opened = open_directory(job, jobs_directory)
    return opened, space_of(opened, puzzle)


def space_if_known(job: Job) -> StateSpace | None:
    """State space of a job; None if that is a puzzle of another package, which is not there or cannot be used.

    Raises
    ------
    JobError
        If this version of the program cannot read a job of a puzzle of its own.
    """
    from pipeline.inspection import space_of
    from pipeline.spaces.registry import is_built_in
    from storage.errors import JobError, PuzzleError

    try:
        return space_of(job)
    except (JobError, PuzzleError):
        if is_built_in(job.attributes["space"]["name"]):
            raise
        return None


def open_directory(job: str, jobs_directory: Path) -> Job:
    """A job, whatever it is of.

    Raises
    ------
    JobError, CorruptJob
    """
    from storage.errors import JobError
    from storage.jobs.job import Job
    from storage.journal import Journal

    path = job_path(job, jobs_directory)
    if Journal.is_at(path):
        raise JobError(f"{path} is a census, which has no levels", "'pipeline census' with --job and --resume reads it")
    return Job.open(path)
