"""``pipeline run``: start a search, or go on with one."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.config import config_option
from cli.failures import Ended
from cli.options import (
    JobDirectory,
    jobs_directory_option,
    json_option,
    memory_option,
    notes_options,
    parameter_option,
    progress_option,
    puzzle_option,
    scheduler_options,
    start_again_options,
    tls_options,
    work_dir_option,
)
from cli.puzzles import searched_space
from cli.resuming import Stop, command_given, command_to_continue, one_of, stopping
from cli.sizes import Duration, Size, duration
from cli.streams import is_fancy, keep_libraries_quiet, note, notes_of_kernels, print_json

if TYPE_CHECKING:
    from pipeline.spaces.contract import StateSpace
    from pipeline.table import Table


@click.command("run")
@config_option
@puzzle_option("snake", "What to search: snake, sliding, fifteen, or a puzzle that another package adds.")
@parameter_option
@click.option("--n", type=int, metavar="N", help="Length of the snake; for other puzzles the last depth to search.")
@click.option("--max-depth", type=int, metavar="DEPTH", help="Last depth to search; to the end unless given.")
@jobs_directory_option
@click.option(
    "--job",
    type=JobDirectory(),
    metavar="PATH",
    help="Directory of the job; a directory in the jobs directory, named after the search, unless given.",
)
@start_again_options
@memory_option("Memory for the whole process, such as 2GiB or 50%; half of all unless given.")
@scheduler_options
@tls_options
@click.option(
    "--keep",
    type=click.Choice(["all", "frontier"]),
    default="all",
    show_default=True,
    help="Levels whose states stay on disk: all, or those that the search still needs.",
)
@click.option(
    "--max-disk",
    type=Size(),
    metavar="SIZE",
    help="Quota of the job's directory, spills included, such as 500GiB; the whole disk unless given.",
)
@click.option(
    "--max-time",
    type=Duration(),
    metavar="TIME",
    help="Stop at the next safe point after this time, such as 2h or 1:30:00, with exit code 124.",
)
@work_dir_option("Where levels are made, such as a faster disk; in the job unless given.")
@click.option("--force", is_flag=True, help="Begin levels that are not expected to fit on the disk.")
@json_option("Print the table as JSON.")
@progress_option
@notes_options
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    config: Path | None,
    puzzle: str,
    parameter: tuple[str, ...],
    n: int | None,
    max_depth: int | None,
    jobs_dir: Path,
    job: Path | None,
    resume: bool,
    overwrite: bool,
    max_time: float | None,
    json: bool,
    progress: bool,
    verbose: bool,
    quiet: bool,
    tls_ca: Path | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    **settings: Any,
) -> None:
    """Count the states at each depth, or go on counting.

    \b
    pipeline run --n 17 --resume                     the snake of length 17
    pipeline run --puzzle fifteen --n 31             the 4x4 puzzle to 31 moves
    pipeline run --puzzle sliding -p rows=3 -p cols=4

    \b
    Parameters of the puzzles (-p):
      snake         n, collision=swept|static, start
      sliding       rows, cols, blank
      fifteen       blank
      permutations  family, size and others, see docs/command-line.md
    """
    if verbose and quiet:
        raise click.UsageError("-v and -q exclude each other", ctx)
    resume, overwrite = one_of(ctx, resume, overwrite)
    started = time.monotonic()
    # Signals are caught before the libraries are imported, which takes a second.
    with stopping(is_fancy(sys.stderr), max_time) as stop:
        space, bound = searched_space(ctx, puzzle, parameter, n, max_depth)

        from cli.progress import SearchProgress
        from pipeline.running.settings import Settings, Tls
        from pipeline.search import Search
        from pipeline.spaces.registry import short_name
        from storage.errors import Stopped

        path = job if job is not None else jobs_dir / short_name(space)
        observer = SearchProgress(path, settings["memory"], progress=progress, verbose=verbose, quiet=quiet)
        search = Search(
            space, path, Settings(max_depth=bound, tls=Tls(tls_ca, tls_cert, tls_key), **settings), observer
        )

        keep_libraries_quiet(verbose)

        def ask() -> None:
            observer.display.warn("stopping at the next safe point; Ctrl-C again ends at once")
            search.stop()

        stop.tell(ask)
        try:
            with observer.display, notes_of_kernels(observer.message):
                table = search.run(resume, overwrite, command_given(ctx))
        except Stopped:
            _say_how_to_continue(ctx, stop)
            raise Ended(stop.exit_code) from None
    _print(table, json)
    _compare(space, path, quiet)
    if not quiet:
        note(f"the job is in {path}; this took {duration(time.monotonic() - started)}")
    if json and table.unfinished_note and not quiet:
        note(table.unfinished_note)


def _say_how_to_continue(ctx: click.Context, stop: Stop) -> None:
    note(f"{stop.reason}; what is done so far is on disk. Continue with")
    with suppress(OSError):
        click.echo(f"  {command_to_continue(ctx)}", err=True)


def _print(table: Table, json: bool) -> None:
    if json:
        print_json(table.document())
        return
    from cli.tables import print_table

    columns = table.columns()
    rows = list(zip(*columns.values(), strict=True))
    empty = [""] * (len(columns) - 2)
    print_table(list(columns), rows, ["total", table.total, *empty])
    if table.unfinished_note:
        click.echo(table.unfinished_note)


def _compare(space: StateSpace, path: Path, quiet: bool) -> None:
    from pipeline.audit.verification import compare_with_reference
    from storage.jobs.job import Job

    compared = compare_with_reference(space, Job.open(path))
    if compared is not None and not quiet:
        note(f"agrees in {compared}")
