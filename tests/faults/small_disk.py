"""A small real file system to fill up."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FILLER = "filler"


def can_mount() -> bool:
    """Whether this process may mount file systems."""
    return os.geteuid() == 0 and shutil.which("mount") is not None


@contextmanager
def mounted(place: Path, size: int) -> Iterator[Path]:
    """A file system of so many bytes, for a while."""
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def leave(disk: Path, free: int) -> None:
    """Fill the file system so that so many bytes are free."""
    filler = disk / FILLER
    filler.unlink(missing_ok=True)
    size = shutil.disk_usage(disk).free - free
    if size > 0:
        with open(filler, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, size)
