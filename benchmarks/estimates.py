"""Estimates against runs: time, disk and memory that were estimated, by what the run took.

The time estimated is that of an idle machine. While something else is running, compare processor time.

python benchmarks/estimates.py 'fifteen 27' 'snake 19' --runs 3 --save benchmarks/results/estimates.json
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from pipeline.bench.cases import case_of, run_case
from pipeline.bench.machine import describe_machine
from pipeline.bench.processes import Processes

PROGRAM = [sys.executable, "-m", "cli"]
CASES = ["fifteen 27", "snake 19", "snake 17", "3x4"]


def compare(name: str, processes: Processes) -> dict[str, Any]:
    """Estimate a case, run it, and put both side by side."""
    case = case_of(name)
    with tempfile.TemporaryDirectory() as directory:
        # All cases are searches: what follows 'run' on the command line are options that 'estimate' has too.
        took, output = processes.run([*PROGRAM, "estimate", *case.arguments[1:], "--json", "--quiet"])
        estimated = json.loads(output)
        made, _ = run_case(case, PROGRAM, processes, Path(directory), None)
    return {
        "estimate_seconds": took.seconds,
        "share_of_processors": estimated["calibration"]["share_of_processors"],
        "seconds": [estimated["time"][0]["seconds"], made["seconds"]],
        "processor_seconds": [estimated["processor_seconds"], made["processor_seconds"]],
        "disk_bytes": [estimated["disk"]["all"]["end"], made["disk_bytes"]],
        "peak_bytes": [estimated["memory"]["peak"], made["peak_bytes"]],
    }


def main() -> None:
    """Parse the command line, measure, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=CASES, metavar="CASE")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--save", type=Path)
    arguments = parser.parse_args()
    processes = Processes()
    runs = {name: [compare(name, processes) for _ in range(arguments.runs)] for name in arguments.cases}
    if arguments.save:
        document = {"format": 1, "machine": describe_machine(), "cases": runs}
        arguments.save.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    figures = {"seconds": "seconds", "processor_seconds": "of processors", "disk_bytes": "disk", "peak_bytes": "memory"}
    table = Table("case", *figures.values(), title="estimated by taken, sorted")
    for name, pairs in runs.items():
        ratios = [sorted(pair[figure][0] / pair[figure][1] for pair in pairs) for figure in figures]
        table.add_row(name, *(" ".join(f"{ratio:.2f}" for ratio in row) for row in ratios))
    Console().print(table)


if __name__ == "__main__":
    main()
