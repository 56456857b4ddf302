"""Whether the disk has room for a level, before it is begun and while it is made."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pipeline.level.forecast import Forecast, forecast
from pipeline.level.plan import LevelPlan
from pipeline.running.events import Observer
from storage.errors import OutOfBudget, QuotaReached
from storage.files.durable import METADATA, bytes_below
from storage.files.quota import Quota
from storage.files.refusals import is_full
from storage.jobs.job import LEVELS, QUOTA, WORK, Job
from storage.jobs.ledger import DOCUMENT_LEVELS, LINES
from storage.jobs.working import WorkingLevel
from storage.records import Manifest
from storage.sizes import size

# Of a manifest for each partition, of the plan for each task, and of either for itself; the ledger is written beside
# the old one.
PARTITION_BYTES = 400
TASK_BYTES = 120
DOCUMENT_BYTES = 4096
# Of a root in the array of level 0, whatever its key.
ROOT_BYTES = 16
# Levels that a forecast looks back at.
TELLING_LEVELS = 6
# Levels from the end whose states may be deleted after they were weighed.
LEVELS_THAT_CHANGE = 4
LEDGER_FILES = (METADATA, LINES)


def refuse_new_job(path: Path, attributes: dict[str, Any], roots: int, limit: int | None) -> None:
    """Make sure that a quota has room for a job with nothing but its roots.

    Raises
    ------
    OutOfBudget
    """
    # The attributes are written twice, with what else a job and its first level have for metadata.
    needed = 2 * len(json.dumps(attributes, indent=2)) + 2 * DOCUMENT_BYTES + ROOT_BYTES * roots
    if limit is not None and needed > limit:
        raise OutOfBudget(
            f"a quota of {size(limit)} does not suffice for the first level of {path}",
            f"give at least --max-disk {needed}",
        )


class Room:
    """The disk under a job, and under its unfinished work if that is elsewhere.

    Parameters
    ----------
    job : Job
    limit : int, optional
        Bytes that the job's directory may take, and its unfinished work wherever that is.
    force : bool
        Whether to begin levels that are not expected to fit.
    observer : Observer
    checked : Path, optional
        Where a level is made that is only looked at, and not kept.
    """

    def __init__(
        self, job: Job, limit: int | None, force: bool, observer: Observer, checked: Path | None = None
    ) -> None:
        self._job = job
        self._limit = limit
        self._force = force
        self._observer = observer
        self._checked = checked
        self._quota = None if limit is None else Quota(job.path / WORK / QUOTA, limit)
        self._needed = 0
        self._manifests: dict[int, Manifest] = {}
        self._level_bytes: list[int] = []

    def begin(self, work: WorkingLevel, plan: LevelPlan, in_memory: bool) -> None:
        """Make sure that a level is expected to fit, and begin the account of what it takes.

        Raises
        ------
        OutOfBudget
            If it is not, unless forced.
        """
        before = self._before(work.depth)
        expected = forecast(plan, before, in_memory, work.cut.sample)
        done = bytes_below(work.path)
        needed = max(0, expected.total - done)
        self._needed = expected.total
        spills = f", {size(expected.spills)} of it for spills" if expected.spills else ""
        what = f"level {work.depth} of {self._job.path} is expected to take {size(needed)} more on disk{spills}"
        for place, bytes_needed in self._places(expected, needed).items():
            free = shutil.disk_usage(place).free
            if bytes_needed > free:
                where = "there" if place == self._job.path else f"in {place}"
                self._refuse(
                    f"{what}, and {size(free)} are free {where}", self._remedy(f"free {size(bytes_needed - free)}")
                )
        if self._limit is None or self._quota is None:
            return
        used = self._used(work.depth)
        documents = PARTITION_BYTES * plan.partitions + TASK_BYTES * len(plan.tasks)
        documents += 2 * DOCUMENT_BYTES + 2 * PARTITION_BYTES * min(work.depth, DOCUMENT_LEVELS)
        if needed + documents > self._limit - used:
            self._refuse(
                f"{what}, and its quota of {size(self._limit)} leaves {size(max(0, self._limit - used))}",
                self._remedy(f"give at least --max-disk {used + needed + documents}"),
            )
        self._quota.open(used + documents)
        work.quota = self._quota

    def _before(self, depth: int) -> list[Manifest]:
        """The manifests of the levels that a forecast looks back at; each is read once."""
        telling = range(max(0, depth - TELLING_LEVELS), depth)
        self._manifests = {
            level: self._manifests[level] if level in self._manifests else self._job.level(level).manifest
            for level in telling
        }
        return list(self._manifests.values())

    def _places(self, expected: Forecast, needed: int) -> dict[Path, int]:
        """What is needed on each disk."""
        if self._checked is not None:
            return {self._checked: needed}
        work = self._job.work
        if not work.exists() or work.stat().st_dev == self._job.path.stat().st_dev:
            return {self._job.path: needed}
        return {work: needed, self._job.path: expected.arrays}

    def _used(self, depth: int) -> int:
        """Bytes that the job takes before level ``depth`` is made.

        Committed levels change only when their states are deleted, and of those only the last few: the rest is not
        looked at again.
        """
        sizes = self._level_bytes
        del sizes[-LEVELS_THAT_CHANGE:]
        sizes += [bytes_below(self._job.level_path(level)) for level in range(len(sizes), depth)]
        levels = self._job.path / LEVELS
        files = [self._job.path / METADATA, *(entry for entry in map(levels.joinpath, LEDGER_FILES) if entry.exists())]
        rest = sum(file.stat().st_size for file in files) + bytes_below(self._job.path / WORK)
        elsewhere = self._job.work != self._job.path / WORK
        return sum(sizes) + rest + (bytes_below(self._job.work) if elsewhere else 0)

    def _remedy(self, first: str) -> str:
        if self._checked is not None:
            return f"{first}, or name another place for it with --work-dir"
        return (
            f"{first}, delete states that are no longer needed with --keep frontier, or begin it all the same with "
            "--force"
        )

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
        place = self._job.path if self._checked is None else self._checked
        free = size(shutil.disk_usage(place).free)
        return (
            f"the disk is full while writing {place} ({free} are free); {what}",
            "nothing is lost: free some space and "
            + ("resume the job" if self._checked is None else "run the command again"),
        )

    def close(self) -> None:
        """End the account."""
        if self._quota is not None:
            self._quota.close()
