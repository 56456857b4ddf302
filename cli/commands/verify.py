"""``pipeline verify``: check what a job has on disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.jobs import open_job
from cli.options import job_argument, json_option
from cli.sizes import Size
from cli.streams import print_json
from storage.errors import InvalidInput, JobError, PipelineError

if TYPE_CHECKING:
    from pipeline.spaces.contract import StateSpace
    from storage.job import Job


@click.command("verify", short_help="Check what a job has on disk.")
@job_argument
@click.option("--deep", is_flag=True, help="Also make a level again from the one before, and compare.")
@click.option(
    "--depth",
    type=click.IntRange(min=1),
    metavar="DEPTH",
    help="The level for --deep; the last one with states unless given.",
)
@click.option("--memory", type=Size(), metavar="SIZE", help="Memory for --deep; half of all unless given.")
@json_option("Print a JSON document.")
@click.pass_context
def command(
    ctx: click.Context, job: str, jobs_dir: Path, deep: bool, depth: int | None, memory: int | None, json: bool
) -> None:
    """Check a job: every chunk, order, repetitions, ranges, digests, and the counts that are known.

    The first difference ends the check with its place and an exit code other than 0.
    """
    if depth is not None and not deep:
        raise click.UsageError("--depth goes with --deep", ctx)
    opened, space = open_job(job, jobs_dir)
    if deep:
        # Before the long part.
        depth = depth if depth is not None else _default_depth(opened)
        if depth is not None:
            _check_can_expand(opened, depth)
    document: dict[str, Any] = {"job": str(opened.path), "ok": False, "levels": [], "compared": None, "expanded": None}
    try:
        for line in _check(opened, space, deep, depth, memory, document):
            if not json:
                click.echo(line)
        document["ok"] = True
    except PipelineError as error:
        document["error"] = str(error)
        raise
    finally:
        if json:
            print_json(document)


def _check(
    job: Job, space: StateSpace, deep: bool, depth: int | None, memory: int | None, document: dict[str, Any]
) -> Iterator[str]:
    """Check step by step, yielding what was found and filling in the document."""
    from pipeline.verification import compare_with_reference, verify_expansion, verify_levels

    read = 0
    for check in verify_levels(space, job):
        read += check.keys if check.read else 0
        document["levels"].append(
            {"depth": check.depth, "states": check.states, "keys": check.keys, "read": check.read}
        )
        how = f"{check.keys} keys read" if check.read else "deleted by --keep frontier, the manifest alone was checked"
        yield f"level {check.depth}: {check.states} states, {how}"
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
    verify_expansion(space, job, depth, memory)
    document["expanded"] = depth
    yield f"level {depth} comes out the same when level {depth - 1} is expanded again"


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
