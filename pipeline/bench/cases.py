"""The standard cases: searches and a census that a user would run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.bench.processes import Processes, ProcessFigures
from pipeline.spaces.permutations.families import SIZED
from storage.errors import InvalidInput
from storage.files.durable import bytes_below
from storage.jobs.job import Job
from storage.records import Manifest


@dataclass(frozen=True)
class Case:
    """A command to time.

    Attributes
    ----------
    name : str
    arguments : tuple of str
        Of the command line.
    keeps_job : bool
        Whether it is a search, which leaves a job.
    """

    name: str
    arguments: tuple[str, ...]
    keeps_job: bool = True


MEMORY = ("--memory", "1GiB")
FORMS: dict[str, Callable[..., tuple[str, ...]]] = {
    r"snake (\d+)": lambda n: ("run", "--n", n),
    r"fifteen (\d+)": lambda n: ("run", "--puzzle", "fifteen", "--n", n, *MEMORY),
    r"(\d+)x(\d+)": lambda rows, cols: ("run", "--puzzle", "sliding", "-p", f"rows={rows}", "-p", f"cols={cols}"),
    r"census (\d+)": lambda n: ("census", "--n", n),
    r"(pocket-cube)": lambda family: ("run", "--puzzle", "permutations", "-p", f"family={family}", *MEMORY),
    rf"({'|'.join(SIZED)}) (\d+)": lambda family, size: (
        *("run", "--puzzle", "permutations", "-p", f"family={family}", "-p", f"size={size}"),
        *MEMORY,
    ),
}


def case_of(name: str) -> Case:
    """The case of a name: ``snake 17``, ``fifteen 25``, ``3x4``, ``census 26`` or ``pancake 11``, with any numbers.

    Raises
    ------
    InvalidInput
        If it is of another form.
    """
    for form, arguments in FORMS.items():
        found = re.fullmatch(form, name)
        if found:
            return Case(name, arguments(*found.groups()), keeps_job=not name.startswith("census"))
    raise InvalidInput(
        f"there is no case {name!r}", "cases are such as 'snake 17', 'fifteen 25', 3x4, 'census 26' and 'pancake 11'"
    )


STANDARD = tuple(case_of(name) for name in ("snake 17", "snake 19", "fifteen 25", "3x4", "census 26"))
QUICK = tuple(case_of(name) for name in ("snake 16", "fifteen 22", "2x5", "census 24"))


def run_case(
    case: Case, program: Sequence[str], processes: Processes, directory: Path, workers: int | None
) -> tuple[dict[str, Any], Path]:
    """Run a case in a process of its own.

    Parameters
    ----------
    case : Case
    program : sequence of str
        Command that takes the arguments of the command line.
    processes : Processes
    directory : Path
        Where its job goes, if it leaves one.
    workers : int, optional
        Tasks at a time.

    Returns
    -------
    dict
        Its figures; see :func:`figures_of`.
    Path
        Where its job is.

    Raises
    ------
    PipelineError, Stopped
    """
    job = directory / case.name.replace(" ", "-")
    command = [*program, *case.arguments, "--quiet", "--json"]
    if case.keeps_job:
        command += ["--job", str(job)]
    if workers is not None:
        command += ["--workers", str(workers)]
    process, output = processes.run(command)
    if case.keeps_job:
        return figures_of(process, Job.open(job).manifests(), bytes_below(job)), job
    return _census_figures(process, json.loads(output)), job


def figures_of(process: ProcessFigures, manifests: Iterable[Manifest], disk_bytes: int) -> dict[str, Any]:
    """Figures of a search.

    Parameters
    ----------
    process : ProcessFigures
    manifests : iterable of Manifest
    disk_bytes : int
        What its job takes.

    Returns
    -------
    dict
        ``seconds``, ``processor_seconds``, ``peak_bytes``, ``disk_bytes``, ``unit`` and ``count`` (what was counted,
        and how many), ``each_second_and_core`` (of processor time), ``bits_per_state``, and a list ``levels``.
    """
    levels = [
        {
            "depth": manifest.depth,
            "states": manifest.states,
            "keys": manifest.keys,
            "bytes": manifest.bytes,
            "generated": manifest.generated,
            "spilled": manifest.spilled,
            "seconds": manifest.seconds,
        }
        for manifest in manifests
        if manifest.keys
    ]
    states = sum(level["states"] for level in levels)
    return {
        **_process_figures(process, "states", int(states)),
        "disk_bytes": disk_bytes,
        "bits_per_state": 8 * sum(level["bytes"] for level in levels) / states,
        "levels": levels,
    }


def _census_figures(process: ProcessFigures, document: dict[str, Any]) -> dict[str, Any]:
    return {
        **_process_figures(process, "walks", int(document["nodes"])),
        "disk_bytes": 0,
        "bits_per_state": None,
        "levels": [],
    }


def _process_figures(process: ProcessFigures, unit: str, count: int) -> dict[str, Any]:
    return {
        "seconds": process.seconds,
        "processor_seconds": process.processor_seconds,
        "peak_bytes": process.peak_bytes,
        "unit": unit,
        "count": count,
        "each_second_and_core": count / process.processor_seconds,
    }
