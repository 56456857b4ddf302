"""Time cases alternately with another program, and report medians and the median of the ratios pair by pair.

    python benchmarks/against.py 'snake 17' './other-program 17' --runs 5

Each run is a new process with a warm kernel cache and a new job. Names of cases are those of `pipeline bench`.
"""

from __future__ import annotations

import argparse
import shlex
import statistics
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pipeline.bench.cases import case_of, run_case
from pipeline.bench.processes import Processes

PROGRAM = [sys.executable, "-m", "cli"]


def main() -> None:
    """Parse the command line, measure, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", help="such as 'snake 17', 'fifteen 27' or 3x4")
    parser.add_argument("other", help="command to run alternately")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--jobs-dir", type=Path, help="where the jobs go; a temporary directory unless given")
    arguments = parser.parse_args()

    processes = Processes()
    case = case_of(arguments.case)
    figures: dict[str, list[dict[str, float]]] = {"this": [], "the other": []}
    for number in range(arguments.runs + 1):
        with tempfile.TemporaryDirectory(dir=arguments.jobs_dir) as directory:
            ours, _ = run_case(case, PROGRAM, processes, Path(directory), None)
        theirs, _ = processes.run(shlex.split(arguments.other))
        if number:  # the first one warms the caches
            figures["this"].append(ours)
            figures["the other"].append(vars(theirs))
    table = Table("", "seconds", "of processors", "peak MiB", title=case.name)
    for name, runs in figures.items():
        median = {key: statistics.median(run[key] for run in runs) for key in vars(theirs)}
        row = f"{median['seconds']:.2f}", f"{median['processor_seconds']:.2f}", f"{median['peak_bytes'] / 2**20:.0f}"
        table.add_row(name, *row)
    ratios = [mine["seconds"] / other["seconds"] for mine, other in zip(*figures.values(), strict=True)]
    console = Console()
    console.print(table)
    console.print(f"ratio: {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")


if __name__ == "__main__":
    main()
