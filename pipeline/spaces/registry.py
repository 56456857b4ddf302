"""Puzzles by name: the program's, those of packages (entry points ``pipeline.spaces``), and those in files."""

from __future__ import annotations

import importlib.util
import re
import sys
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from pipeline.spaces.contract import StateSpace
from pipeline.spaces.guards import PASSED_ON, failed
from pipeline.spaces.parameters import first_mistake, validated
from storage.errors import InvalidInput, PuzzleError

GROUP = "pipeline.spaces"
LONGEST_NAME = 120


def _snake() -> type[StateSpace]:
    from pipeline.spaces.snake.space import Snake

    return Snake


def _sliding() -> type[StateSpace]:
    from pipeline.spaces.sliding.space import Sliding

    return Sliding


def _permutations() -> type[StateSpace]:
    from pipeline.spaces.permutations.space import Permutation

    return Permutation


BUILT_IN = {"snake": _snake, "sliding": _sliding, "fifteen": _sliding, "permutations": _permutations}


def names() -> list[str]:
    """Names of all puzzles."""
    return sorted({*BUILT_IN, *(entry.name for entry in entry_points(group=GROUP))})


def is_built_in(name: str) -> bool:
    """Whether a puzzle is one of the program itself."""
    return name in BUILT_IN


def class_of(name: str) -> type[StateSpace]:
    """Class of a puzzle.

    Parameters
    ----------
    name : str
        In the registry; or a file and a class in it, such as ``./my.py:Class``.

    Raises
    ------
    InvalidInput
        If there is no such puzzle.
    PuzzleError
        If it cannot be imported, or is no state space.
    """
    if name in BUILT_IN:
        return BUILT_IN[name]()
    if ":" in name and name.rpartition(":")[0].endswith(".py"):
        return _class_in_file(name)
    for entry in entry_points(group=GROUP):
        if entry.name == name:
            return _class_of_entry(entry)
    raise InvalidInput(f"there is no puzzle called {name!r}", f"choose one of {', '.join(names())}, or a file.py:Class")


def _class_of_entry(entry: EntryPoint) -> type[StateSpace]:
    try:
        found = entry.load()
    except PASSED_ON:
        raise
    except Exception as error:
        raise failed(entry.name, f"when {entry.value} was imported", error) from error
    kind = _checked_class(found, entry.name, entry.value)
    if kind.name != entry.name:
        raise PuzzleError(
            f"the entry point {entry.name!r} leads to {entry.value}, which is called {kind.name!r}",
            "give both the same name: jobs are found by it",
        )
    return kind


def _class_in_file(place: str) -> type[StateSpace]:
    file, _, name = place.rpartition(":")
    path = Path(file)
    if not path.is_file():
        raise InvalidInput(f"there is no file {file}", "a puzzle in a file is given as ./my.py:Class")
    # A name of its own, the same for the same file: classes are found again by it when they are unpickled.
    module_name = f"puzzle_{re.sub('[^0-9A-Za-z]+', '_', str(path.resolve()))}"
    module = sys.modules.get(module_name)
    if module is None:
        spec = importlib.util.spec_from_file_location(module_name, path.resolve())
        if spec is None or spec.loader is None:
            raise InvalidInput(f"{file} is no Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[module_name] = module
        try:
            spec.loader.exec_module(module)
        except PASSED_ON:
            raise
        except Exception as error:
            del sys.modules[module_name]
            raise failed(place, "when it was imported", error) from error
    if not hasattr(module, name):
        raise InvalidInput(f"{file} has no class {name!r}", "a puzzle in a file is given as ./my.py:Class")
    return _checked_class(getattr(module, name), place, place)


def _checked_class(found: object, name: str, place: str) -> type[StateSpace]:
    if not (isinstance(found, type) and issubclass(found, StateSpace)):
        raise PuzzleError(f"the puzzle {name} ({place}) is no subclass of pipeline.StateSpace")
    return found


def parameters_of(name: str) -> type[BaseModel]:
    """Model of the parameters of a puzzle.

    Raises
    ------
    InvalidInput, PuzzleError
    """
    model: object = class_of(name).Parameters
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        raise PuzzleError(f"the puzzle {name} has Parameters that are no pydantic model")
    return model


def make_space(name: str, parameters: dict[str, Any]) -> StateSpace:
    """State space of a puzzle.

    Parameters
    ----------
    name : str
        As :func:`class_of` takes it.
    parameters : dict
        By name; the values may be text.

    Raises
    ------
    InvalidInput
        If there is no such puzzle, or a parameter is unknown or out of range.
    PuzzleError
        If the puzzle cannot be made.
    """
    from pipeline.spaces.claims import check_space

    kind = class_of(name)
    if name == "fifteen":
        parameters = _of_fifteen(parameters)
    if is_built_in(name):
        return kind(**parameters)
    valid = validated(parameters_of(name), parameters)
    # As given, but of the right types; what was not given is left to the constructor.
    typed = {key: getattr(valid, key, value) for key, value in parameters.items()}
    try:
        space = kind(**typed)
    except ValidationError as error:
        raise InvalidInput(first_mistake(error)) from error
    except PASSED_ON:
        raise
    except Exception as error:
        raise failed(name, "when it was made", error) from error
    check_space(space)
    return space


def _of_fifteen(parameters: dict[str, Any]) -> dict[str, Any]:
    for name in ("rows", "cols"):
        if str(parameters.get(name, 4)) != "4":
            raise InvalidInput(f"the fifteen puzzle has 4 {name}, not {parameters[name]}", "use --puzzle sliding")
    return {**parameters, "rows": 4, "cols": 4}


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
    words = [f"{key}-{value}" for key, value in sorted(parameters.items()) if value is not None]
    # A text may hold what a path may not.
    return re.sub(r"[^0-9A-Za-z._,+=-]+", "_", "-".join([space.name, *words]))[:LONGEST_NAME]
