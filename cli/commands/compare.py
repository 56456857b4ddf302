"""``pipeline compare``: whether two jobs hold the same levels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.jobs import job_path
from cli.options import complete_job, jobs_directory_option, json_option
from cli.streams import print_json
from storage.errors import Mismatch

if TYPE_CHECKING:
    from storage.records import Manifest


@click.command("compare", short_help="Compare the levels of two jobs.")
@click.argument("first", metavar="JOB", shell_complete=complete_job)
@click.argument("second", metavar="JOB", shell_complete=complete_job)
@jobs_directory_option
@json_option("Print a JSON document.")
def command(first: str, second: str, jobs_dir: Path, json: bool) -> None:
    """Compare two jobs by the counts and digests of their levels, as they were committed.

    Digests do not depend on memory, workers, or the interruptions of a job, so the same search gives the same ones
    wherever it ran. A job that went less deep agrees if all of its levels do. 'pipeline verify' says whether what is on
    disk is what was committed.
    """
    from storage.jobs.job import Job

    jobs = [Job.open(job_path(name, jobs_dir)) for name in (first, second)]
    manifests = [{manifest.depth: manifest for manifest in job.manifests()} for job in jobs]
    spaces = [job.attributes["space"] for job in jobs]
    levels = [
        _compared(depth, manifests[0].get(depth), manifests[1].get(depth))
        for depth in sorted({*manifests[0], *manifests[1]})
    ]
    document: dict[str, Any] = {
        "jobs": [str(job.path) for job in jobs],
        "same_search": spaces[0] == spaces[1],
        "same": spaces[0] == spaces[1] and not any(level["same"] is False for level in levels),
        "levels": levels,
    }
    if json:
        print_json(document)
    else:
        _print(document)
    if not document["same_search"]:
        parameters = [f"{space['name']} {space['parameters']}" for space in spaces]
        raise Mismatch(f"the jobs are different searches: {parameters[0]} and {parameters[1]}")
    different = [level["depth"] for level in levels if level["same"] is False]
    if different:
        raise Mismatch(f"the jobs differ at depth {', '.join(map(str, different))}", "'pipeline verify' examines each")


def _compared(depth: int, first: Manifest | None, second: Manifest | None) -> dict[str, Any]:
    """A level of both jobs; ``same`` is None if one of them lacks it."""
    pair = (first, second)
    same = None if first is None or second is None else _content(first) == _content(second)
    return {
        "depth": depth,
        "states": [manifest.states if manifest is not None else None for manifest in pair],
        "digests": [f"0x{manifest.digest:016x}" if manifest is not None else None for manifest in pair],
        "same": same,
    }


def _content(manifest: Manifest) -> tuple[int, int, int]:
    return manifest.keys, manifest.states, manifest.digest


def _print(document: dict[str, Any]) -> None:
    from cli.tables import print_table

    words = {True: "same", False: "different", None: "in one job only"}
    rows = [
        [
            level["depth"],
            *(count if count is not None else "-" for count in level["states"]),
            *(digest or "-" for digest in level["digests"]),
            words[level["same"]],
        ]
        for level in document["levels"]
    ]
    names = ["depth", "states", "states of the second", "digest", "digest of the second", ""]
    print_table(names, rows, expendable=["states of the second", "digest of the second"])
