"""``pipeline run``: start a search, or go on with one."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.config import config_option
from cli.failures import Ended
from cli.options import jobs_directory_option, json_option, notes_options, parameter_option, puzzle_option
from cli.puzzles import rank, searched_space
from cli.resuming import Stop, command_given, command_to_continue, stopping
from cli.sizes import Size
from cli.streams import is_fancy, note, print_json
from storage.errors import InvalidInput

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
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Directory of the job; a directory in the jobs directory, named after the search, unless given.",
)
@click.option("--resume", is_flag=True, help="Go on with the job if there is one.")
@click.option("--overwrite", is_flag=True, help="Delete the job first if there is one.")
@click.option(
    "--memory",
    type=Size(),
    metavar="SIZE",
    help="Memory for the whole process, such as 2GiB; half of all unless given.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    metavar="COUNT",
    help="Tasks at a time; one for each processor unless given.",
)
@click.option(
    "--scheduler",
    metavar="threads|sync|ADDRESS",
    default="threads",
    show_default=True,
    help="Where tasks run; ADDRESS is that of a dask.distributed scheduler.",
)
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
@click.option("--force", is_flag=True, help="Begin levels that are not expected to fit on the disk.")
@json_option("Print the table as JSON.")
@click.option(
    "--progress/--no-progress",
    default=True,
    help="Show how far the search has come: live on a terminal, otherwise in lines now and then.",
)
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
    json: bool,
    progress: bool,
    verbose: bool,
    quiet: bool,
    **settings: Any,
) -> None:
    """Count the states at each depth, or go on counting.

    \b
    pipeline run --n 17 --resume                     the snake of length 17
    pipeline run --puzzle fifteen --n 31             the 4x4 puzzle to 31 moves
    pipeline run --puzzle sliding -p rows=3 -p cols=4
    """
    if verbose and quiet:
        raise click.UsageError("-v and -q exclude each other", ctx)
    resume, overwrite = _one_of(ctx, resume, overwrite)
    space, bound = searched_space(ctx, puzzle, parameter, n, max_depth)

    from cli.progress import observer_for
    from pipeline.search import Search
    from pipeline.settings import Settings
    from pipeline.spaces.registry import short_name

    path = job if job is not None else jobs_dir / short_name(space)
    observer = observer_for(path, settings["memory"], progress=progress, verbose=verbose, quiet=quiet)
    search = Search(space, path, Settings(max_depth=bound, **settings), observer)

    if not verbose:
        # A lost cluster is reported in one line; distributed would add its own tracebacks.
        logging.getLogger("distributed.client").addFilter(lambda record: False)

    def ask() -> None:
        observer.stopping = True
        search.stop()

    with stopping(ask, is_fancy(sys.stderr)) as stop:
        from pipeline.executors import Stopped

        try:
            with observer:
                table = search.run(resume, overwrite, command_given(ctx))
        except Stopped:
            _say_how_to_continue(ctx, stop)
            raise Ended(stop.exit_code) from None
    _print(table, json)
    _compare(space, path, quiet)
    if json and table.unfinished_note and not quiet:
        note(table.unfinished_note)


def _one_of(ctx: click.Context, resume: bool, overwrite: bool) -> tuple[bool, bool]:
    """``--resume`` or ``--overwrite``, whichever was given more explicitly."""
    if resume and overwrite:
        ranks = rank(ctx, "resume"), rank(ctx, "overwrite")
        if ranks[0] == ranks[1]:
            raise InvalidInput("--resume and --overwrite exclude each other", "give one of them")
        return ranks[0] < ranks[1], ranks[1] < ranks[0]
    return resume, overwrite


def _say_how_to_continue(ctx: click.Context, stop: Stop) -> None:
    note("stopped; what is done so far is on disk. Continue with")
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
    from pipeline.verification import compare_with_reference
    from storage.job import Job

    compared = compare_with_reference(space, Job.open(path))
    if compared is not None and not quiet:
        note(f"agrees in {compared}")
