"""``pipeline draw``: a picture of a state."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.options import output_option, parameter_option, puzzle_option
from cli.puzzles import puzzle_of, space_of_states
from cli.states import StateCommand, given_states
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
@click.argument("states", metavar="[STATE]...", nargs=-1)
def command(puzzle: str | None, parameter: tuple[str, ...], output: Path | None, states: tuple[str, ...]) -> None:
    """Draw each STATE, or each line of standard input: snakes, boards, or the states of other puzzles.

    A snake is joint digits (1120), letters (SSLR) or run lengths (3,-2,4), a board its numbers row by row, 0 for the
    blank, with any separators.

    \b
    pipeline draw 3,-2,4
    pipeline draw --output snake.svg 1120
    pipeline draw 1 2 3 4 5 6 7 8 9 10 11 12 13 14 0 15
    """
    from pipeline.spaces.guards import asking

    draw = _kind_of(output)
    check_output(output)
    spaces: dict[str, StateSpace] = {}
    drawn = 0
    for place, text in given_states(_joined(states)):
        try:
            name = puzzle if puzzle is not None else puzzle_of(text)
            if name not in spaces:
                spaces[name] = space_of_states(name, parameter)
            with asking(spaces[name], text):
                state = spaces[name].parse(text)
        except InvalidInput as error:
            raise InvalidInput(f"{place}{error.message}", error.remedy) from error
        drawn += 1
        if output is None or str(output) == "-":
            with asking(spaces[name], text):
                click.echo(("\n" if drawn > 1 else "") + spaces[name].draw_text(state))
        elif drawn == 1:
            with asking(spaces[name], text):
                picture = draw(spaces[name], state)
            if not picture:
                raise InvalidInput(f"the puzzle {name} draws no {output.suffix} pictures", "draw it as text")
            write_output(output, picture)
        else:
            raise InvalidInput(f"{output} holds one picture, and there are several states", "draw them one by one")
    if not drawn:
        raise InvalidInput("there is no STATE to draw", "give one as an argument, or one a line on standard input")


def _joined(states: Sequence[str]) -> list[str]:
    """The states; a board, or runs, whose numbers came as single arguments put together."""
    pieces = all(re.fullmatch(r"[0-9]{1,2}", state) for state in states)
    if len(states) > 1 and (pieces or any(state.endswith(",") for state in states[:-1])):
        return [" ".join(states)]
    return list(states)


def _kind_of(output: Path | None) -> Draw:
    if output is None or str(output) == "-":
        return KINDS[".txt"]
    suffix = output.suffix.lower()
    if suffix not in KINDS:
        raise InvalidInput(f"{output} ends in {suffix or 'nothing'}", "pictures are .svg, .png or .txt files")
    return KINDS[suffix]
