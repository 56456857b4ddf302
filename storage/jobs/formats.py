"""Format versions of jobs: which one a job has, and the refusal of one that is newer than this program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from storage.errors import JobError
from storage.files.reading import read_json
from storage.files.sealed import read_document
from storage.records import DISTRIBUTION, JobAttributes, parse, writer_of

FORMAT_VERSION = 2
# The first format whose metadata have checksums, and that has a ledger.
SEALED_FORMAT = 2


def format_of(path: Path) -> int:
    """Format version of the job at ``path``, whatever else is wrong with it.

    Raises
    ------
    OSError, ValueError, KeyError, TypeError
        If there is no job.
    """
    version = read_json(path / "zarr.json")["attributes"]["format_version"]
    if type(version) is not int or version < 1:
        raise ValueError(f"its format version is {version!r}")
    return version


def read_attributes(path: Path) -> dict[str, Any]:
    """The attributes of the job at ``path``, parse.

    Raises
    ------
    OSError, ValueError, KeyError, TypeError
        If there is no job, or its metadata are damaged.
    JobError
        If its format is newer than this program.
    """
    version = format_of(path)
    # Without the right checksum, a larger number is damage and no newer format.
    sealed = SEALED_FORMAT <= version <= FORMAT_VERSION
    attributes: dict[str, Any] = read_document(path / "zarr.json", sealed)["attributes"]
    if version > FORMAT_VERSION:
        writer = writer_of(attributes)
        raise JobError(
            f"{path} has format {version}, and this version reads formats up to {FORMAT_VERSION}",
            f"use {writer} or newer" if writer else f"use a newer version of {DISTRIBUTION}",
        )
    parse(JobAttributes, attributes)
    return attributes
