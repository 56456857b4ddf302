"""Estimates against runs: time, disk and memory that were estimated, by what the run took.

python benchmarks/estimates.py 'fifteen 27' 'snake 19' --runs 3 --save benchmarks/results/estimates.json
"""

from __future__ import annotations

import argparse
import json
import statistics
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
    table = Table("case", "seconds estimated", "taken", "ratios", "disk", "memory", title="estimated by taken")
    for name, pairs in runs.items():
        ratios = {
            what: [pair[what][0] / pair[what][1] for pair in pairs] for what in ("seconds", "disk_bytes", "peak_bytes")
        }
        table.add_row(
            name,
            *(f"{statistics.median(pair['seconds'][place] for pair in pairs):.2f}" for place in (0, 1)),
            " ".join(f"{ratio:.2f}" for ratio in sorted(ratios["seconds"])),
            f"{statistics.median(ratios['disk_bytes']):.3f}",
            f"{statistics.median(ratios['peak_bytes']):.2f}",
        )
    Console().print(table)


if __name__ == "__main__":
    main()
