"""Tables: drawn on a terminal, plain aligned text elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from cli.failures import one_line
from cli.streams import colour_wanted, is_fancy

Cell = str | int


def print_table(names: Sequence[str], rows: Sequence[Sequence[Cell]], footer: Sequence[Cell] | None = None) -> None:
    """Print a table on standard output. Columns of numbers, and those named after one, are aligned to the right.

    Parameters
    ----------
    names : sequence of str
        Column heads.
    rows : sequence of sequences
        Whole numbers are printed as they are.
    footer : sequence, optional
        A last row, set apart.
    """
    everything = [*rows, *([footer] if footer else [])]
    right = [
        all(not isinstance(row[column], str) or _is_number(row[column]) for row in everything)
        for column in range(len(names))
    ]
    # A job may say anything of itself, and so may names of files.
    texts = [[one_line(str(cell)) for cell in row] for row in everything]
    if is_fancy(sys.stdout):
        _draw(names, texts[: len(rows)], right, texts[-1] if footer else None)
    else:
        _write(names, texts, right)


def _is_number(cell: Cell) -> bool:
    return (str(cell)[:1].isdigit() and not str(cell).startswith("0x")) or cell in ("", "-")


def _write(names: Sequence[str], texts: Sequence[Sequence[str]], right: Sequence[bool]) -> None:
    widths = [max([len(name), *(len(row[column]) for row in texts)]) for column, name in enumerate(names)]
    for row in [names, *texts]:
        cells = [
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(row, widths, right, strict=True)
        ]
        click.echo("  ".join(cells).rstrip())


def _draw(
    names: Sequence[str], texts: Sequence[Sequence[str]], right: Sequence[bool], footer: Sequence[str] | None
) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    bold = "bold" if colour_wanted() else ""
    table = Table(
        box=box.SIMPLE,
        header_style=bold,
        footer_style=bold,
        show_footer=footer is not None,
        pad_edge=False,
        show_edge=False,
    )
    for column, name in enumerate(names):
        table.add_column(
            name,
            footer=footer[column] if footer is not None else "",
            justify="right" if right[column] else "left",
            overflow="fold",
        )
    for row in texts:
        table.add_row(*(Text(cell) for cell in row))
    Console(file=sys.stdout, highlight=False, markup=False).print(table)
