"""Time the steps of a level one by one, on one thread, in nanoseconds a key: the best of several repetitions.

    python benchmarks/kernels.py JOB DEPTH

takes the keys from a level of a finished job.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from pipeline.inspection import level_with_arrays, space_of
from pipeline.level.duplicates import join_duplicates
from storage.jobs.job import Job
from storage.keys.digest import digest_of
from storage.keys.gaps import decode, encode

REPETITIONS = 7
KEYS = 1 << 20


def best(action: Callable[[], object], prepare: Callable[[], object] = lambda: None) -> float:
    """Shortest time of an action in seconds."""
    times = []
    for _ in range(REPETITIONS):
        prepare()
        started = time.perf_counter()
        action()
        times.append(time.perf_counter() - started)
    return min(times)


def main() -> None:
    """Print the table."""
    job = Job.open(Path(sys.argv[1]))
    space = space_of(job)
    level = level_with_arrays(job, int(sys.argv[2]))
    keys = next(level.read(level.manifest.partitions[len(level.manifest.partitions) // 2]))[:KEYS]
    out = np.empty((keys.size + 1) * space.max_neighbours, dtype=np.uint64)
    written = space.expand(keys, out, False).written
    neighbours = out[:written].copy()
    work = neighbours.copy()
    frame = encode(keys, space.layout.field_bits)
    table = Table("step", "ns", "for each", title=f"{job.path}, depth {sys.argv[2]}: {keys.size} keys")

    def row(step: str, seconds: float, count: int, unit: str) -> None:
        table.add_row(step, f"{seconds / count * 1e9:.1f}", unit)

    row("expand", best(lambda: space.expand(keys, out, False)), keys.size, "key expanded")
    row("sort", best(work.sort, lambda: work.__setitem__(slice(None), neighbours)), written, "neighbour")
    row("join", best(lambda: join_duplicates(work.copy(), space.layout.mask_bits)), written, "neighbour")
    row("count", best(lambda: space.count_states(keys)), keys.size, "key stored")
    row("digest", best(lambda: digest_of(keys)), keys.size, "key stored")
    row("encode", best(lambda: encode(keys, space.layout.field_bits)), keys.size, "key stored")
    row("decode", best(lambda: decode(frame, work[: keys.size])), keys.size, "key read")
    Console().print(table)
    Console().print(
        f"{written / keys.size:.2f} neighbours a key; {8 * len(frame) / keys.size:.2f} bits a key, "
        f"{8 * len(frame) / space.count_states(keys):.2f} bits a state"
    )


if __name__ == "__main__":
    main()
