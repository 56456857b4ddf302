"""``pipeline export``: the table of a job in a form for other programs."""

from __future__ import annotations

from pathlib import Path

import click

from cli.jobs import open_directory, space_if_known
from cli.options import job_argument, output_option
from cli.streams import check_output, note, write_output


@click.command("export")
@job_argument
@click.option(
    "-f", "--format", metavar="csv|json|markdown|bfile", required=True, help="bfile is the layout of the OEIS."
)
@output_option("Write to a file, in one step; to standard output unless given.")
def command(job: str, jobs_dir: Path, format: str, output: Path | None) -> None:
    """Write the table of states at each depth."""
    check_output(output)
    opened = open_directory(job, jobs_dir)

    from pipeline.table import Table

    table = Table.of(space_if_known(opened), opened)
    write_output(output, table.write(format).encode())
    if table.unfinished_note:
        note(f"{opened.path} is {table.unfinished_note}")
