"""``pipeline hardest``: the states that are farthest from the start."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import click

from cli.jobs import open_job
from cli.options import job_argument, json_option
from cli.streams import note, print_json


@click.command("hardest", short_help="Show the states that are farthest from the start.")
@job_argument
@click.option(
    "--count",
    type=click.IntRange(min=0),
    metavar="COUNT",
    default=1,
    show_default=True,
    help="States to show, with a path to each.",
)
@json_option("Print a document.")
def command(job: str, jobs_dir: Path, count: int, json: bool) -> None:
    """Show the states of the deepest level, of symmetric ones one, with a shortest path to each."""
    opened, space = open_job(job, jobs_dir)

    from pipeline.answers.hardest import hardest, hardest_states
    from pipeline.answers.lookup import Lookup
    from pipeline.answers.paths import ShortestPaths

    lookup = Lookup(space, opened)
    found = hardest(lookup)
    paths = ShortestPaths(lookup)
    shown: list[dict[str, Any]] = []
    for state in islice(hardest_states(lookup), count):
        path = paths.path(state, found.depth)
        states = [space.format(step) for step in path.states]
        shown.append({"state": states[-1], "moves": list(path.moves), "states": states})
    if not found.complete:
        note(f"{opened.path} is not complete: there may be deeper levels")
    if json:
        print_json(
            {
                "depth": found.depth,
                "states": found.states,
                "classes": found.classes,
                "complete": found.complete,
                "shown": shown,
            }
        )
        return
    classes = "" if found.classes is None else f", {found.classes} of them different up to symmetry"
    click.echo(f"depth {found.depth}: {found.states} states{classes}")
    for entry in shown:
        click.echo(f"{entry['state']}: {', '.join(entry['moves'])}")
