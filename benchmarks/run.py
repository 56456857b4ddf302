"""Time whole runs of the program, alternately with another program, and report medians and ratios.

    python benchmarks/run.py snake-17 --against './other-program 17' --runs 5

Without ``--against`` the figures stand alone. Each run is a new process with a warm kernel cache and a new job; time
and peak memory are those of the whole process tree, the job's compressed size is what is left on disk.
"""

from __future__ import annotations

import argparse
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table

CASES = {
    "snake-17": ["--n", "17"],
    "snake-19": ["--n", "19"],
    "snake-20": ["--n", "20", "--memory", "1GiB"],
    "snake-22": ["--n", "22", "--memory", "1GiB"],
    "fifteen-22": ["--puzzle", "fifteen", "--n", "22"],
    "fifteen-25": ["--puzzle", "fifteen", "--n", "25", "--memory", "1GiB"],
    "fifteen-27": ["--puzzle", "fifteen", "--n", "27", "--memory", "1GiB"],
    "fifteen-31": ["--puzzle", "fifteen", "--n", "31", "--memory", "1GiB"],
    "pancake-11": ["--puzzle", "permutations", "-p", "family=pancake", "-p", "size=11", "--memory", "1GiB"],
    "lrx-11": ["--puzzle", "permutations", "-p", "family=lrx", "-p", "size=11", "--memory", "1GiB"],
    "top-spin-11": ["--puzzle", "permutations", "-p", "family=top-spin", "-p", "size=11", "--memory", "1GiB"],
    "pocket-cube": ["--puzzle", "permutations", "-p", "family=pocket-cube", "--memory", "1GiB"],
    "sliding-3x4": ["--puzzle", "sliding", "-p", "rows=3", "-p", "cols=4"],
}


@dataclass(frozen=True)
class Run:
    """Seconds of wall clock and processor, and the largest resident memory of the tree in MiB."""

    wall: float
    cpu: float
    peak: float


def measure(command: list[str]) -> Run:
    """Run a command to its end."""
    started = time.perf_counter()
    process = psutil.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    peak = cpu = 0.0
    while process.poll() is None:
        try:
            tree = [process, *process.children(recursive=True)]
            peak = max(peak, sum(member.memory_info().rss for member in tree))
            cpu = sum(sum(member.cpu_times()[:2]) for member in tree)
        except psutil.Error:
            continue
        time.sleep(0.01)
    wall = time.perf_counter() - started
    if process.returncode != 0:
        sys.exit(f"{shlex.join(command)} failed:\n{process.stderr.read().decode()}")
    return Run(wall, cpu, peak / 2**20)


def main() -> None:
    """Parse the command line, measure, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=["snake-17", "fifteen-22"], choices=[*CASES, []], metavar="CASE")
    parser.add_argument("--against", help="command to run alternately")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--jobs-dir", type=Path, help="where the jobs go; a temporary directory unless given")
    parser.add_argument("extra", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    arguments = parser.parse_args()

    table = Table("case", "wall s", "cpu s", "peak MiB", "disk MiB", "other s", "ratio")
    for case in arguments.cases:
        with tempfile.TemporaryDirectory(dir=arguments.jobs_dir) as directory:
            command = [sys.executable, "-m", "cli", "run", *CASES[case], "--quiet", "--jobs-dir", directory]
            ours: list[Run] = []
            theirs: list[Run] = []
            disk = 0.0
            measure([*command[:4], "--n", "2", "--quiet", "--jobs-dir", directory])
            for _ in range(arguments.runs):
                shutil.rmtree(directory)
                Path(directory).mkdir()
                ours.append(measure(command))
                disk = sum(file.stat().st_size for file in Path(directory).rglob("*") if file.is_file()) / 2**20
                if arguments.against:
                    theirs.append(measure(shlex.split(arguments.against)))
        wall = statistics.median(run.wall for run in ours)
        row = [case, f"{wall:.2f}", f"{statistics.median(run.cpu for run in ours):.2f}"]
        row += [f"{max(run.peak for run in ours):.0f}", f"{disk:.1f}"]
        if theirs:
            ratios = [mine.wall / other.wall for mine, other in zip(ours, theirs, strict=True)]
            row += [f"{statistics.median(run.wall for run in theirs):.2f}", f"{statistics.median(ratios):.2f}"]
        table.add_row(*row)
    Console().print(table)


if __name__ == "__main__":
    main()
