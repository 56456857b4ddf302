"""``pipeline inspect``: what a job holds, and single states of it."""

from __future__ import annotations

from collections.abc import Iterator
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.jobs import open_directory, open_job, space_if_known
from cli.options import job_argument, json_option, memory_option, puzzle_option
from cli.streams import print_json

if TYPE_CHECKING:
    from pipeline.spaces.contract import StateSpace
    from storage.jobs.job import Job
    from storage.jobs.level import Level
    from storage.records import Manifest


@click.command("inspect")
@job_argument
@puzzle_option(None, "Where the puzzle is, if it is not installed, such as ./my.py:Class.")
@click.option("--depth", type=click.IntRange(min=0), metavar="DEPTH", help="A single level, with its partitions.")
@click.option(
    "--sample", type=click.IntRange(min=0), metavar="COUNT", help="Print states of a level, chosen at random."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the random choice.")
@click.option(
    "--head", type=click.IntRange(min=0), metavar="COUNT", help="Print the states of a level that come first."
)
@click.option("--find", metavar="STATE", help="Say at which depth a state is.")
@memory_option("Memory for the whole process with --sample or --head, such as 2GiB or 50%; half of all unless given.")
@json_option("Print a JSON document.")
@click.pass_context
def command(
    ctx: click.Context,
    job: str,
    jobs_dir: Path,
    puzzle: str | None,
    depth: int | None,
    sample: int | None,
    seed: int,
    head: int | None,
    find: str | None,
    memory: int | None,
    json: bool,
) -> None:
    """Look into a job: its parameters and levels, or single states.

    --sample and --head print one state a line, of the level that --depth names or else of the deepest one on disk.
    """
    if sum(choice is not None for choice in (sample, head, find)) > 1:
        raise click.UsageError("--sample, --head and --find exclude each other", ctx)
    if find is not None and depth is not None:
        raise click.UsageError("--find looks at every depth; leave --depth out", ctx)
    if find is None and sample is None and head is None:
        opened = open_directory(job, jobs_dir)
        # Refuses what this version cannot read; the puzzle of another package may be gone.
        space_if_known(opened)
        _print_overview(opened, depth, json)
        return
    opened, space = open_job(job, jobs_dir, puzzle)
    if find is not None:
        _find(opened, space, find, json)
    else:
        _print_states(opened, space, depth, sample, seed, head, memory, json)


def _find(job: Job, space: StateSpace, text: str, json: bool) -> None:
    from pipeline.inspection import depth_of
    from pipeline.spaces.guards import asking

    with asking(space, text):
        state = space.parse(text)
        depth = depth_of(space, job, state)
    manifests = [manifest for manifest in job.manifests() if manifest.keys]
    deleted = [manifest.depth for manifest in manifests if not manifest.arrays_kept]
    complete = _is_complete(job)
    if json:
        searched = [manifest.depth for manifest in manifests if manifest.arrays_kept]
        print_json({"state": space.format(state), "depth": depth, "searched": searched, "complete": complete})
        return
    if depth is not None:
        click.echo(f"{space.format(state)} is at depth {depth}")
        return
    kept = [manifest.depth for manifest in manifests if manifest.arrays_kept]
    sentence = f"{space.format(state)} is not in any level that was searched ({_depths(kept)})"
    if deleted:
        sentence += f"; the states of {_depths(deleted)} were deleted by --keep frontier and cannot be looked at"
    elif complete:
        sentence += "; the search is complete, so the state cannot be reached"
    else:
        sentence += "; the search is unfinished, the state may lie deeper"
    click.echo(sentence)


def _depths(depths: list[int]) -> str:
    """Depths without gaps, in words."""
    if not depths:
        return "none is on disk"
    return f"depth {depths[0]}" + (f" to {depths[-1]}" if len(depths) > 1 else "")


def _print_states(
    job: Job,
    space: StateSpace,
    depth: int | None,
    sample: int | None,
    seed: int,
    head: int | None,
    memory: int | None,
    json: bool,
) -> None:
    from pipeline.inspection import first_keys, lines_of, sampled_keys, sampling_bytes
    from pipeline.running.memory import check_memory, reading_bytes

    level = _level_of_states(job, depth)
    count = sample or 0
    choosing = sampling_bytes(level.manifest.keys, count) if head is None else 0
    check_memory(memory, reading_bytes() + choosing)
    blocks = first_keys(level, head) if head is not None else sampled_keys(level, count, seed)
    lines = lines_of(space, level, blocks)
    if json:
        _print_states_as_json(level.manifest.depth, lines)
        return
    for some in lines:
        click.echo(some, nl=False)


def _print_states_as_json(depth: int, lines: Iterator[bytes]) -> None:
    """A JSON document on one line, piece by piece: there may be more states than fit in memory."""
    click.echo(f'{{"depth": {depth}, "states": [', nl=False)
    separator = ""
    for some in lines:
        click.echo(separator + dumps(some.decode().split("\n")[:-1])[1:-1], nl=False)
        separator = ", "
    click.echo("]}")


def _level_of_states(job: Job, depth: int | None) -> Level:
    from pipeline.inspection import level_with_arrays

    if depth is None:
        depths = [manifest.depth for manifest in job.manifests() if manifest.keys]
        kept = [manifest.depth for manifest in job.manifests() if manifest.keys and manifest.arrays_kept]
        depth = max(kept or depths, default=0)
    return level_with_arrays(job, depth)


def _is_complete(job: Job) -> bool:
    manifests = job.manifests()
    return bool(manifests) and manifests[-1].keys == 0


def _print_overview(job: Job, depth: int | None, json: bool) -> None:
    from cli.overview import document_of, print_overview

    manifests: list[Manifest] = job.manifests()
    if depth is not None:
        manifests = [_manifest_of(job, manifests, depth)]
    document: dict[str, Any] = document_of(job, manifests, _is_complete(job), with_partitions=depth is not None)
    if json:
        print_json(document)
    else:
        print_overview(document)


def _manifest_of(job: Job, manifests: list[Manifest], depth: int) -> Manifest:
    from storage.errors import InvalidInput

    if depth >= len(manifests):
        known = f"it has the depths 0 to {len(manifests) - 1}" if manifests else "no level is done yet"
        raise InvalidInput(f"{job.path} has no level of depth {depth}", known)
    return manifests[depth]
