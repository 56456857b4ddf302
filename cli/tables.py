"""Tables: drawn on a terminal, plain aligned text elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from cli.failures import one_line
from cli.streams import colour_wanted, console, is_fancy

Cell = str | int

GAP = 2
DRAWN_GAP = 3
# Digits of a digest that tell two jobs apart at a glance; the whole of it is in --json and in pipes.
SHORT_DIGEST = 8
# Narrower than this, a text is not broken into lines.
LEAST_TEXT = 16


def print_table(
    names: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    footer: Sequence[Cell] | None = None,
    expendable: Sequence[str] = (),
) -> None:
    """Print a table on standard output. Columns of numbers, and those named after one, are aligned to the right.

    On a terminal that is too narrow digests are shortened, then columns are left out, then each row becomes a block of
    lines; numbers and words stay whole.

    Parameters
    ----------
    names : sequence of str
        Column heads.
    rows : sequence of sequences
        Whole numbers are printed as they are.
    footer : sequence, optional
        A last row, set apart.
    expendable : sequence of str
        Columns to leave out where there is no room for them, the first one first.
    """
    everything = [*rows, *([footer] if footer else [])]
    right = [
        all(not isinstance(row[column], str) or _is_number(row[column]) for row in everything)
        for column in range(len(names))
    ]
    # A job may say anything of itself, and so may names of files.
    texts = [[one_line(str(cell)) for cell in row] for row in everything]
    if not is_fancy(sys.stdout):
        _write(names, texts, right)
        return
    room = console(sys.stdout).width
    if _width(names, texts) > room:
        texts = [[_shortened(cell) for cell in row] for row in texts]
    kept = list(range(len(names)))
    for name in expendable:
        if _width([names[column] for column in kept], [[row[column] for column in kept] for row in texts]) > room:
            kept = [column for column in kept if names[column] != name]
    left_out = [name for column, name in enumerate(names) if column not in kept]
    names = [names[column] for column in kept]
    right = [right[column] for column in kept]
    texts = [[row[column] for column in kept] for row in texts]
    if _width(names, texts, right) > room:
        _write_blocks(names, texts)
    else:
        _draw(names, texts[: len(rows)], right, texts[-1] if footer else None)
    if left_out:
        click.echo(f"no room for {', '.join(left_out)}")


def _is_number(cell: Cell) -> bool:
    return (str(cell)[:1].isdigit() and not str(cell).startswith("0x")) or cell in ("", "-")


def _shortened(cell: str) -> str:
    """A digest by its first digits."""
    is_digest = cell.startswith("0x") and len(cell) == 18
    return f"{cell[: 2 + SHORT_DIGEST]}…" if is_digest else cell


def _widths(names: Sequence[str], texts: Sequence[Sequence[str]]) -> list[int]:
    return [max([len(name), *(len(row[column]) for row in texts)]) for column, name in enumerate(names)]


def _width(names: Sequence[str], texts: Sequence[Sequence[str]], right: Sequence[bool] | None = None) -> int:
    """Width of a table; if it is said which columns are numbers, the others may be broken into lines."""
    widths = _widths(names, texts)
    if right is not None:
        widths = [
            width if number else min(width, max(LEAST_TEXT, len(name)))
            for width, number, name in zip(widths, right, names, strict=True)
        ]
    return sum(widths) + DRAWN_GAP * (len(widths) - 1)


def _write(names: Sequence[str], texts: Sequence[Sequence[str]], right: Sequence[bool]) -> None:
    widths = _widths(names, texts)
    for row in [names, *texts]:
        cells = [
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(row, widths, right, strict=True)
        ]
        click.echo((" " * GAP).join(cells).rstrip())


def _write_blocks(names: Sequence[str], texts: Sequence[Sequence[str]]) -> None:
    width = max(len(name) for name in names) + GAP
    for number, row in enumerate(texts):
        if number:
            click.echo()
        for name, cell in zip(names, row, strict=True):
            if cell:
                click.echo(f"{name:<{width}}{cell}")


def _draw(
    names: Sequence[str], texts: Sequence[Sequence[str]], right: Sequence[bool], footer: Sequence[str] | None
) -> None:
    from rich import box
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
            no_wrap=right[column],
            overflow="fold",
        )
    for row in texts:
        table.add_row(*(Text(cell) for cell in row))
    console(sys.stdout).print(table)
