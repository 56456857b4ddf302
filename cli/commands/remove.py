"""``pipeline remove``: delete jobs."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

import click

from cli.jobs import job_path
from cli.options import complete_job, jobs_directory_option
from cli.streams import note
from storage.errors import CorruptJob, InvalidInput
from storage.sizes import size


@click.command("remove", short_help="Delete jobs.")
@click.argument("jobs", metavar="JOB...", nargs=-1, required=True, shell_complete=complete_job)
@jobs_directory_option
@click.option("--yes", is_flag=True, help="Do not ask.")
def command(jobs: tuple[str, ...], jobs_dir: Path, yes: bool) -> None:
    """Delete jobs and censuses with all that they hold, after asking for each.

    Only what is a job or a census is deleted, and none that a process writes to.
    """
    from storage.files.durable import bytes_below
    from storage.jobs.job import Job
    from storage.journal import Journal

    paths = [job_path(job, jobs_dir) for job in jobs]
    for path in paths:
        # Before anything is deleted, so that a slip of the pen costs nothing.
        if not Journal.is_at(path):
            with suppress(CorruptJob):
                Job.open(path)
    for path in paths:
        if not yes:
            if not _can_ask():
                raise InvalidInput(f"{path} is deleted only after asking, and nobody can be asked", "give --yes")
            if not click.confirm(f"Delete {path} with {size(bytes_below(path))}?", err=True):
                note(f"{path} is left alone")
                continue
        if Journal.is_at(path):
            Journal.remove(path)
        else:
            Job.remove(path)


def _can_ask() -> bool:
    return sys.stdin.isatty()
