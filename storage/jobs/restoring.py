"""Restoring a job: damaged parts are replaced by what was made again, metadata by what repeats them."""

from __future__ import annotations

from pathlib import Path

from storage.errors import CorruptJob
from storage.files.durable import make_directories, publish, remove
from storage.files.reading import DAMAGED
from storage.files.refusals import writing
from storage.files.sealed import group_document, read_group, write_document
from storage.jobs.job import LEVELS, WORK, Job
from storage.jobs.ledger import Ledger
from storage.jobs.working import WorkingLevel
from storage.records import Manifest


def replace_partition(job: Job, depth: int, name: str, made: Path) -> None:
    """Put an array that was made again in the place of a damaged one, durably."""
    job.check_lock()
    place = job.level_path(depth) / name
    make_directories(place.parent)
    remove(place)
    publish(made, place)
    job.forget_level(depth)


def replace_level(job: Job, work: WorkingLevel, manifest: Manifest) -> None:
    """Put a level that was made again in the place of a damaged one, durably."""
    job.write_manifest(work.partitions, manifest)
    remove(job.level_path(work.depth))
    publish(work.partitions, job.level_path(work.depth), job.check_lock)
    work.discard()


def restore_ledger(job: Job, levels: int | None = None) -> None:
    """Write the ledger anew from the manifests.

    Parameters
    ----------
    job : Job
    levels : int, optional
        How many levels there are; all that have a manifest unless given.

    Raises
    ------
    CorruptJob
        If one of them is damaged.
    """
    job.check_lock()
    if not job.sealed:
        write_document(job.path / LEVELS / "zarr.json", group_document({}), sealed=False)
        return
    depths = job.depths_found() if levels is None else range(levels)
    Ledger(job.path / LEVELS, job.attributes).write([job.level(depth).manifest for depth in depths])
    job.forget_ledger()


def restore_attributes(path: Path) -> bool:
    """Write the metadata of the job at ``path`` anew from the ledger, if they are damaged.

    Returns
    -------
    bool
        Whether that was necessary.

    Raises
    ------
    JobError, JobLocked
    """
    try:
        Job.open(path)
    except CorruptJob as error:
        attributes = Job.copy_of_attributes(path)
        if attributes is None or error.path != path / "zarr.json":
            return False
    else:
        return False
    root = path / "zarr.json"
    with writing(path):
        if root.is_symlink():
            root.unlink()
        # The lock of the job is a lock of this file.
        root.touch()
        job = Job(path, attributes)
        with job.lock():
            write_document(root, group_document(attributes))
    return True


def restore_work(job: Job) -> None:
    """Make the directory for work and its metadata again if they are missing or damaged."""
    make_directories(job.path / WORK)
    try:
        check_work(job)
    except DAMAGED:
        write_document(job.path / WORK / "zarr.json", group_document({}), job.sealed)


def check_work(job: Job) -> None:
    """Read the metadata of the directory for work.

    Raises
    ------
    OSError, ValueError
        If they are missing or damaged.
    """
    document = read_group(job.path / WORK / "zarr.json", job.sealed)
    if document["attributes"]:
        raise ValueError("it is that of another group")
