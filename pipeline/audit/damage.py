"""Everything that is wrong with a job on disk, with its place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pipeline.level.check import check_manifest, check_partition
from pipeline.spaces.contract import StateSpace
from storage.errors import CorruptJob, CorruptSpill
from storage.files.reading import DAMAGED
from storage.files.sealed import read_group
from storage.jobs.job import LEVEL_NAME, LEVELS, WORK, Job
from storage.jobs.ledger import ESSENTIAL, Ledger
from storage.jobs.restoring import check_work
from storage.jobs.working import WorkingLevel
from storage.keys.partition import MOST_MISSING
from storage.records import Manifest, to_json

What = Literal["ledger", "work", "manifest", "partition", "plan", "spill", "working partition"]


@dataclass(frozen=True)
class LevelCheck:
    """A level that was found as its manifest says."""

    depth: int
    keys: int
    states: int
    read: bool


@dataclass(frozen=True)
class Damage:
    """Something that is not as it was written.

    Attributes
    ----------
    what : str
        What kind of thing it is.
    message : str
        What is wrong, with level, partition and file.
    path : Path
        The file, or the directory if no single file can be blamed.
    depth : int, optional
    partition : str, optional
    """

    what: What
    message: str
    path: Path
    depth: int | None = None
    partition: str | None = None


def examine(space: StateSpace, job: Job) -> Iterator[LevelCheck | Damage]:
    """Read all of a job.

    Yields
    ------
    LevelCheck or Damage
        For each level that is whole a check, ``read`` being False if its arrays were deleted by ``--keep frontier``;
        otherwise all that is wrong with it.
    """
    yield from _examine_groups(job)
    ledger = whole_ledger(job)
    for depth in range(levels_expected(job)):
        found = list(examine_level(space, job, depth, ledger))
        yield from found
        if not found:
            manifest = job.level(depth).manifest
            yield LevelCheck(depth, manifest.keys, manifest.states, manifest.arrays_kept)
    yield from _examine_work(job)


def levels_expected(job: Job) -> int:
    """Levels that are there, in whatever condition, or that the ledger misses."""
    found = sorted(int(entry.name) for entry in (job.path / LEVELS).iterdir() if LEVEL_NAME.fullmatch(entry.name))
    ledger = whole_ledger(job)
    if ledger is not None:
        return job.levels_after(len(ledger.committed), set(found))
    # Nothing says how many there are. What its manifest says is a level; of one that cannot be read its place must do.
    levels = 0
    for depth in found:
        # A number alone is no reason to look for millions of levels before it.
        if depth > len(found) + MOST_MISSING:
            break
        try:
            manifest = job.level(depth).manifest
        except CorruptJob:
            levels += depth == levels and not job.is_copy(depth)
            continue
        levels = depth + 1
        if not manifest.keys:
            break
    return levels


def _examine_groups(job: Job) -> Iterator[Damage]:
    """The metadata of the groups that are no levels."""
    levels = job.path / LEVELS / "zarr.json"
    try:
        read_group(levels, job.sealed)
        ledger = job.ledger()
        entered = 0 if ledger is None else len(ledger.committed)
        if ledger is not None and job.levels_after(entered, set(job.depths_found())) > entered + 1:
            raise ValueError(f"they lack level {entered}, and it is not the last one")
    except CorruptJob as error:
        yield Damage("ledger", error.message, levels)
    except DAMAGED as error:
        yield Damage("ledger", f"the metadata of the levels ({levels}) are damaged ({error})", levels)
    work = job.path / WORK / "zarr.json"
    try:
        check_work(job)
    except DAMAGED as error:
        yield Damage("work", f"the metadata of the directory for work ({work}) are damaged ({error})", work)


def whole_ledger(job: Job) -> Ledger | None:
    """The ledger, if there is one and it is whole."""
    try:
        return job.ledger()
    except CorruptJob:
        return None


def examine_level(space: StateSpace, job: Job, depth: int, ledger: Ledger | None) -> Iterator[Damage]:
    """All that is wrong with a level: its manifest alone, or else its partitions."""
    path = job.level_path(depth) / "zarr.json"
    try:
        level = job.level(depth)
        check_manifest(level)
        _compare_with_ledger(job, depth, level.manifest, ledger)
    except CorruptJob as error:
        yield Damage("manifest", error.message, path, depth)
        return
    if not level.manifest.arrays_kept:
        return
    for record in level.manifest.partitions:
        try:
            check_partition(space, level, record)
        except CorruptJob as error:
            for each in level.damage(record) or [error]:
                place = each.path or level.path / record.name
                yield Damage("partition", each.message, place, depth, record.name)


def _compare_with_ledger(job: Job, depth: int, manifest: Manifest, ledger: Ledger | None) -> None:
    """Compare a manifest with the ledger, if that is whole and has it."""
    if ledger is None or depth >= len(ledger.committed):
        return
    ours, theirs = to_json(manifest), to_json(ledger.committed[depth])
    for name in ESSENTIAL:
        if ours[name] != theirs[name]:
            raise CorruptJob(
                f"the manifest of level {depth} ({job.level_path(depth) / 'zarr.json'}) says {name} {ours[name]}, "
                f"the ledger says {theirs[name]}"
            )


def _examine_work(job: Job) -> Iterator[Damage]:
    """What is finished of the level that is being made; a search that is running may take it away meanwhile."""
    for entry in sorted((job.path / WORK).glob("[0-9]*")):
        if LEVEL_NAME.fullmatch(entry.name) and entry.is_dir() and not entry.is_symlink():
            yield from _examine_working_level(job, job.working_level(int(entry.name)))


def _examine_working_level(job: Job, work: WorkingLevel) -> Iterator[Damage]:
    place = f"of level {work.depth}, which is being made,"
    try:
        work.read_plan()
    except FileNotFoundError:
        return
    except DAMAGED as error:
        message = f"the plan {place} ({work.plan_path}) is damaged ({error})"
        yield Damage("plan", message, work.plan_path, work.depth)
    for directory in (work.path / "spills", work.partitions):
        if directory.is_symlink():
            yield Damage("plan", f"{directory}, {place} is a link, and a job has none", directory, work.depth)
            return
    if (work.path / "spills").is_dir():
        spills = work.spills()
        for path in spills.files():
            try:
                spills.check(path)
            except CorruptSpill as error:
                if path.exists():
                    yield Damage("spill", f"level {work.depth}: {error.message}", path, work.depth)
            except FileNotFoundError:
                continue
    for path in sorted(work.partitions.glob("[0-9]*")):
        if not LEVEL_NAME.fullmatch(path.name):
            continue
        try:
            work.read_record(path.name)
        except DAMAGED as error:
            if path.exists():
                message = f"the partition {path.name} {place} ({path / 'zarr.json'}) is damaged ({error})"
                yield Damage("working partition", message, path, work.depth, path.name)
