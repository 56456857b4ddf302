"""Writing files and directories so that they are there, whole, or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path

TEMPORARY_SUFFIX = ".partial"


def sync_directory(path: Path) -> None:
    """Flush a directory's entries to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(path: Path) -> None:
    """Flush all files and directories below ``path``, and itself."""
    for directory, _, names in os.walk(path, topdown=False):
        for name in names:
            descriptor = os.open(os.path.join(directory, name), os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        sync_directory(Path(directory))


def publish(temporary: Path, final: Path, last_look: Callable[[], None] = lambda: None) -> None:
    """Flush a finished file or directory and give it its name, in one atomic step.

    A directory that has the name already can only be the same task's result, from another worker that was slower to
    hear of its end; it stays. ``last_look`` is called between the flush, which may take long, and that step; it may
    raise.
    """
    if temporary.is_dir():
        sync_tree(temporary)
    else:
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
    last_look()
    try:
        os.replace(temporary, final)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        shutil.rmtree(temporary)
    sync_directory(final.parent)


def temporary_name(path: Path) -> Path:
    """A name beside ``path`` that no other process uses, even one that does the same task."""
    return path.with_name(f"{path.name}.{secrets.token_hex(4)}{TEMPORARY_SUFFIX}")


def write_text(path: Path, text: str) -> None:
    """Write a file atomically and durably."""
    temporary = temporary_name(path)
    temporary.write_text(text, encoding="utf-8")
    publish(temporary, path)


def remove_orphans(directory: Path) -> None:
    """Remove what a killed process left under a temporary name, at any depth."""
    for parent, directories, names in os.walk(directory):
        for name in names:
            if name.endswith(TEMPORARY_SUFFIX):
                os.unlink(os.path.join(parent, name))
        for name in list(directories):
            if name.endswith(TEMPORARY_SUFFIX):
                shutil.rmtree(os.path.join(parent, name))
                directories.remove(name)


def bytes_below(path: Path) -> int:
    """Bytes of all files below ``path``; files that vanish meanwhile count nothing."""
    total = 0
    for directory, _, names in os.walk(path):
        for name in names:
            try:
                total += os.lstat(os.path.join(directory, name)).st_size
            except FileNotFoundError:
                continue
    return total
