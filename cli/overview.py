"""What ``pipeline inspect`` says of a job and its levels, as a document and as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cli.failures import one_line
from cli.sizes import duration
from cli.tables import print_table
from storage.sizes import size

if TYPE_CHECKING:
    from storage.jobs.job import Job
    from storage.records import Manifest


def document_of(job: Job, manifests: list[Manifest], complete: bool, with_partitions: bool) -> dict[str, Any]:
    """Description of a job, for JSON.

    Parameters
    ----------
    job : Job
    manifests : list of Manifest
        Of the levels to describe.
    complete : bool
        Whether the search has come to its end.
    with_partitions : bool
        Whether to list the partitions of the levels instead of counting them.
    """
    levels = []
    for manifest in manifests:
        entry = manifest.to_json()
        entry["bits_per_state"] = round(8 * manifest.bytes / manifest.states, 3) if manifest.states else None
        if not with_partitions:
            entry["partitions"] = len(manifest.partitions)
        levels.append(entry)
    space = job.attributes["space"]
    return {
        "job": str(job.path),
        "space": {"name": space["name"], "parameters": space["parameters"]},
        "key_version": space["key_version"],
        "format_version": job.attributes["format_version"],
        "provenance": job.attributes.get("provenance", {}),
        "complete": complete,
        "levels": levels,
    }


def print_overview(document: dict[str, Any]) -> None:
    """Print a description of a job as text."""
    provenance = document["provenance"]
    versions = ", ".join(f"{name} {version}" for name, version in provenance.get("versions", {}).items())
    parameters = " ".join(
        f"{key}={value}" for key, value in document["space"]["parameters"].items() if value is not None
    )
    facts = {
        "job": document["job"],
        "puzzle": document["space"]["name"],
        "parameters": parameters,
        "condition": "complete" if document["complete"] else "unfinished",
        "started": provenance.get("started", "unknown"),
        "command": provenance.get("command", "unknown"),
        "versions": versions or "unknown",
        "format": f"{document['format_version']}, keys of version {document['key_version']}",
    }
    for name, value in facts.items():
        click.echo(f"{name:<12}{one_line(str(value))}")
    click.echo()
    _print_levels(document["levels"])
    if len(document["levels"]) == 1 and isinstance(document["levels"][0]["partitions"], list):
        click.echo()
        _print_partitions(document["levels"][0]["partitions"])


def _print_levels(levels: list[dict[str, Any]]) -> None:
    rows = []
    for level in levels:
        partitions = level["partitions"]
        rows.append(
            [
                level["depth"],
                level["states"],
                level["keys"],
                partitions if isinstance(partitions, int) else len(partitions),
                size(level["bytes"]) if level["arrays_kept"] else f"deleted ({size(level['bytes'])})",
                f"{level['bits_per_state']:.2f}" if level["bits_per_state"] is not None else "-",
                duration(level["seconds"]),
                level["digest"],
            ]
        )
    names = ["depth", "states", "keys", "partitions", "on disk", "bits/state", "time", "digest"]
    print_table(names, rows, expendable=["time", "bits/state", "partitions", "keys", "digest", "on disk"])


def _print_partitions(partitions: list[dict[str, Any]]) -> None:
    rows = [
        [
            entry["name"],
            entry["states"],
            entry["keys"],
            entry["first"],
            entry["last"],
            size(entry["bytes"]),
            entry["digest"],
        ]
        for entry in partitions
    ]
    names = ["partition", "states", "keys", "first key", "last key", "on disk", "digest"]
    print_table(names, rows, expendable=["on disk", "digest", "keys", "last key"])
