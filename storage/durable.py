"""Writing files and directories so that they are there, whole, or not at all."""

from __future__ import annotations

import os
import shutil
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


def publish(temporary: Path, final: Path) -> None:
    """Flush a finished file or directory and give it its name, in one atomic step.

    A directory that has the name already is replaced; it can only be the same task's earlier result.
    """
    if temporary.is_dir():
        sync_tree(temporary)
        if final.exists():
            shutil.rmtree(final)
    else:
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
    os.replace(temporary, final)
    sync_directory(final.parent)


def write_text(path: Path, text: str) -> None:
    """Write a file atomically and durably."""
    temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
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
