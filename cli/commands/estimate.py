"""``pipeline estimate``: what a search will take, before it is run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.config import config_option
from cli.failures import Ended
from cli.jobs import open_job
from cli.options import (
    jobs_directory_option,
    json_option,
    memory_option,
    parameter_option,
    puzzle_option,
    workers_option,
)
from cli.puzzles import rank, searched_space
from cli.resuming import stopping
from cli.sizes import duration
from cli.streams import is_fancy, note, print_json
from storage.errors import InvalidInput
from storage.sizes import size

if TYPE_CHECKING:
    from pipeline.estimate.estimate import Estimate, Keep
    from pipeline.spaces.contract import StateSpace
    from storage.jobs.job import Job

PROGRAM = [sys.executable, "-m", "cli"]
# Digits of a count that was extrapolated.
DIGITS = 3
# Of the processors' time; a measurement that got less was not alone.
BUSY = 0.7


@click.command("estimate")
@config_option
@click.argument("job", metavar="[JOB]", required=False)
@puzzle_option("snake", "What to search, as for 'run'.")
@parameter_option
@click.option("--n", type=int, metavar="N", help="Length of the snake; for other puzzles the last depth to search.")
@click.option("--max-depth", type=int, metavar="DEPTH", help="Last depth to search; to the end unless given.")
@jobs_directory_option
@memory_option("Memory for the whole process, such as 2GiB or 50%; half of all unless given.")
@workers_option
@json_option("Print the estimate as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing on standard error but errors.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    config: Path | None,
    job: str | None,
    puzzle: str,
    parameter: tuple[str, ...],
    n: int | None,
    max_depth: int | None,
    jobs_dir: Path,
    memory: int | None,
    workers: int | None,
    json: bool,
    quiet: bool,
) -> None:
    """Say what a search will take: states, disk, memory and time.

    A short search is made in a temporary directory. With the name of a job, the estimate starts from its levels, and
    the time is what is left.

    \b
    pipeline estimate --n 22
    pipeline estimate --puzzle fifteen --n 40 --memory 8GiB
    pipeline estimate fifteen --n 40
    """
    with stopping(is_fancy(sys.stderr)) as stop:
        if job is not None:
            if parameter or rank(ctx, "puzzle") == 0:
                raise InvalidInput("a job has its own puzzle and parameters", "leave out --puzzle and -p, or the job")
            opened, space = open_job(job, jobs_dir)
            bound = _bound_of_job(space, n, max_depth)
        else:
            opened = None
            space, bound = searched_space(ctx, puzzle, parameter, n, max_depth)
        if bound is not None and bound < 0:
            raise InvalidInput(f"the depth to search to is {bound}", "give 0 or more")

        from pipeline.estimate.estimator import Estimator
        from pipeline.running.settings import Settings
        from storage.errors import Stopped

        estimator = Estimator(space, Settings(memory=memory, workers=workers, max_depth=bound), opened)
        stop.tell(estimator.stop)
        try:
            estimate = estimator.run(_place(opened, jobs_dir), PROGRAM, (lambda text: None) if quiet else note)
        except Stopped:
            raise Ended(stop.exit_code) from None
    if json:
        print_json(estimate.document())
    else:
        _print(estimate)


def _bound_of_job(space: StateSpace, n: int | None, max_depth: int | None) -> int | None:
    """Last depth for a job, whose own n cannot change."""
    if n is None:
        return max_depth
    if "n" in type(space.parameters).model_fields:
        own = space.parameters.model_dump()["n"]
        if n != own:
            raise InvalidInput(f"the job has n={own}, not {n}", f"leave the job out to estimate --n {n}")
        return max_depth
    if max_depth is not None and max_depth != n:
        raise InvalidInput(f"--n {n} and --max-depth {max_depth} contradict each other", "give one of them")
    return n


def _place(job: Job | None, jobs_directory: Path) -> Path | None:
    """Where to measure: on the disk that the job is on, or will be."""
    if job is not None:
        return job.path.absolute().parent
    return jobs_directory if jobs_directory.is_dir() else None


def _rounded(count: int, exact: bool) -> int:
    """A count that was extrapolated has no more digits than it deserves."""
    return count if exact else round(count, DIGITS - len(str(count)))


def _print(estimate: Estimate) -> None:
    _print_levels(estimate)
    click.echo()
    _print_disk(estimate)
    click.echo()
    _print_times(estimate)
    click.echo()
    for line in _remarks(estimate):
        click.echo(line)


def _print_levels(estimate: Estimate) -> None:
    from cli.tables import print_table
    from pipeline.estimate.growth import Source

    rows = []
    for level in estimate.levels:
        working = max(estimate.level_seconds(level, estimate.budget.workers))
        rows.append(
            [
                level.depth,
                _rounded(level.states, level.source is not Source.EXTRAPOLATED),
                level.source.value,
                size(level.array_bytes + level.manifest_bytes),
                size(level.spill_bytes) if level.spill_bytes else "-",
                "-" if level.made else duration(working),
            ]
        )
    total = _rounded(estimate.states, not estimate.is_extrapolated)
    names = ["depth", "states", "which are", "on disk", "spills on disk", "time"]
    print_table(names, rows, ["total", total, "", size(estimate.disk_at_the_end("all")), "", ""])


def _print_disk(estimate: Estimate) -> None:
    from cli.tables import print_table

    kept: list[Keep] = ["all", "frontier"]
    rows = [
        [f"--keep {keep}", size(estimate.disk_at_the_peak(keep)), size(estimate.disk_at_the_end(keep))] for keep in kept
    ]
    print_table(["disk", "at the peak", "at the end"], rows)


def _print_times(estimate: Estimate) -> None:
    from cli.tables import print_table

    rows: list[list[str | int]] = []
    for cores in estimate.cores():
        time = estimate.time(cores)
        rows.append([cores, duration(time.seconds), time.bound])
    print_table(["cores", "time", "limited by"], rows)


def _remarks(estimate: Estimate) -> list[str]:
    budget = size(estimate.budget.total)
    first = estimate.first_spill_on_disk()
    spills = "all spills stay in memory" if first is None else f"spills go to the disk from depth {first} on"
    remarks = [f"memory: {size(estimate.memory_at_the_peak())} at the peak, of a budget of {budget}; {spills}"]
    if estimate.growth.ends:
        remarks.append(f"depth {len(estimate.levels) - 1} is the last one with states")
    elif estimate.growth.total is not None:
        remarks.append(f"the whole graph has {estimate.growth.total} states")
    remarks.append(f"measured on {estimate.origin}")
    if estimate.share < BUSY:
        remarks.append(
            f"the machine is busy: the measurement got {estimate.share:.0%} of the processors; "
            "the times are those of an idle one"
        )
    return remarks
