"""Writing files and directories so that they are there, whole, or not at all.

Everything that must outlive a loss of power is written here, in one order: the data under a temporary name, fsync of
every file, fsync of every directory that got an entry, the rename, fsync of the directory that the name is in. What is
deleted is renamed first, so that no reader finds half of it, and it is deleted only after what takes its place is
durable. ``tests/faults/test_write_ordering.py`` cuts the power between any two of these steps.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

TEMPORARY_SUFFIX = ".partial"
METADATA = "zarr.json"


def sync_file(path: str | Path) -> None:
    """Flush a file's data to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_directory(path: str | Path) -> None:
    """Flush a directory's entries to the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(path: Path) -> None:
    """Flush all files and directories below ``path``, and itself; entries after what they name."""
    for directory, _, names in os.walk(path, topdown=False):
        for name in names:
            sync_file(os.path.join(directory, name))
        sync_directory(directory)


def make_directories(path: Path) -> None:
    """Make a directory and those above it that are missing, and flush the entry of each."""
    missing = []
    while not path.is_dir():
        missing.append(path)
        path = path.parent
    for directory in reversed(missing):
        directory.mkdir(exist_ok=True)
        sync_directory(directory.parent)


def publish(temporary: Path, final: Path, last_look: Callable[[], None] = lambda: None, flushed: bool = False) -> None:
    """Flush a finished file or directory and give it its name, in one atomic step.

    A directory that has the name already can only be the same task's result, from another worker that was slower to
    hear of its end; it stays. ``last_look`` is called between the flush, which may take long, and that step; it may
    raise. With ``flushed`` all of it is on the disk already. Where the file system cannot rename, since the two are on
    different ones or in different layers, a flushed copy is renamed, and then the original deleted.
    """
    if not flushed:
        _flush(temporary)
    last_look()
    try:
        os.replace(temporary, final)
    except OSError as error:
        if error.errno == errno.EXDEV:
            copy = _copy_beside(temporary, final)
            try:
                publish(copy, final, last_look)
            except BaseException:
                delete(copy)
                raise
        elif error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        delete(temporary)
    sync_directory(final.parent)


def _flush(path: Path) -> None:
    if path.is_dir():
        sync_tree(path)
    else:
        sync_file(path)


def _copy_beside(source: Path, final: Path) -> Path:
    """Copy a file or a directory to a temporary name of its final one; returns that."""
    copy = temporary_name(final)
    try:
        _copy(source, copy)
    except BaseException:
        delete(copy)
        raise
    return copy


def _copy(source: Path, target: Path) -> None:
    # Not by copytree, whose error does not say what the first thing was that went wrong.
    if not source.is_dir():
        shutil.copyfile(source, target)
        return
    target.mkdir()
    for entry in source.iterdir():
        _copy(entry, target / entry.name)


def temporary_name(path: Path) -> Path:
    """A name beside ``path`` that no other process uses, even one that does the same task."""
    return path.with_name(f"{path.name}.{secrets.token_hex(4)}{TEMPORARY_SUFFIX}")


def write_text(path: Path, text: str) -> None:
    """Write a file atomically and durably."""
    temporary = temporary_name(path)
    try:
        temporary.write_text(text, encoding="utf-8")
        publish(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def write_json(path: Path, document: dict[str, Any]) -> None:
    """Write a JSON document atomically and durably."""
    write_text(path, json.dumps(document, indent=2))


def remove(path: Path, for_good: bool = True) -> None:
    """Delete a file or a directory, if it is there. It is gone as a whole, and for good, before its parts are.

    Without ``for_good`` it may come back after a loss of power, as a whole or in part.

    Where the file system cannot rename it, its metadata go last: what is left of it then is still known for what it is.
    """
    if not os.path.lexists(path):
        return
    aside = temporary_name(path)
    try:
        os.replace(path, aside)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        for entry in sorted(path.iterdir(), key=lambda entry: entry.name == METADATA):
            delete(entry)
        aside = path
    if for_good:
        sync_directory(path.parent)
    delete(aside)


def delete(path: Path) -> None:
    """Delete a file, a link or a directory that nobody looks for, if it is there. What a link leads to stays."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def remove_orphans(directory: Path) -> None:
    """Remove what a killed process left under a temporary name, at any depth."""
    for parent, directories, names in os.walk(directory):
        for name in names:
            if name.endswith(TEMPORARY_SUFFIX):
                os.unlink(os.path.join(parent, name))
        for name in list(directories):
            if name.endswith(TEMPORARY_SUFFIX):
                delete(Path(parent, name))
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
