"""What control groups of Linux allow this process: memory and processor time, of its own group and all groups above.

Both versions are read. A group's files lie below the mount point under the path that ``/proc/self/cgroup`` names; in a
container that path may be one that only the host knows, so whatever part of it is not there is passed over.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

ROOT = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")


def memory_limit(root: Path = ROOT, membership: Path = MEMBERSHIP) -> int | None:
    """Bytes that this process may use; None if no group says.

    Parameters
    ----------
    root : Path
        Where control groups are mounted.
    membership : Path
        The file that names this process's groups.
    """
    limits = [_number(group / "memory.max") for group in _groups(root, membership, None)]
    # Beyond this the kernel slows a process down until it hardly runs.
    limits += [_number(group / "memory.high") for group in _groups(root, membership, None)]
    limits += [_number(group / "memory.limit_in_bytes") for group in _groups(root, membership, "memory")]
    known = [limit for limit in limits if limit is not None]
    return min(known, default=None)


def processor_limit(root: Path = ROOT, membership: Path = MEMBERSHIP) -> int | None:
    """Processors whose time this process may use, rounded up; None if no group says."""
    shares = [_share(_words(group / "cpu.max")) for group in _groups(root, membership, None)]
    for group in _groups(root, membership, "cpu"):
        shares.append(_share([*_words(group / "cpu.cfs_quota_us"), *_words(group / "cpu.cfs_period_us")]))
    known = [share for share in shares if share is not None]
    return max(1, math.ceil(min(known))) if known else None


def _groups(root: Path, membership: Path, controller: str | None) -> Iterator[Path]:
    """Directories of the process's group and of all above it.

    Parameters
    ----------
    root, membership : Path
    controller : str or None
        One of version 1; None for version 2, which has a single tree.
    """
    try:
        lines = membership.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    paths = []
    for line in lines:
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if (number == "0" and not controllers) if controller is None else controller in controllers.split(","):
            paths.append(path)
    # A mixed system has version 2 in a directory of its own.
    mounts = [root, root / "unified"] if controller is None else [root / controller]
    for mount in mounts:
        for path in paths or ["/"]:
            parts = [part for part in PurePosixPath(path).parts if part not in ("/", "..")]
            for length in range(len(parts), -1, -1):
                yield mount.joinpath(*parts[:length])


def _words(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return []


def _number(path: Path) -> int | None:
    words = _words(path)
    return int(words[0]) if len(words) == 1 and words[0].isdecimal() else None


def _share(words: list[str]) -> float | None:
    """Processors that a quota and a period, both in microseconds, come to."""
    if len(words) != 2 or not all(word.isdecimal() for word in words) or 0 in (numbers := list(map(int, words))):
        return None
    return numbers[0] / numbers[1]
