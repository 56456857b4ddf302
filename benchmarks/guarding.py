"""What it costs to guard a job: the same run with and without it, alternately.

    python benchmarks/guarding.py --runs 5

Without guarding nothing is flushed (fsync), no checksum and no digest is computed or compared, and nobody looks at the
lock. Such a job is worth nothing; it is deleted.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import zlib
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.table import Table

from pipeline.bench.processes import Processes

CASE = ["run", "--puzzle", "fifteen", "--n", "27", "--memory", "1GiB", "--keep", "frontier", "--quiet"]
UNGUARDED = "--unguarded"


def constant(value: Any) -> Callable[..., Any]:
    """A function that does nothing and returns always the same."""
    return lambda *arguments, **options: value


def run_unguarded(arguments: list[str]) -> None:
    """Run the command line with every guard switched off."""
    import google_crc32c

    import storage.files.sealed
    import storage.keys.partition
    import storage.locking.lock

    os.fsync = constant(None)
    zlib.crc32 = constant(0)
    google_crc32c.value = constant(0)
    vars(storage.keys.partition)["digest_of"] = constant(0)
    vars(storage.files.sealed)["_checksum_of"] = constant("")
    vars(storage.locking.lock)["BEAT_SECONDS"] = 1e6
    storage.locking.lock.JobLock.check = constant(None)
    from cli.main import command_line

    command_line.main(arguments)


def main() -> None:
    """Parse the command line, measure, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    seconds: dict[str, list[float]] = {"guarded": [], "unguarded": []}
    processor: dict[str, list[float]] = {"guarded": [], "unguarded": []}
    processes = Processes()
    commands = {"guarded": ["-m", "cli"], "unguarded": [__file__, UNGUARDED]}
    for number in range(runs + 1):
        for name, command in commands.items():
            with tempfile.TemporaryDirectory() as directory:
                run, _ = processes.run([sys.executable, *command, *CASE, "--jobs-dir", directory])
            if number:  # the first one warms the caches
                seconds[name].append(run.seconds)
                processor[name].append(run.processor_seconds)
    ratios = [one / other for one, other in zip(seconds["guarded"], seconds["unguarded"], strict=True)]
    table = Table("", "wall s", "cpu s")
    for name in commands:
        table.add_row(name, f"{statistics.median(seconds[name]):.2f}", f"{statistics.median(processor[name]):.2f}")
    console = Console()
    console.print(table)
    spread = f"{min(ratios):.3f} to {max(ratios):.3f}"
    console.print(f"guarded / unguarded, median of pairs: {statistics.median(ratios):.3f} ({spread})")


if __name__ == "__main__":
    if UNGUARDED in sys.argv:
        run_unguarded([argument for argument in sys.argv[1:] if argument != UNGUARDED])
    else:
        main()
