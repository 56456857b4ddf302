"""Options that several commands share, each defined once."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from cli.sizes import Size

Function = TypeVar("Function", bound=Callable[..., Any])

JOBS_DIRECTORY = Path("jobs")


def puzzle_option(default: str | None, help_text: str) -> Callable[[Function], Function]:
    """``--puzzle NAME``."""
    return click.option(
        "--puzzle",
        metavar="NAME",
        default=default,
        show_default=default is not None,
        help=help_text,
        shell_complete=complete_puzzle,
    )


def parameter_option(function: Function) -> Function:
    """``-p KEY=VALUE``, several times."""
    return click.option(
        "-p",
        "--parameter",
        "parameter",
        metavar="KEY=VALUE",
        multiple=True,
        help="A parameter of the puzzle; may be given several times.",
    )(function)


def jobs_directory_option(function: Function) -> Function:
    """``--jobs-dir DIRECTORY``."""
    return click.option(
        "--jobs-dir",
        type=click.Path(path_type=Path),
        metavar="DIRECTORY",
        default=JOBS_DIRECTORY,
        show_default=True,
        envvar="PIPELINE_JOBS_DIR",
        help="Where the jobs are.",
    )(function)


class JobDirectory(click.Path):
    """The directory of a job that may not be there yet."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if path.name and path.name != "..":
            return path
        # "." and the like have no name of their own, beside which a job could be made.
        path = path.resolve()
        if not path.name or not any((path / name).exists() for name in ("zarr.json", "journal.json")):
            self.fail(f"{value!r} is a directory that is in use, and no job; name one for the job", param, ctx)
        return path


def complete_job(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    """Names of jobs that begin like this, or paths if it has a slash, for the completion of a shell."""
    if os.sep in incomplete:
        return [CompletionItem(incomplete, type="dir")]
    directory = Path(ctx.params.get("jobs_dir") or JOBS_DIRECTORY)
    try:
        names = sorted(entry.name for entry in directory.iterdir() if entry.is_dir())
    except OSError:
        return []
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def complete_puzzle(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    """Names of puzzles that begin like this."""
    from pipeline.spaces.registry import names

    return [CompletionItem(name) for name in names() if name.startswith(incomplete)]


def job_argument(function: Function) -> Function:
    """``JOB``: the name of a job in the jobs directory, or a path."""
    return click.argument("job", metavar="JOB", shell_complete=complete_job)(jobs_directory_option(function))


def json_option(help_text: str) -> Callable[[Function], Function]:
    """``--json``."""
    return click.option("--json", is_flag=True, help=help_text)


def output_option(help_text: str) -> Callable[[Function], Function]:
    """``--output FILE``."""
    return click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help=help_text)


def work_dir_option(help_text: str) -> Callable[[Function], Function]:
    """``--work-dir DIRECTORY``."""
    return click.option("--work-dir", type=click.Path(path_type=Path), metavar="DIRECTORY", help=help_text)


def notes_options(function: Function) -> Function:
    """``-v`` and ``-q``."""
    function = click.option("-q", "--quiet", is_flag=True, help="Say nothing on standard error but errors.")(function)
    return click.option("-v", "--verbose", is_flag=True, help="Say more on standard error.")(function)


def start_again_options(function: Function) -> Function:
    """``--resume`` and ``--overwrite``."""
    function = click.option("--overwrite", is_flag=True, help="Delete the job first if there is one.")(function)
    return click.option("--resume", is_flag=True, help="Go on with the job if there is one.")(function)


def scheduler_options(function: Function) -> Function:
    """``--workers COUNT`` and ``--scheduler``."""
    function = click.option(
        "--scheduler",
        metavar="threads|sync|ADDRESS",
        default="threads",
        show_default=True,
        help="Where tasks run; ADDRESS is that of a dask.distributed scheduler.",
    )(function)
    return workers_option(function)


def workers_option(function: Function) -> Function:
    """``--workers COUNT``."""
    return click.option(
        "--workers",
        type=click.IntRange(min=1),
        metavar="COUNT",
        help="Tasks at a time; one for each processor unless given.",
    )(function)


def memory_option(help_text: str) -> Callable[[Function], Function]:
    """``--memory SIZE``."""
    return click.option("--memory", type=Size(of_memory=True), metavar="SIZE", help=help_text)


def tls_options(function: Function) -> Function:
    """``--tls-ca``, ``--tls-cert`` and ``--tls-key``, for a cluster."""
    for name, help_text in (
        ("--tls-key", "Private key of the certificate."),
        ("--tls-cert", "Certificate to show to a cluster."),
        ("--tls-ca", "Authorities that vouch for a cluster."),
    ):
        function = click.option(name, type=click.Path(path_type=Path), metavar="FILE", help=help_text)(function)
    return function


def progress_option(function: Function) -> Function:
    """``--progress`` and ``--no-progress``."""
    return click.option(
        "--progress/--no-progress",
        default=True,
        help="Show how far the search has come: live on a terminal, otherwise in lines now and then.",
    )(function)
