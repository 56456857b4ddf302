"""Reading files of a job, which may be anybody's: ordinary files only, not through a link, not more than expected.

A link may lead anywhere, a pipe may never end, and a hole in a file may be larger than the memory.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

# The metadata of a level with hundreds of thousands of partitions take less.
MOST_DOCUMENT_BYTES = 1 << 26
# What reading and checking a document raises.
DAMAGED = (OSError, ValueError, KeyError, TypeError, AttributeError)


def open_file(path: Path) -> int:
    """Descriptor of an ordinary file, to be closed by the caller.

    Raises
    ------
    OSError
        If there is none, or something else has its name.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "it is no ordinary file", str(path))


def read_file(path: Path, most: int) -> bytes:
    """Content of an ordinary file.

    Parameters
    ----------
    path : Path
    most : int
        Bytes that it may have.

    Raises
    ------
    OSError
    ValueError
        If it is larger.
    """
    descriptor = open_file(path)
    with open(descriptor, "rb") as file:
        size = os.fstat(descriptor).st_size
        if size > most:
            raise ValueError(f"it has {size} bytes where at most {most} are expected")
        return file.read()


def read_json(path: Path) -> Any:
    """Content of a JSON file.

    Raises
    ------
    OSError
    ValueError
        If it is something else, larger or deeper than a document of a job, or has numbers that JSON does not have.
    """
    try:
        return json.loads(read_file(path, MOST_DOCUMENT_BYTES).decode(), parse_constant=_refuse_number)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _refuse_number(text: str) -> None:
    raise ValueError(f"{text} is no number of JSON")


def refuse_links(*directories: Path) -> None:
    """Make sure that none of some directories is a link.

    Raises
    ------
    OSError
        With the first one that is.
    """
    for directory in directories:
        if directory.is_symlink():
            raise OSError(errno.ELOOP, "it is a link", str(directory))


def remove_links(directory: Path) -> None:
    """Remove all links below a directory; what they lead to stays."""
    for parent, directories, names in os.walk(directory):
        for name in (*directories, *names):
            path = Path(parent, name)
            if path.is_symlink():
                path.unlink()
