"""The errors a user can cause, each with its exit code.

Every message says what is wrong and where; ``remedy`` says what to do about it. The exit codes are listed in
``docs/exit-codes.md``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any


class Stopped(Exception):
    """The user asked for a stop; what is on disk is whole."""


class PipelineError(Exception):
    """Base of all errors that are reported to the user in one line.

    Parameters
    ----------
    message : str
        What is wrong, and where.
    remedy : str, optional
        What to do about it.
    """

    exit_code = 1

    def __init__(self, message: str, remedy: str | None = None) -> None:
        super().__init__(message if remedy is None else f"{message}; {remedy}")
        self.message = message
        self.remedy = remedy


class InvalidInput(PipelineError, ValueError):
    """An option, parameter, state or file of the user's has no valid meaning."""

    exit_code = 2


class JobError(PipelineError):
    """A job directory cannot be used as asked: missing, existing, different, foreign or unwritable."""

    exit_code = 3


class JobLocked(JobError):
    """Another process is writing to the job."""

    exit_code = 4


class CorruptJob(PipelineError, ValueError):
    """What is on disk differs from what was committed.

    Parameters
    ----------
    message, remedy : str
        As for :class:`PipelineError`.
    path : Path, optional
        The damaged file.
    """

    exit_code = 5

    def __init__(self, message: str, remedy: str | None = None, path: Path | None = None) -> None:
        super().__init__(message, remedy)
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        # Workers in other processes send it, and what is damaged is made again by its path.
        return type(self), (self.message, self.remedy, self.path)


class CorruptSpill(CorruptJob):
    """A spill file is damaged or missing; the task that wrote it can be run again.

    Parameters
    ----------
    message, remedy, path
        As for :class:`CorruptJob`. The path must be given: without it nobody knows which task to run again. It is None
        if no single file can be blamed.
    """

    def __init__(self, message: str, remedy: str, path: Path | None) -> None:
        super().__init__(message, remedy, path)


class OutOfBudget(PipelineError):
    """The memory budget, the disk or the key width cannot hold what was asked for."""

    exit_code = 6


class QuotaReached(OutOfBudget):
    """The job's directory may not grow any more."""


class Mismatch(PipelineError):
    """A count differs from a known one."""

    exit_code = 7


class ClusterError(PipelineError):
    """The cluster was lost, or its workers are not the same program."""

    exit_code = 8


class PuzzleError(PipelineError):
    """A puzzle cannot be searched: it failed, or does not do what the contract asks."""

    exit_code = 9


class FalseClaim(PuzzleError):
    """What a puzzle claims of its graph is not so."""
