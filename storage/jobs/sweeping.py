"""Sweeping a job: what a killed process left behind is finished or removed before a run goes on."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

from storage.files.durable import METADATA, TEMPORARY_SUFFIX, delete, remove, remove_orphans
from storage.files.reading import remove_links
from storage.files.refusals import writing
from storage.jobs.job import LEVEL_NAME, LEVELS, QUOTA, REPAIR, WORK, Job
from storage.jobs.restoring import restore_work
from storage.jobs.scratch import ELSEWHERE


def sweep(job: Job, tell: Callable[[str], None] = lambda line: None) -> None:
    """Remove what a killed process left behind; the job must be locked.

    What the program does not make is left alone, and ``tell`` gets a line about it.
    """
    with writing(job.path):
        # The program makes none.
        remove_links(job.path / WORK)
        remove_orphans(job.path)
        # Of making this job or removing the one before it.
        orphan = re.compile(re.escape(job.path.name) + r"\.[0-9a-f]{8}" + re.escape(TEMPORARY_SUFFIX))
        for entry in job.path.parent.iterdir():
            if orphan.fullmatch(entry.name):
                shutil.rmtree(entry, ignore_errors=True)
        restore_work(job)
        manifests = job.manifests()
        job.enter(manifests)
        for entry in _levels_in(job.path / LEVELS, {METADATA}, tell):
            if not (entry / METADATA).exists():
                tell(f"{entry} has no manifest and is removed")
                remove(entry)
            elif int(entry.name) >= len(manifests):
                tell(f"{entry} is no level of the job and is left alone")
        for manifest in manifests:
            if not manifest.arrays_kept:
                job.drop_arrays(manifest.depth)
        (job.path / WORK / QUOTA).unlink(missing_ok=True)
    next_level = f"{len(manifests):04d}"
    for work in {job.path / WORK, job.work}:
        with writing(work):
            _sweep_work(work, next_level if work == job.work else None, tell)


def _sweep_work(work: Path, next_level: str | None, tell: Callable[[str], None]) -> None:
    """Of unfinished work, keep what can be used for the level that comes next."""
    remove_orphans(work)
    delete(work / REPAIR)
    for entry in _levels_in(work, {METADATA, Path(Job.HOLDER).name, QUOTA, ELSEWHERE}, tell):
        if entry.name != next_level:
            remove(entry)
    for path in work.glob("*/partitions/zarr.json"):
        # A commit that was cut off before the rename.
        path.unlink()
    for path in work.glob("*/spills/[1-9]??????.spill"):
        # Parts of tasks whose other parts were in memory.
        path.unlink()


def _levels_in(directory: Path, known: set[str], tell: Callable[[str], None]) -> list[Path]:
    """The directories of levels in a directory; tells of what else is there and not known."""
    levels = []
    for entry in sorted(directory.iterdir()):
        if LEVEL_NAME.fullmatch(entry.name) and entry.is_dir():
            levels.append(entry)
        elif entry.name not in known:
            tell(f"{entry} is no part of the job and is left alone")
    return levels
