"""``pipeline bench``: how fast the program is on this machine."""

from __future__ import annotations

import json as json_library
import sys
from pathlib import Path
from typing import Any

import click

from cli.failures import Ended
from cli.options import jobs_directory_option, json_option, workers_option
from cli.resuming import stopping
from cli.sizes import short
from cli.streams import check_output, is_fancy, note, print_json, write_output
from storage.sizes import size

PROGRAM = [sys.executable, "-m", "cli"]


@click.command("bench")
@click.option("--quick", is_flag=True, help="Smaller cases, less than twenty seconds in all.")
@click.option(
    "--case",
    "names",
    multiple=True,
    metavar="NAME",
    help="Run this case instead of the standard ones, such as 'snake 22'; may be given several times.",
)
@workers_option
@jobs_directory_option
@click.option("--save", type=click.Path(path_type=Path), metavar="FILE", help="Keep the result.")
@click.option("--against", type=click.Path(path_type=Path), metavar="FILE", help="Compare with a result that was kept.")
@json_option("Print the result as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing on standard error but errors.")
def command(
    *,
    quick: bool,
    names: tuple[str, ...],
    workers: int | None,
    jobs_dir: Path,
    save: Path | None,
    against: Path | None,
    json: bool,
    quiet: bool,
) -> None:
    """Measure the program on this machine: whole runs, the steps of a level, the sorts, and the disk.

    Jobs are made in a temporary directory within the jobs directory (if there is one) and removed.

    \b
    pipeline bench --quick
    pipeline bench --save before.json
    pipeline bench --against before.json
    """
    check_output(save)
    with stopping(is_fancy(sys.stderr)) as stop:
        from pipeline.bench.cases import QUICK, STANDARD, case_of
        from pipeline.bench.results import ratios, read_result
        from pipeline.bench.suite import Suite
        from storage.errors import Stopped

        before = read_result(against) if against is not None else None
        cases = tuple(case_of(name) for name in names) or (QUICK if quick else STANDARD)
        tell = (lambda text: None) if quiet else note
        suite = Suite(PROGRAM, cases, jobs_dir if jobs_dir.is_dir() else None, workers, tell)
        stop.tell(suite.stop)
        try:
            result = suite.run()
        except Stopped:
            raise Ended(stop.exit_code) from None
    compared = ratios(result, before) if before is not None else {}
    if save is not None:
        write_output(save, (json_library.dumps(result, indent=1) + "\n").encode())
    if json:
        print_json({**result, "ratios": compared} if before is not None else result)
    else:
        _print(result, compared)


def _print(result: dict[str, Any], compared: dict[str, float]) -> None:
    machine = result["machine"]
    click.echo(f"{machine['processor']}, {machine['cores']} cores, {size(machine['memory'])}")
    click.echo()
    _print_cases(result["cases"], compared)
    if result["steps"]:
        click.echo()
        _print_steps(result["steps"], compared)
    click.echo()
    _print_sorts(result, compared)
    click.echo()
    disk = result["disk"]
    click.echo(f"disk: {short(disk['write'])}B/s written and flushed, {short(disk['read'])}B/s read")


def _compared(row: list[str | int], ratio: float | None, wanted: bool) -> list[str | int]:
    return [*row, "-" if ratio is None else f"{ratio:.2f}"] if wanted else row


def _print_cases(cases: dict[str, Any], compared: dict[str, float]) -> None:
    from cli.tables import print_table

    rows = []
    for name, figures in cases.items():
        bits = figures["bits_per_state"]
        row: list[str | int] = [
            name,
            f"{figures['seconds']:.2f}",
            f"{figures['processor_seconds']:.2f}",
            f"{short(figures['count'])} {figures['unit']}",
            short(figures["each_second_and_core"]),
            "-" if bits is None else f"{bits:.2f}",
            size(figures["peak_bytes"]),
        ]
        rows.append(_compared(row, compared.get(f"cases/{name}"), bool(compared)))
    names = ["case", "seconds", "of processors", "counted", "a second and core", "bits/state", "peak memory"]
    print_table([*names, "against"] if compared else names, rows)


def _print_steps(steps: dict[str, Any], compared: dict[str, float]) -> None:
    from cli.tables import print_table
    from pipeline.bench.steps import UNITS

    rows = []
    for step, unit in UNITS.items():
        row: list[str | int] = [step]
        for case, figures in steps.items():
            row.append(f"{figures[step]:.1f}")
            if compared:
                ratio = compared.get(f"steps/{case}/{step}")
                row.append("-" if ratio is None else f"{ratio:.2f}")
        rows.append([*row, unit])
    heads = ["ns a key"]
    for case, figures in steps.items():
        heads += [f"{case}, depth {figures['depth']}", *(["against"] if compared else [])]
    print_table([*heads, "for each"], rows)


def _print_sorts(result: dict[str, Any], compared: dict[str, float]) -> None:
    from cli.tables import print_table

    rows = []
    ways = [name for name in next(iter(result["sorts"].values())) if name != "in_use"]
    for keys, figures in result["sorts"].items():
        row: list[str | int] = [int(keys), *(f"{figures[name]:.1f}" for name in ways)]
        row.append(f"{figures['in_use'] / min(figures.values()):.2f}")
        rows.append(_compared(row, compared.get(f"sorts/{keys}/in_use"), bool(compared)))
    click.echo(f"sort in use: {result['sort_in_use']}")
    names = ["keys", *(f"{name.replace('_', ', ')}, ns a key" for name in ways), "in use to the best"]
    print_table([*names, "against"] if compared else names, rows)
