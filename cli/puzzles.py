"""From options to a state space: parameters, what ``--n`` means, and which puzzle a state belongs to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from cli.config import PARAMETERS
from storage.errors import InvalidInput

if TYPE_CHECKING:
    from pipeline.spaces.contract import StateSpace

# The most explicit one first.
_SOURCES = [ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT, ParameterSource.DEFAULT_MAP]


def rank(ctx: click.Context, name: str) -> int:
    """How explicitly an option was given: 0 on the command line, 1 in the environment, 2 in a file, 3 not at all."""
    source = ctx.get_parameter_source(name)
    return _SOURCES.index(source) if source in _SOURCES else len(_SOURCES)


def stronger(first: tuple[str, Any, int], second: tuple[str, Any, int]) -> Any:
    """Of two ways to give the same thing the value that was given more explicitly.

    Parameters
    ----------
    first, second : (str, object, int)
        What the user wrote, the value (None if not given), and its :func:`rank`.

    Raises
    ------
    InvalidInput
        If they contradict each other and are of the same rank.
    """
    if first[1] is None or second[1] is None:
        return second[1] if first[1] is None else first[1]
    if first[2] != second[2]:
        return min(first, second, key=lambda given: given[2])[1]
    if str(first[1]) != str(second[1]):
        raise InvalidInput(
            f"{first[0]} {first[1]} and {second[0]}{second[1]} contradict each other", "give one of them"
        )
    return first[1]


def parse_parameters(texts: Sequence[str]) -> dict[str, str]:
    """Parameters from ``key=value`` texts.

    Raises
    ------
    InvalidInput
    """
    parameters: dict[str, str] = {}
    for text in texts:
        key, sign, value = text.partition("=")
        key = key.strip()
        if not sign or not key:
            raise InvalidInput(f"-p takes KEY=VALUE, not {text!r}")
        if key in parameters:
            raise InvalidInput(f"the parameter {key} is given twice")
        parameters[key] = value.strip()
    return parameters


def searched_space(
    ctx: click.Context, puzzle: str, parameter: Sequence[str], n: int | None, max_depth: int | None
) -> tuple[StateSpace, int | None]:
    """What to search, and how deep.

    ``--n`` is the parameter n of a puzzle that has one, otherwise the last depth.

    Returns
    -------
    StateSpace
    int or None
        Last depth to search.

    Raises
    ------
    InvalidInput
    """
    from pipeline.spaces.registry import make_space, parameters_of

    given = parse_parameters(parameter)
    parameters: dict[str, Any] = {**ctx.meta.get(PARAMETERS, {}), **given}
    rank_of_parameter = rank(ctx, "parameter") if "n" in given else len(_SOURCES) - 1
    without_n = {key: value for key, value in parameters.items() if key != "n"}
    if "n" not in parameters_of(puzzle).model_fields:
        space = make_space(puzzle, parameters)
        return space, stronger(("--n", n, rank(ctx, "n")), ("--max-depth ", max_depth, rank(ctx, "max_depth")))
    length = stronger(("--n", n, rank(ctx, "n")), ("-p n=", parameters.get("n"), rank_of_parameter))
    if length is not None:
        without_n["n"] = length
    return make_space(puzzle, without_n), max_depth


_NUMBERS = re.compile(r"-?[0-9]+")


def looks_like_a_board(text: str) -> int | None:
    """How many numbers a text has if it can only be a board, otherwise None.

    A snake is one word of digits or letters, or runs with commas between them, none of which is 0. A board of one word
    has every hexadecimal digit from 0 on once.
    """
    word = text.strip()
    if re.fullmatch(r"[0-9a-fA-F]{4,16}", word) and sorted(int(digit, 16) for digit in word) == list(range(len(word))):
        return len(word)
    numbers = _NUMBERS.findall(text)
    if len(numbers) < 2 or re.search(r"[A-Za-z]", text):
        return None
    if "," in text and re.fullmatch(r"\s*[+-]?[0-9]+(\s*,\s*[+-]?[0-9]+)*\s*,?\s*", text):
        return len(numbers) if "0" in numbers else None
    return len(numbers)


def puzzle_of(text: str) -> str:
    """Name of the puzzle that a state belongs to, if it shows: 16 numbers are the fifteen puzzle, words are snakes.

    Raises
    ------
    InvalidInput
        If it is a board of another size.
    """
    numbers = looks_like_a_board(text)
    if numbers is None:
        return "snake"
    if numbers == 16:
        return "fifteen"
    raise InvalidInput(
        f"a board of {numbers} numbers can have several shapes",
        "say which, such as --puzzle sliding -p rows=3 -p cols=4 (4x4 boards have 16 numbers)",
    )


def space_of_states(puzzle: str, parameter: Sequence[str]) -> StateSpace:
    """State space for single states. A snake may have any length, unless ``-p n=`` says which.

    Raises
    ------
    InvalidInput
    """
    from pipeline.spaces.registry import make_space

    return make_space(puzzle, parse_parameters(parameter))


def joined_board(states: Sequence[str], puzzle: str | None) -> list[str]:
    """The states, a board whose numbers came as single arguments put together."""
    bare = len(states) > 1 and all(re.fullmatch(r"[0-9]+", state) for state in states)
    if bare and (puzzle in ("fifteen", "sliding") or (puzzle is None and sorted(map(int, states)) == list(range(16)))):
        return [" ".join(states)]
    return list(states)
