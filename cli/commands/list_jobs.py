"""``pipeline list``: the jobs in a directory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.options import jobs_directory_option, json_option
from cli.streams import note, print_json
from storage.errors import JobError, PipelineError
from storage.sizes import size

if TYPE_CHECKING:
    from storage.jobs.job import Job
    from storage.journal import Journal


@click.command("list")
@jobs_directory_option
@json_option("Print a JSON array with an object for each job.")
def command(jobs_dir: Path, json: bool) -> None:
    """List the jobs and censuses with what they search and how far they are."""
    jobs = [_described(path) for path in _directories(jobs_dir)]
    if json:
        print_json(jobs)
    elif not jobs:
        note(f"there are no jobs in {jobs_dir}")
    else:
        _print(jobs)


def _directories(jobs_directory: Path) -> list[Path]:
    try:
        return sorted(entry for entry in jobs_directory.iterdir() if entry.is_dir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise JobError(f"{jobs_directory} cannot be read as a directory of jobs ({error.strerror})") from error


def _described(path: Path) -> dict[str, Any]:
    from storage.jobs.job import Job
    from storage.journal import Journal

    try:
        return _facts_of_census(Journal.open(path)) if Journal.is_at(path) else _facts(Job.open(path))
    except (PipelineError, OSError, KeyError) as error:
        message = error.message if isinstance(error, PipelineError) else str(error)
        return {"name": path.name, "error": message}


def _facts(job: Job) -> dict[str, Any]:
    from storage.files.durable import bytes_below
    from storage.jobs.job import Job

    manifests = job.manifests()
    space = job.attributes["space"]
    return {
        "name": job.path.name,
        "puzzle": space["name"],
        "parameters": space["parameters"],
        "depth": max((manifest.depth for manifest in manifests if manifest.keys), default=None),
        "states": sum(manifest.states for manifest in manifests),
        "bytes": bytes_below(job.path),
        "complete": bool(manifests) and manifests[-1].keys == 0,
        **_writer_of(job.path / Job.HOLDER),
    }


def _writer_of(holder_file: Path) -> dict[str, Any]:
    """Who writes to a job: nothing if nobody does, as far as this host can tell."""
    from storage.locking.holder import read_holder

    try:
        holder = read_holder(holder_file)
    except OSError:
        return {}
    if holder is None or holder.is_running() is False:
        return {}
    return {"running": {"process": holder.process, "host": holder.host, "since": holder.started}}


def _condition(job: dict[str, Any], otherwise: str) -> str:
    writer = job.get("running")
    return f"running (process {writer['process']}, {writer['host']})" if writer else otherwise


def _facts_of_census(journal: Journal) -> dict[str, Any]:
    from storage.files.durable import bytes_below
    from storage.journal import Journal

    description = journal.description
    return {
        "name": journal.path.name,
        "census": description["census"],
        "parameters": {"n": description["n"], "collision": description["collision"]},
        "tasks_done": len(journal.entries()),
        "bytes": bytes_below(journal.path),
        **_writer_of(journal.path / Journal.HOLDER),
    }


def _print(jobs: list[dict[str, Any]]) -> None:
    from cli.tables import print_table

    rows = []
    for job in jobs:
        if "error" in job:
            rows.append([job["name"], "", "", "", "", "", job["error"]])
            continue
        parameters = " ".join(f"{key}={value}" for key, value in job["parameters"].items() if value is not None)
        if "census" in job:
            tasks = _condition(job, f"{job['tasks_done']} tasks done")
            rows.append([job["name"], f"{job['census']} census", parameters, "-", "-", size(job["bytes"]), tasks])
            continue
        depth = job["depth"] if job["depth"] is not None else "-"
        state = _condition(job, "complete" if job["complete"] else "unfinished")
        rows.append([job["name"], job["puzzle"], parameters, depth, job["states"], size(job["bytes"]), state])
    names = ["name", "puzzle", "parameters", "depth", "states", "on disk", "condition"]
    print_table(names, rows, expendable=["on disk", "parameters", "puzzle", "depth"])
