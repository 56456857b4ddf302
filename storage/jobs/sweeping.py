"""Sweeping a job: what a killed process left behind is finished or removed before a run goes on."""

from __future__ import annotations

import re
import shutil

from storage.files.durable import TEMPORARY_SUFFIX, remove, remove_orphans
from storage.files.reading import remove_links
from storage.files.refusals import writing
from storage.jobs.job import LEVELS, QUOTA, WORK, Job
from storage.jobs.restoring import restore_work


def sweep(job: Job) -> None:
    """Remove what a killed process left behind; the job must be locked."""
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
        for entry in (job.path / LEVELS).iterdir():
            if entry.is_dir() and not (entry / "zarr.json").exists():
                remove(entry)
        for manifest in manifests:
            if not manifest.arrays_kept:
                job.drop_arrays(manifest.depth)
        for entry in (job.path / WORK).iterdir():
            if entry.is_dir() and entry.name != f"{len(manifests):04d}":
                shutil.rmtree(entry)
        (job.path / WORK / QUOTA).unlink(missing_ok=True)
        for path in (job.path / WORK).glob("*/partitions/zarr.json"):
            # A commit that was cut off before the rename.
            path.unlink()
        for path in (job.path / WORK).glob("*/spills/[1-9]??????.spill"):
            # Parts of tasks whose other parts were in memory.
            path.unlink()
