"""Doing to files what bad sectors and mishaps do."""

from __future__ import annotations

import random
from pathlib import Path

KINDS = ("flip", "truncate", "remove", "empty", "swap", "overwrite")


def files_of(job: Path) -> list[Path]:
    """All files of a job, relative to it."""
    return sorted(path.relative_to(job) for path in job.rglob("*") if path.is_file())


def kind_of(path: Path) -> str:
    """Files of one kind look alike: chunks, metadata, spills, plans."""
    return "chunk" if path.parent.name == "c" else path.suffix


def damage(job: Path, path: Path, kind: str, seed: int) -> bool:
    """Damage a file of a job; returns whether anything is different from before.

    Parameters
    ----------
    job, path : Path
        The job, and the file relative to it.
    kind : str
        One of ``KINDS``; ``swap`` exchanges it with another file of its kind, ``overwrite`` puts that in its place.
    seed : int
        For the place of the damage.
    """
    generator = random.Random(f"{path} {kind} {seed}")
    place = job / path
    before = place.read_bytes()
    if kind == "remove":
        place.unlink()
        return True
    if kind in ("swap", "overwrite"):
        others = [other for other in files_of(job) if other != path and kind_of(other) == kind_of(path)]
        others = [other for other in others if (job / other).read_bytes() != before]
        if not others:
            return False
        # Rather one of the same size: nothing but the content tells them apart.
        same = [other for other in others if (job / other).stat().st_size == len(before)]
        other = job / generator.choice(same or others)
        if kind == "swap":
            content = other.read_bytes()
            other.write_bytes(before)
            place.write_bytes(content)
        else:
            place.write_bytes(other.read_bytes())
        return True
    if kind == "flip":
        data = bytearray(before)
        bit = generator.randrange(8 * len(data))
        data[bit // 8] ^= 1 << bit % 8
        place.write_bytes(data)
    elif kind == "truncate":
        place.write_bytes(before[: generator.randrange(len(before))])
    else:
        place.write_bytes(b"")
    return True
