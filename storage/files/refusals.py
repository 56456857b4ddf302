"""Writing to a job: what the operating system refuses becomes an error that names the place and says what to do."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from storage.errors import JobError, OutOfBudget, PipelineError
from storage.sizes import size


def is_full(error: OSError) -> bool:
    """Whether the operating system refused because of a full disk or a used-up quota."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def unwritable(path: Path, error: OSError) -> PipelineError:
    if is_full(error):
        free = ""
        with suppress(OSError):
            free = f" ({size(shutil.disk_usage(path if path.exists() else path.parent).free)} are free)"
        return OutOfBudget(
            f"the disk is full while writing {path}{free}", "nothing is lost: free some space and resume the job"
        )
    if error.errno == errno.EFBIG:
        return OutOfBudget(
            f"a file below {path} would be larger than this process or the file system allows",
            "nothing is lost: raise the limit ('ulimit -f unlimited'), or move the job, and resume it",
        )
    if error.errno == errno.EBUSY:
        return JobError(
            f"{path} cannot be replaced: something is mounted there, or uses it", "choose a directory in it with --job"
        )
    return JobError(f"{path} cannot be written ({error.strerror or error})", "choose another place with --job")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn the operating system's refusals into errors that name the job.

    Raises
    ------
    OutOfBudget
        If the disk is full.
    JobError
        Otherwise.
    """
    try:
        yield
    except OSError as error:
        raise unwritable(path, error) from error
