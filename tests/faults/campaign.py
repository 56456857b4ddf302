"""Real jobs whose process groups are killed at random moments, again and again, and what comes of them.

``python -m tests.faults.campaign --kills 200`` takes about twenty minutes. It ends with a table of kills by job and by
what was going on, and with exit code 1 if any job came out differently from an undisturbed one.

Every job is killed and resumed until one of its lives is long enough. Half of the kills come at a random time, the
others as soon as the directory shows a phase that was drawn beforehand: so the commit, which takes a thousandth of the
time, is hit often.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from storage.jobs.job import Job
from storage.journal import Journal
from tests.engine.jobs import summary

ROOT = Path(__file__).parents[2]
PATIENCE = 600.0


@dataclass(frozen=True)
class Case:
    """A job.

    Attributes
    ----------
    name : str
    arguments : tuple of str
        Of the command line.
    phases : tuple of str
        What it can be doing when it is killed.
    """

    name: str
    arguments: tuple[str, ...]
    phases: tuple[str, ...] = ("start", "expand", "merge", "commit")

    @property
    def is_census(self) -> bool:
        """Whether it keeps a journal rather than levels."""
        return self.arguments[0] == "census"

    def outcome(self, path: Path) -> Any:
        """What must be the same, however often it was killed."""
        if not self.is_census:
            return summary(path)
        entries = sorted((entry["phase"], entry["task"]) for entry in Journal.open(path).entries())
        results = {(entry["phase"], entry["task"]): entry["result"] for entry in Journal.open(path).entries()}
        return [(name, results[name]) for name in entries]

    def phase(self, path: Path) -> str:
        """What a job is doing, or was when it was killed, as far as its directory shows."""
        if self.is_census:
            return "search" if (path / "finished.jsonl").exists() else "start"
        with suppress(OSError, ValueError, StopIteration):
            if not (path / "work").is_dir():
                return "start"
            work = next(entry for entry in (path / "work").iterdir() if entry.is_dir())
            partitions = [entry.name for entry in (work / "partitions").iterdir()]
            if any(name.startswith("zarr.json") for name in partitions):
                return "commit"
            if partitions:
                return "merge"
            return "expand" if (work / "plan.json").exists() else "start"
        with suppress(Exception):
            if Job.open(path).depths_found() != Job.open(path).depths():
                return "commit"
        return "start"


SMALL = (
    Case("snake 13", ("run", "--n", "13", "--memory", "420MiB")),
    Case("fifteen 16", ("run", "--puzzle", "fifteen", "--n", "16", "--memory", "420MiB", "--keep", "frontier")),
    Case("census 24", ("census", "--n", "24"), ("start", "search")),
)
LARGE = (
    Case("snake 18", ("run", "--n", "18", "--memory", "512MiB")),
    Case("fifteen 26", ("run", "--puzzle", "fifteen", "--n", "26", "--memory", "512MiB")),
    Case("fifteen 26, frontier", ("run", "--puzzle", "fifteen", "--n", "26", "--memory", "1GiB", "--keep", "frontier")),
    Case(
        "3x4 to 40", ("run", "--puzzle", "sliding", "-p", "rows=3", "-p", "cols=4", "--n", "40", "--memory", "512MiB")
    ),
    Case("pancake 10", ("run", "--puzzle", "permutations", "-p", "size=10", "--memory", "420MiB")),
    Case("census 27", ("census", "--n", "27"), ("start", "search")),
)


@dataclass
class Report:
    """What a campaign has found.

    Attributes
    ----------
    kills : Counter
        By name of the job and phase.
    resumes_killed : int
        Kills of processes that were resuming.
    jobs : int
        Jobs that were brought to their end.
    different : list of str
        Those that came out differently.
    """

    kills: Counter[tuple[str, str]] = field(default_factory=Counter)
    resumes_killed: int = 0
    jobs: int = 0
    different: list[str] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """For printing."""
        table: dict[str, dict[str, int]] = {}
        for (name, phase), count in sorted(self.kills.items()):
            table.setdefault(name, {})[phase] = count
        return {
            "kills": sum(self.kills.values()),
            "of resuming processes": self.resumes_killed,
            "jobs": self.jobs,
            "different": self.different,
            "by job and phase": table,
        }


def command(case: Case, path: Path) -> list[str]:
    """Command line that starts the job or goes on with it."""
    return [sys.executable, "-m", "cli", *case.arguments, "--job", str(path), "--resume", "--quiet"]


def live_and_die(case: Case, path: Path, longest: float, generator: random.Random) -> str | None:
    """Run until a random moment; returns what was going on then, or None if the job came to its end."""
    process = subprocess.Popen(
        command(case, path), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        wanted = generator.choice(case.phases) if generator.random() < 0.5 else None
        end = time.monotonic() + (PATIENCE if wanted else generator.uniform(0.2, longest))
        while process.poll() is None and time.monotonic() < end:
            if wanted is not None and case.phase(path) == wanted and generator.random() < 0.05:
                break
            time.sleep(0.0005)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        _, errors = process.communicate()
    if process.returncode == -signal.SIGKILL:
        return case.phase(path)
    if process.returncode != 0:
        raise AssertionError(f"{case.name} ended with {process.returncode}: {errors.decode()}")
    return None


def campaign(cases: Sequence[Case], kills: int, seed: int, directory: Path, most: int | None = None) -> Report:
    """Kill until it is enough; every job is brought to its end, left alone after ``most`` kills."""
    generator = random.Random(seed)
    report = Report()
    expected, longest = {}, {}
    for number, case in enumerate(cases):
        whole = directory / f"whole-{number}"
        started = time.monotonic()
        subprocess.run(command(case, whole), cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        longest[case] = 1.2 * (time.monotonic() - started)
        expected[case] = case.outcome(whole)
        shutil.rmtree(whole)
    # Of every job at least one, however many kills the first one takes on a machine that is slow just then.
    while sum(report.kills.values()) < kills or report.jobs < len(cases):
        case = cases[report.jobs % len(cases)]
        path = directory / f"job {report.jobs} é"
        resuming = False
        killed = 0
        while killed != most and (phase := live_and_die(case, path, longest[case], generator)) is not None:
            killed += 1
            report.kills[case.name, phase] += 1
            report.resumes_killed += resuming
            resuming = path.exists()
        report.jobs += 1
        subprocess.run(command(case, path), cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        if case.outcome(path) != expected[case]:
            report.different.append(f"{case.name}, seed {seed}, job {report.jobs}")
        shutil.rmtree(path)
    return report


def main() -> None:
    """Run a campaign and print what it found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--small", action="store_true", help="jobs of a second")
    options = parser.parse_args()
    with TemporaryDirectory() as directory:
        report = campaign(SMALL if options.small else LARGE, options.kills, options.seed, Path(directory))
    print(json.dumps(report.document(), indent=2))
    sys.exit(1 if report.different else 0)


if __name__ == "__main__":
    main()
