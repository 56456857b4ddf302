"""``pipeline census``: which snakes can never be unfolded."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from cli.config import config_option
from cli.failures import Ended
from cli.options import (
    JobDirectory,
    json_option,
    memory_option,
    notes_options,
    progress_option,
    scheduler_options,
    start_again_options,
    tls_options,
)
from cli.resuming import command_given, command_to_continue, one_of, stopping
from cli.streams import is_fancy, keep_libraries_quiet, note, notes_of_kernels, print_json

if TYPE_CHECKING:
    from pipeline.census.result import CensusResult


@click.command("census")
@config_option
@click.option("--n", type=int, metavar="N", required=True, help="Length of the snake.")
@click.option("--exhaustive", is_flag=True, help="Generate every shape, without pruning and without any formula.")
@click.option("--depths", is_flag=True, help="Also find how many shapes lie at each breadth-first depth.")
@click.option(
    "--collision",
    type=click.Choice(["swept", "static"]),
    default="swept",
    show_default=True,
    help="With static, shapes are counted only; that takes --exhaustive.",
)
@click.option(
    "--list",
    "listed",
    type=click.Choice(["stuck", "locked"]),
    help="Print these shapes, one a line, instead of the numbers.",
)
@click.option(
    "--job",
    type=JobDirectory(),
    metavar="PATH",
    help="Directory to keep what is finished, so that the census can be resumed; nothing is kept unless given.",
)
@start_again_options
@memory_option("Memory for the whole process, such as 2GiB or 50%; half of all unless given.")
@scheduler_options
@tls_options
@json_option("Print the result as JSON.")
@progress_option
@notes_options
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    config: Path | None,
    n: int,
    exhaustive: bool,
    depths: bool,
    collision: Literal["swept", "static"],
    listed: Literal["stuck", "locked"] | None,
    job: Path | None,
    resume: bool,
    overwrite: bool,
    workers: int | None,
    scheduler: str,
    tls_ca: Path | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    memory: int | None,
    json: bool,
    progress: bool,
    verbose: bool,
    quiet: bool,
) -> None:
    """Find the snakes that cannot be unfolded, and count the shapes that can be reached.

    A shape is stuck if it has bends and none of them can be straightened; it is locked if no moves lead from it to the
    straight snake. The search for stuck shapes skips whatever cannot become one.

    \b
    pipeline census --n 26                          in seconds
    pipeline census --n 33 --job census-33 --resume
    pipeline census --n 26 --depths                 reachable shapes at each depth
    pipeline census --n 20 --exhaustive             counts every shape
    """
    if verbose and quiet:
        raise click.UsageError("-v and -q exclude each other", ctx)
    if listed == "locked" and exhaustive:
        raise click.UsageError("an exhaustive census does not look for locked shapes; list stuck ones", ctx)
    if listed is not None and collision == "static":
        raise click.UsageError("with collision static, shapes are counted only; there is nothing to list", ctx)
    resume, overwrite = one_of(ctx, resume, overwrite)
    if job is None and (resume or overwrite):
        wanted = "resume" if resume else "overwrite"
        raise click.UsageError(f"--{wanted} takes --job; without it nothing is kept", ctx)

    # Signals are caught before the libraries are imported, which takes longer than anything else in a short census.
    with stopping(is_fancy(sys.stderr)) as stop:
        from cli.census_progress import CensusProgress
        from pipeline.census.census import Census
        from pipeline.running.settings import Tls
        from storage.errors import Stopped

        observer = CensusProgress(progress, quiet)
        tls = Tls(tls_ca, tls_cert, tls_key)
        census = Census(
            n, exhaustive, collision, scheduler, workers, job, observer, tls=tls, depths=depths, memory=memory
        )
        keep_libraries_quiet(verbose)
        stop.tell(census.stop)
        try:
            with observer.display, notes_of_kernels(observer.message):
                result = census.run(resume, overwrite, command_given(ctx))
        except Stopped:
            if job is None:
                note("stopped; nothing was kept (--job keeps what is finished)")
            else:
                note("stopped; what is done so far is on disk. Continue with")
                with suppress(OSError):
                    click.echo(f"  {command_to_continue(ctx)}", err=True)
            raise Ended(stop.exit_code) from None
    _print(result, listed, json)


def _print(result: CensusResult, listed: Literal["stuck", "locked"] | None, json: bool) -> None:
    shapes = result.stuck_shapes if listed == "stuck" else result.locked_shapes
    if json:
        document = result.document()
        if listed is not None:
            document[f"{listed}_shapes"] = list(shapes)
        print_json(document)
        return
    if listed is not None:
        for shape in shapes:
            click.echo(shape)
        return
    from cli.tables import print_table

    document = result.document()
    if result.bends is not None:
        print_table(["bends", "shapes"], list(enumerate(result.bends)), ["total", result.shapes])
    if result.states is not None:
        print_table(["depth", "states"], list(enumerate(result.states)), ["total", sum(result.states)])
    columns = ("n", "shapes", "stuck", "delayed", "locked", "reachable", "nodes", "seconds")
    names = [name for name in columns if name in document]
    if result.bends is not None or result.states is not None:
        click.echo("")
    print_table(names, [[document[name] if name != "seconds" else f"{result.seconds:.1f}" for name in names]])
