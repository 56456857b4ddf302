"""``pipeline draw``: a picture of a state."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.options import output_option, parameter_option, puzzle_option
from cli.puzzles import puzzle_of, space_of_states
from cli.states import StateCommand
from cli.streams import check_output, write_output
from storage.errors import InvalidInput

if TYPE_CHECKING:
    from pipeline.spaces.contract import State, StateSpace

Draw = Callable[["StateSpace", "State"], bytes]

KINDS: dict[str, Draw] = {
    ".txt": lambda space, state: (space.draw_text(state) + "\n").encode(),
    ".svg": lambda space, state: space.draw_svg(state).encode(),
    ".png": lambda space, state: space.draw_png(state),
}


@click.command("draw", cls=StateCommand)
@puzzle_option(None, "The puzzle of the state; snake or fifteen, whichever it looks like, unless given.")
@parameter_option
@output_option("Draw to an .svg, .png or .txt file; in the terminal unless given.")
@click.argument("state", metavar="STATE", nargs=-1, required=True)
def command(puzzle: str | None, parameter: tuple[str, ...], output: Path | None, state: tuple[str, ...]) -> None:
    """Draw a snake or a board.

    A snake is joint digits (1120), letters (SSLR) or run lengths (3,-2,4), a board its numbers row by row, 0 for the
    blank, with any separators.

    \b
    pipeline draw 3,-2,4
    pipeline draw --output snake.svg 1120
    pipeline draw 1 2 3 4 5 6 7 8 9 10 11 12 13 14 0 15
    """
    draw = _kind_of(output)
    check_output(output)
    text = " ".join(state)
    space = space_of_states(puzzle if puzzle is not None else puzzle_of(text), parameter)
    parsed = space.parse(text)
    if output is None or str(output) == "-":
        click.echo(space.draw_text(parsed))
    else:
        write_output(output, draw(space, parsed))


def _kind_of(output: Path | None) -> Draw:
    if output is None or str(output) == "-":
        return KINDS[".txt"]
    suffix = output.suffix.lower()
    if suffix not in KINDS:
        raise InvalidInput(f"{output} ends in {suffix or 'nothing'}", "pictures are .svg, .png or .txt files")
    return KINDS[suffix]
