"""``pipeline verify``: check what a job has on disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.jobs import job_path, open_job
from cli.options import job_argument, json_option, memory_option, puzzle_option, work_dir_option
from cli.streams import note, print_json
from storage.errors import CorruptJob, InvalidInput, JobError, PipelineError

if TYPE_CHECKING:
    from pipeline.audit.damage import LevelCheck
    from pipeline.spaces.contract import StateSpace
    from storage.jobs.job import Job


@click.command("verify", short_help="Check what a job has on disk.")
@job_argument
@puzzle_option(None, "Where the puzzle is, if it is not installed, such as ./my.py:Class.")
@click.option("--deep", is_flag=True, help="Also make a level again from the one before, and compare.")
@click.option(
    "--depth",
    type=click.IntRange(min=1),
    metavar="DEPTH",
    help="The level for --deep; the last one with states unless given.",
)
@click.option("--repair", is_flag=True, help="Make again what is damaged, from the level before it.")
@memory_option("Memory for the whole process with --deep or --repair, such as 2GiB or 50%; half of all unless given.")
@work_dir_option("Where --deep makes the level; beside the job unless given.")
@json_option("Print a JSON document.")
@click.pass_context
def command(
    ctx: click.Context,
    job: str,
    jobs_dir: Path,
    puzzle: str | None,
    deep: bool,
    depth: int | None,
    repair: bool,
    memory: int | None,
    work_dir: Path | None,
    json: bool,
) -> None:
    """Check a job: every chunk, order, repetitions, ranges, digests, and the counts that are known.

    All that is damaged is listed with its place; any difference ends in an exit code other than 0.
    """
    if depth is not None and not deep:
        raise click.UsageError("--depth goes with --deep", ctx)
    document: dict[str, Any] = {"ok": False, "levels": [], "damage": [], "compared": None, "expanded": None}
    if repair:
        document["repaired"] = _restore_attributes(job, jobs_dir)
    opened, space = open_job(job, jobs_dir, puzzle)
    document["job"] = str(opened.path)
    if deep:
        # Before the long part.
        depth = depth if depth is not None else _default_depth(opened)
        if depth is not None:
            _check_can_expand(opened, depth)
    try:
        for line in _check(opened, space, deep, depth, repair, memory, work_dir, document):
            if not json:
                click.echo(line)
        document["ok"] = True
    except PipelineError as error:
        document["error"] = str(error)
        raise
    finally:
        if json:
            print_json(document)


def _restore_attributes(job: str, jobs_directory: Path) -> list[dict[str, Any]]:
    """Restore what has to be whole before a job can be opened at all."""
    from storage.jobs.restoring import restore_attributes

    path = job_path(job, jobs_directory)
    if not restore_attributes(path):
        return []
    return [{"repaired": True, "message": f"{path / 'zarr.json'}: restored from the ledger"}]


def _check(
    job: Job,
    space: StateSpace,
    deep: bool,
    depth: int | None,
    repair: bool,
    memory: int | None,
    work_dir: Path | None,
    document: dict[str, Any],
) -> Iterator[str]:
    """Check step by step, yielding what was found and filling in the document."""
    from pipeline.audit.verification import compare_with_reference, verify_expansion

    if repair:
        yield from _repair(job, space, memory, document)
    read = 0
    for found in _examine(job, space, document):
        read += found.keys if found.read else 0
        how = f"{found.keys} keys read" if found.read else "deleted by --keep frontier, the manifest alone was checked"
        yield f"level {found.depth}: {found.states} states, {how}"
    damage = document["damage"]
    yield from (f"damaged: {entry['message']}" for entry in damage)
    if damage:
        raise CorruptJob(_sentence(job, damage), None if repair else "'pipeline verify --repair' repairs what it can")
    yield f"{len(document['levels'])} levels are as they were committed, {read} keys read"
    document["compared"] = compare_with_reference(space, job)
    if document["compared"] is not None:
        yield f"the counts agree: {document['compared']}"
    else:
        yield "no known counts to compare with"
    if not deep:
        return
    if depth is None:
        yield "no level after the root to expand again"
        return
    verify_expansion(space, job, depth, memory, work_dir)
    document["expanded"] = depth
    yield f"level {depth} comes out the same when level {depth - 1} is expanded again"


def _repair(job: Job, space: StateSpace, memory: int | None, document: dict[str, Any]) -> Iterator[str]:
    """Repair, and say what became of everything that was damaged."""
    from pipeline.audit.repair import repair

    yield from (f"repaired: {entry['message']}" for entry in document["repaired"])
    for outcome in repair(space, job, memory, note):
        document["repaired"].append({"repaired": outcome.repaired, "message": outcome.message})
        yield f"repaired: {outcome.message}" if outcome.repaired else outcome.message
    if not document["repaired"]:
        yield "nothing to repair"


def _examine(job: Job, space: StateSpace, document: dict[str, Any]) -> Iterator[LevelCheck]:
    """Examine all of the job; yields the levels that are whole."""
    from pipeline.audit.damage import Damage, examine

    for found in examine(space, job):
        if isinstance(found, Damage):
            place = {"depth": found.depth, "partition": found.partition, "file": str(found.path)}
            document["damage"].append({"what": found.what, **place, "message": found.message})
            continue
        document["levels"].append(
            {"depth": found.depth, "states": found.states, "keys": found.keys, "read": found.read}
        )
        yield found


def _sentence(job: Job, damage: list[dict[str, Any]]) -> str:
    first: str = damage[0]["message"]
    return first if len(damage) == 1 else f"{len(damage)} things are damaged in {job.path}, the first: {first}"


def _default_depth(job: Job) -> int | None:
    """The last level with states; the level after the root if there is none but that."""
    manifests = job.manifests()
    last = max((manifest.depth for manifest in manifests if manifest.keys), default=0)
    return last or (1 if len(manifests) > 1 else None)


def _check_can_expand(job: Job, depth: int) -> None:
    """Refuse a level whose predecessors are not on disk.

    Raises
    ------
    InvalidInput, JobError
    """
    manifests = job.manifests()
    if depth >= len(manifests):
        raise InvalidInput(f"{job.path} has no level of depth {depth}", f"it has the depths 0 to {len(manifests) - 1}")
    needed = {depth - 1, depth - 2} if depth > 1 else {0}
    gone = sorted(earlier for earlier in needed if not manifests[earlier].arrays_kept)
    if gone:
        raise JobError(
            f"level {depth} of {job.path} cannot be made again: the states of depth {gone[-1]} were deleted by "
            "--keep frontier",
            "leave --deep out, or search with --keep all",
        )
