"""What tests ask of jobs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from storage.jobs.job import Job

Summary = list[tuple[int, int, int, int]]


def summary(path: Path) -> Summary:
    """Depth, keys, states and digest of every level: what must never depend on how a search ran."""
    return [(entry.depth, entry.keys, entry.states, entry.digest) for entry in Job.open(path).manifests()]


def keys_at(job: Job, depth: int) -> np.ndarray:
    """All keys of a level."""
    level = job.level(depth)
    blocks = [block for partition in level.manifest.partitions for block in level.read(partition)]
    return np.concatenate([np.empty(0, dtype=np.uint64), *blocks])


def leftovers(path: Path) -> list[str]:
    """What a finished job should not contain: temporary names, and work on levels."""
    found = [str(entry) for entry in path.rglob("*") if entry.name.endswith(".partial")]
    return found + [str(entry) for entry in (path / "work").iterdir() if entry.name != "zarr.json"]
