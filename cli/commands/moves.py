"""``pipeline moves``: the legal neighbours of states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cli.options import json_option, parameter_option, puzzle_option
from cli.puzzles import joined_board, parse_parameters, puzzle_of, space_of_states
from cli.states import StateCommand, given_states
from cli.streams import print_json
from storage.errors import InvalidInput

if TYPE_CHECKING:
    from pipeline.spaces.contract import StateSpace


@click.command("moves", cls=StateCommand, short_help="Print the legal neighbours of states.")
@puzzle_option(None, "The puzzle of the states; snake or fifteen, whichever they look like, unless given.")
@parameter_option
@json_option("Print an object for each state, one a line.")
@click.argument("states", metavar="[STATE]...", nargs=-1)
def command(puzzle: str | None, parameter: tuple[str, ...], json: bool, states: tuple[str, ...]) -> None:
    """Print the legal neighbours of each STATE, or of each line of standard input.

    A snake is joint digits (1120), letters (SSLR) or run lengths (3,-2,4), a board its numbers row by row, 0 for the
    blank. Neighbours of a snake keep its head, tail and orientation.

    \b
    pipeline moves 1120 SSLR
    pipeline moves --puzzle sliding -p rows=2 -p cols=2 "1 2 3 0"
    pipeline moves --puzzle permutations -p family=pancake -p size=4 "3 1 0 2"
    """
    from pipeline.spaces.guards import asking

    spaces: dict[str, StateSpace] = {}
    has_n = "n" in parse_parameters(parameter)
    for place, text in given_states(joined_board(states, puzzle)):
        try:
            name = puzzle if puzzle is not None else puzzle_of(text)
            if name not in spaces:
                spaces[name] = space_of_states(name, parameter)
            with asking(spaces[name], text):
                _print_moves(spaces[name], text, json, check_length=has_n)
        except InvalidInput as error:
            raise InvalidInput(f"{place}{error.message}", error.remedy) from error


def _print_moves(space: StateSpace, text: str, json: bool, check_length: bool) -> None:
    state = space.parse(text)
    if check_length:
        space.key_of(state)
    moves = [(name, space.format(neighbour)) for name, neighbour in space.moves(state)]
    if json:
        names, neighbours = [name for name, _ in moves], [neighbour for _, neighbour in moves]
        print_json({"state": space.format(state), "neighbours": neighbours, "moves": names})
        return
    click.echo(space.format(state))
    for _, neighbour in moves:
        click.echo(f"  {neighbour}")
