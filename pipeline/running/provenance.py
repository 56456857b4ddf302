"""What made a job: versions, command and start time, kept in it for those who read it later."""

from __future__ import annotations

import platform
import sys
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

DISTRIBUTIONS = ("frontier-pipeline", "numpy", "numba", "zarr", "blosc2", "dask")


def provenance(command: str | None) -> dict[str, Any]:
    """Versions of everything that matters, the command (that of this process unless given) and the time."""
    versions = {"python": platform.python_version()}
    versions.update({name: version_of(name) for name in DISTRIBUTIONS})
    return {
        "versions": versions,
        "command": command if command is not None else " ".join(sys.argv),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def version_of(distribution: str) -> str:
    """Version of an installed distribution."""
    with suppress(PackageNotFoundError):
        return version(distribution)
    return "unknown"
