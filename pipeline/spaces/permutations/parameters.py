"""Parameters of a puzzle made of permutations, and what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from pipeline.spaces.parameters import validated
from pipeline.spaces.permutations import families
from pipeline.spaces.permutations.files import read_file, read_moves, write_moves
from pipeline.spaces.permutations.generators import LONGEST_NAME, MAX_POINTS, Generators
from pipeline.spaces.permutations.notation import join_letters, split_letters
from storage.errors import InvalidInput

DEFAULT_FAMILY, DEFAULT_SIZE = "pancake", 8


class PermutationParameters(BaseModel):
    """Parameters of a search of permutations. Either a family or moves of the user's own.

    Attributes
    ----------
    family : str, optional
        One of ``families.FAMILIES``; pancake unless given.
    size : int, optional
        Of a family that has sizes.
    rings : str, optional
        Of the Hungarian rings: tokens and gap of the left ring, tokens and gap of the right one, with commas.
    metric : str, optional
        Of the pocket cube: whether a half turn is one move (``half``) or two (``quarter``).
    generators : str, optional
        Moves of one's own, as JSON (images from 0) or GAP (cycles from 1); recorded as JSON.
    file : str, optional
        Where to read them from. What the file says is recorded, its name is not.
    start : str, optional
        Letters of the root, one for each place. If some are equal, words are searched instead of permutations.
    notation : str
        How permutations are written: their letters, or in cycles of places from 1. It is not recorded.
    closed, powers : bool
        Add the inverses of the moves, or all their powers.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    family: Literal[families.FAMILIES] | None = None  # type: ignore[valid-type]
    size: int | None = Field(default=None, ge=1, le=MAX_POINTS)
    rings: str | None = None
    metric: Literal["quarter", "half"] | None = None
    generators: str | None = None
    file: str | None = Field(default=None, exclude=True)
    start: str | None = None
    notation: Literal["letters", "cycles"] = Field(default="letters", exclude=True)
    closed: bool = False
    powers: bool = False


class Puzzle(NamedTuple):
    """What is searched: parameters to record, moves, and the letters of the root."""

    parameters: PermutationParameters
    generators: Generators
    letters: list[str]


def read_parameters(given: dict[str, Any]) -> Puzzle:
    """Moves and root of a puzzle.

    Raises
    ------
    InvalidInput
        If a parameter is unknown, out of range, missing, or does not go with the others.
    """
    parameters = validated(PermutationParameters, {name: value for name, value in given.items() if value is not None})
    changes: dict[str, Any] = {}
    start = parameters.start
    if parameters.file is not None or parameters.generators is not None:
        if parameters.file is not None and parameters.generators is not None:
            raise InvalidInput("the moves are given twice", "give a file or generators")
        _refuse(parameters, ("family", "size", "rings", "metric"), "moves of one's own")
        if parameters.file is not None:
            puzzle = read_file(Path(parameters.file))
            start = start if start is not None else puzzle.start
        else:
            puzzle = read_moves(str(parameters.generators))
        moves = puzzle.moves
        changes |= {"generators": write_moves(moves), "file": None}
    else:
        family = parameters.family if parameters.family is not None else DEFAULT_FAMILY
        moves, values = _family(parameters, str(family))
        changes |= {"family": family, **values}
    generators = Generators.of(moves, parameters.closed, parameters.powers)
    letters = [str(place) for place in range(generators.points)] if start is None else split_letters(start)
    for place, letter in enumerate(letters, start=1):
        if not letter.isprintable() or len(letter) > LONGEST_NAME:
            raise InvalidInput(f"the start has {letter[:LONGEST_NAME]!r} at place {place}, which cannot be a letter")
    if len(letters) != generators.points:
        raise InvalidInput(f"the start has {len(letters)} letters; the moves act on {generators.points} places")
    if parameters.notation == "cycles" and len(set(letters)) < len(letters):
        raise InvalidInput("a word with equal letters cannot be written in cycles")
    changes["start"] = None if start is None else join_letters(letters)
    return Puzzle(parameters.model_copy(update=changes), generators, letters)


def _refuse(parameters: PermutationParameters, names: tuple[str, ...], owner: str) -> None:
    for name in names:
        if getattr(parameters, name) is not None:
            raise InvalidInput(f"{owner} cannot have the parameter {name}")


def _family(parameters: PermutationParameters, name: str) -> tuple[families.Moves, dict[str, Any]]:
    """Moves of a family, and its parameters with defaults put in."""
    own = {families.RINGS: "rings", families.CUBE: "metric"}.get(name, "size")
    _refuse(parameters, tuple({"size", "rings", "metric"} - {own}), f"the family {name}")
    if name == families.CUBE:
        metric = parameters.metric or "quarter"
        return families.pocket_cube(metric == "half"), {"metric": metric}
    if name == families.RINGS:
        rings = _rings(parameters.rings or "")
        return families.hungarian_rings(*rings), {"rings": ",".join(map(str, rings))}
    family = families.SIZED[name]
    size = parameters.size if parameters.size is not None else DEFAULT_SIZE
    if size < family.smallest:
        raise InvalidInput(f"size is {size}; the family {name} begins at {family.smallest}")
    if name == "burnt-pancake" and 2 * size > MAX_POINTS:
        raise InvalidInput(f"size is {size}; burnt pancakes go up to {MAX_POINTS // 2}")
    return family.moves(size), {"size": size}


def _rings(text: str) -> tuple[int, int, int, int]:
    parts = [part.strip() for part in text.strip("[]()").split(",")]
    if len(parts) != 4 or not all(part.isdecimal() and len(part) <= 3 for part in parts):
        raise InvalidInput(f"rings is {text!r}", "give four numbers such as rings=3,1,6,2: tokens and gap of each ring")
    left, left_gap, right, right_gap = map(int, parts)
    for ring, tokens, gap in (("left", left, left_gap), ("right", right, right_gap)):
        if not 0 < gap < tokens:
            raise InvalidInput(f"rings is {text!r}: the gap of the {ring} ring, {gap}, is not 1 to {tokens - 1}")
    if left + right - 2 > MAX_POINTS:
        raise InvalidInput(f"rings is {text!r}: there are more than {MAX_POINTS} tokens")
    return left, left_gap, right, right_gap
