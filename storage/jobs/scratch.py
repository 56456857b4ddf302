"""Places for unfinished work that are not in the job: a faster disk, or one with more room."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from storage.errors import JobError
from storage.files.durable import METADATA, TEMPORARY_SUFFIX, make_directories, remove
from storage.files.reading import DAMAGED
from storage.files.refusals import writing
from storage.files.sealed import group_document, read_document, write_document
from storage.jobs.job import WORK, Job

ELSEWHERE = "elsewhere.json"


def work_in(job: Job, place: Path | None, tell: Callable[[str], None] = lambda line: None) -> None:
    """Have the levels of a job made below ``place``, in a directory of the job's own; in the job itself if None.

    Parameters
    ----------
    job : Job
        Locked by this process.
    place : Path, optional
        May serve any number of jobs.
    tell : callable, optional
        Gets a line for the user if there is unfinished work at another place.

    Raises
    ------
    JobError
        If it cannot be written, or what has the name of the job's directory there is something else.
    OutOfBudget
        If the disk is full.
    """
    before = _elsewhere(job)
    scratch = None if place is None else place.resolve() / _name(job)
    if before is not None and before != scratch:
        tell(
            f"unfinished work of {job.path} in {before} is not used: resume the job with --work-dir {before.parent}, "
            "or delete it"
        )
    note = job.path / WORK / ELSEWHERE
    if scratch is None:
        with writing(job.path):
            note.unlink(missing_ok=True)
        return
    with writing(scratch):
        _make(job, scratch)
    with writing(job.path):
        write_document(note, {"attributes": {"place": str(scratch)}})
    job.work = scratch


def leave_scratch(job: Job) -> None:
    """Delete the directory of a job elsewhere, unless there is unfinished work in it."""
    if job.work != job.path / WORK and not any(entry.is_dir() for entry in job.work.iterdir()):
        remove(job.work)
        (job.path / WORK / ELSEWHERE).unlink(missing_ok=True)


def _name(job: Job) -> str:
    """Name of the directory of a job: two of the same name, or a copy, must not share one."""
    place = job.path.resolve()
    return f"{place.name}-{hashlib.sha256(os.fsencode(place)).hexdigest()[:12]}"


def _make(job: Job, scratch: Path) -> None:
    """Make the directory, or empty it if it is that of a job which was here before."""
    identity = hashlib.sha256(repr(job.attributes).encode()).hexdigest()
    if scratch.is_dir() and not scratch.is_symlink():
        with suppress(*DAMAGED):
            if read_document(scratch / METADATA, sealed=True)["attributes"] == {"job": identity}:
                return
        if any(scratch.iterdir()) and not (scratch / METADATA).is_file():
            raise JobError(f"{scratch} is no directory for unfinished work", "choose another place with --work-dir")
        remove(scratch)
    make_directories(scratch)
    write_document(scratch / METADATA, group_document({"job": identity}))


def _elsewhere(job: Job) -> Path | None:
    """Where unfinished work of a job lies, as far as it says so."""
    with suppress(*DAMAGED):
        place = read_document(job.path / WORK / ELSEWHERE, sealed=True)["attributes"]["place"]
        if isinstance(place, str):
            return Path(place)
    return None


@contextmanager
def private_scratch(job: Job, place: Path | None) -> Iterator[Path]:
    """A directory for a level that is made again to be looked at; it is gone when the block ends.

    Parameters
    ----------
    job : Job
        Need not be locked.
    place : Path, optional
        What it is made in; the directory that the job is in, and so on the same disk, unless given.

    Raises
    ------
    JobError
        If that cannot be written.
    """
    parent = (place if place is not None else job.path.resolve().parent).absolute()
    name = f"{job.path.resolve().name}.verify."
    directory = parent / f"{name}{token_hex(4)}{TEMPORARY_SUFFIX}"
    try:
        make_directories(parent)
        for orphan in parent.iterdir():
            if orphan.name.startswith(name) and orphan.name.endswith(TEMPORARY_SUFFIX) and not _is_in_use(orphan):
                shutil.rmtree(orphan, ignore_errors=True)
        directory.mkdir()
    except OSError as error:
        raise JobError(
            f"{parent} cannot be written ({error.strerror})", "name another place for unfinished work with --work-dir"
        ) from error
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        # Goes with this process, however that ends.
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield directory
    finally:
        os.close(descriptor)
        shutil.rmtree(directory, ignore_errors=True)


def _is_in_use(directory: Path) -> bool:
    """Whether a process works in a directory of :func:`private_scratch`, or may do so."""
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    except OSError:
        return True
    finally:
        os.close(descriptor)
