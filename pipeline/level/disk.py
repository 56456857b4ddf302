"""Whether the disk has room for a level, before it is begun and while it is made."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from pipeline.level.forecast import forecast
from pipeline.level.plan import LevelPlan
from pipeline.running.events import Observer
from storage.errors import OutOfBudget, QuotaReached
from storage.files.durable import bytes_below
from storage.files.quota import Quota
from storage.files.refusals import is_full
from storage.jobs.job import QUOTA, WORK, Job
from storage.jobs.working import WorkingLevel
from storage.sizes import size

# Of a manifest for each partition, of the plan for each task, and of either for itself; the ledger is written beside
# the old one.
PARTITION_BYTES = 400
TASK_BYTES = 120
DOCUMENT_BYTES = 4096
# Levels that a forecast looks back at.
TELLING_LEVELS = 6


class Room:
    """The disk under a job.

    Parameters
    ----------
    job : Job
    limit : int, optional
        Bytes that the job's directory may take.
    force : bool
        Whether to begin levels that are not expected to fit.
    observer : Observer
    """

    def __init__(self, job: Job, limit: int | None, force: bool, observer: Observer) -> None:
        self._job = job
        self._limit = limit
        self._force = force
        self._observer = observer
        self._quota = None if limit is None else Quota(job.path / WORK / QUOTA, limit)
        self._needed = 0

    def begin(self, work: WorkingLevel, plan: LevelPlan, in_memory: bool) -> None:
        """Make sure that a level is expected to fit, and begin the account of what it takes.

        Raises
        ------
        OutOfBudget
            If it is not, unless forced.
        """
        before = [self._job.level(depth).manifest for depth in range(max(0, work.depth - TELLING_LEVELS), work.depth)]
        expected = forecast(plan, before, in_memory)
        done = bytes_below(work.path)
        needed = max(0, expected.total - done)
        self._needed = expected.total
        spills = f", {size(expected.spills)} of it for spills" if expected.spills else ""
        what = f"level {work.depth} of {self._job.path} is expected to take {size(needed)} more on disk{spills}"
        free = shutil.disk_usage(self._job.path).free
        if needed > free:
            self._refuse(
                f"{what}, and {size(free)} are free there",
                f"free {size(needed - free)}, delete states that are no longer needed with --keep frontier, "
                "or begin it all the same with --force",
            )
        if self._limit is None or self._quota is None:
            return
        used = bytes_below(self._job.path)
        documents = PARTITION_BYTES * plan.partitions + TASK_BYTES * len(plan.tasks)
        documents += 2 * DOCUMENT_BYTES + 2 * PARTITION_BYTES * work.depth
        if needed + documents > self._limit - used:
            self._refuse(
                f"{what}, and its quota of {size(self._limit)} leaves {size(max(0, self._limit - used))}",
                f"give at least --max-disk {used + needed + documents}, delete states that are no longer needed with "
                "--keep frontier, or begin it all the same with --force",
            )
        self._quota.open(used + documents)
        work.quota = self._quota

    def _refuse(self, message: str, remedy: str) -> None:
        if not self._force:
            raise OutOfBudget(message, remedy)
        self._observer.message(f"{message}; it is begun all the same")

    @contextmanager
    def watching(self, work: WorkingLevel) -> Iterator[None]:
        """Turn a full disk into an error that says how much is needed, and where.

        Raises
        ------
        OutOfBudget
        """
        try:
            yield
        except (OSError, QuotaReached) as error:
            if isinstance(error, OSError) and not is_full(error):
                raise
            raise OutOfBudget(*self._refusal(work, error)) from error

    def _refusal(self, work: WorkingLevel, error: OSError | QuotaReached) -> tuple[str, str]:
        """What to say when there was no room while a level was made."""
        needed = size(max(0, self._needed - bytes_below(work.path)) + DOCUMENT_BYTES)
        what = f"about {needed} more are needed there for level {work.depth}"
        if isinstance(error, QuotaReached):
            return f"{error.message}; {what}", "resume the job with a larger --max-disk, or with --keep frontier"
        free = size(shutil.disk_usage(self._job.path).free)
        return (
            f"the disk is full while writing {self._job.path} ({free} are free); {what}",
            "nothing is lost: free some space and resume the job",
        )

    def close(self) -> None:
        """End the account."""
        if self._quota is not None:
            self._quota.close()
