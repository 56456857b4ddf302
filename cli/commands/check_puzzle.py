"""``pipeline check-puzzle``: the kit for authors."""

from __future__ import annotations

import click

from cli.options import json_option, parameter_option
from cli.puzzles import parse_parameters
from cli.streams import print_json
from storage.errors import PipelineError


@click.command("check-puzzle")
@parameter_option
@click.option(
    "--states", type=click.IntRange(min=1), default=2000, show_default=True, help="Look at about so many states."
)
@json_option("Print a JSON document.")
@click.argument("puzzle", metavar="PUZZLE")
def command(parameter: tuple[str, ...], states: int, json: bool, puzzle: str) -> None:
    """Check whether a PUZZLE does what the contract asks: its name, or a file and class such as ./my.py:Class.

    Its claims are checked on the first states, blocks of keys are cut in many ways, states are written and read, and a
    search is compared with one in plain Python sets.
    """
    from pipeline.spaces.registry import class_of, make_space

    given = parse_parameters(parameter)
    space = make_space(puzzle, given or dict(class_of(puzzle).example))
    try:
        from pipeline.testing import check_space
    except ImportError as error:
        raise PipelineError(
            f"the kit needs a package that is not installed ({error.name})", "install hypothesis"
        ) from error
    checked = check_space(space, states)
    if json:
        print_json({"puzzle": space.name, "states": checked.states, "depths": checked.depths})
        return
    click.echo(f"{space.name} is as it claims, on {checked.states} states of {checked.depths} depths")
