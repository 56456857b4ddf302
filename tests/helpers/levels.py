"""Reading all levels of a job, to be sure that nothing of it is damaged."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.audit.damage import Damage, LevelCheck, examine
from pipeline.spaces.contract import StateSpace
from storage.errors import CorruptJob
from storage.jobs.job import REMEDY, Job


def verify_levels(space: StateSpace, job: Job) -> Iterator[LevelCheck]:
    """Read all levels of a job.

    Yields
    ------
    LevelCheck
        For each level; ``read`` is False if its arrays were deleted by ``--keep frontier``.

    Raises
    ------
    CorruptJob
        At the first difference, with its place.
    """
    for found in examine(space, job):
        if isinstance(found, Damage):
            raise CorruptJob(found.message, REMEDY, found.path)
        yield found
