"""Puzzles by name. Packages add theirs under the entry point group ``pipeline.spaces``."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

from pipeline.spaces.contract import StateSpace
from pipeline.spaces.guards import blaming, check_space
from storage.errors import InvalidInput, PuzzleError

GROUP = "pipeline.spaces"


def _snake(**parameters: Any) -> StateSpace:
    from pipeline.spaces.snake.space import Snake

    return Snake(**parameters)


def _sliding(**parameters: Any) -> StateSpace:
    from pipeline.spaces.sliding.space import Sliding

    return Sliding(**parameters)


def _permutations(**parameters: Any) -> StateSpace:
    from pipeline.spaces.permutations.space import Permutation

    return Permutation(**parameters)


def _fifteen(**parameters: Any) -> StateSpace:
    for name in ("rows", "cols"):
        if str(parameters.get(name, 4)) != "4":
            raise InvalidInput(f"the fifteen puzzle has 4 {name}, not {parameters[name]}", "use --puzzle sliding")
    return _sliding(**{**parameters, "rows": 4, "cols": 4})


BUILT_IN = {"snake": _snake, "sliding": _sliding, "fifteen": _fifteen, "permutations": _permutations}


def names() -> list[str]:
    """Names of all puzzles."""
    return sorted({*BUILT_IN, *(entry.name for entry in entry_points(group=GROUP))})


def make_space(name: str, parameters: dict[str, Any]) -> StateSpace:
    """State space of a puzzle.

    Parameters
    ----------
    name : str
    parameters : dict
        By name; the values may be text.

    Raises
    ------
    InvalidInput
        If there is no such puzzle, or a parameter is unknown or out of range.
    """
    if name in BUILT_IN:
        return BUILT_IN[name](**parameters)
    for entry in entry_points(group=GROUP):
        if entry.name == name:
            with blaming(name, "while it was loaded"):
                kind = entry.load()
            with blaming(name, "while it was made"):
                space: StateSpace = kind(**parameters)
            check_space(space)
            if space.name != name:
                raise PuzzleError(
                    f"the puzzle {space.name} is installed under the name {name}", "the two names have to be the same"
                )
            return space
    raise InvalidInput(f"there is no puzzle called {name!r}", f"choose one of {', '.join(names())}")


def short_name(space: StateSpace) -> str:
    """Name for a job of this space, such as ``snake-17``, ``fifteen`` or ``sliding-3x4``."""
    if space.name == "permutations":
        name: str = space.short_name()  # type: ignore[attr-defined]
        return name
    parameters = space.parameters.model_dump()
    if space.name == "snake":
        words = [f"snake-{parameters['n']}"]
        if parameters["collision"] != "swept":
            words.append(parameters["collision"])
        if parameters["start"] is not None:
            words.append(f"from-{parameters['start']}")
        return "-".join(words)
    if space.name == "sliding":
        rows, cols, blank = parameters["rows"], parameters["cols"], parameters["blank"]
        name = "fifteen" if rows == cols == 4 else f"sliding-{rows}x{cols}"
        return name if blank == rows * cols - 1 else f"{name}-blank-{blank}"
    return "-".join([space.name, *(f"{key}-{value}" for key, value in sorted(parameters.items()))])
