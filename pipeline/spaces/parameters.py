"""Parameters of a puzzle: the model they are validated by, and what is said of those that are wrong."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, PydanticUserError, ValidationError, create_model

from storage.errors import InvalidInput, PuzzleError

Model = TypeVar("Model", bound=BaseModel)


class NoParameters(BaseModel):
    """Of a puzzle that has none."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def validated(model: type[Model], parameters: dict[str, Any]) -> Model:
    """Parameters as an instance of a pydantic model, which must know all of them.

    Raises
    ------
    InvalidInput
        With the first thing that is wrong, in one line.
    """
    # Whatever the model's own configuration says: a misspelt parameter would be ignored.
    fields = model.model_fields
    known = {name for key, field in fields.items() for name in (key, field.alias) if name is not None}
    for name in parameters:
        if name not in known:
            remedy = f"the parameters are {', '.join(fields)}" if fields else "this puzzle has no parameters"
            raise InvalidInput(f"there is no parameter {name!r}", remedy)
    try:
        return model(**parameters)
    except ValidationError as error:
        raise InvalidInput(first_mistake(error)) from error


def first_mistake(error: ValidationError) -> str:
    """The first thing that pydantic found wrong with parameters, in one line."""
    first = error.errors()[0]
    message = first["msg"].removeprefix("Value error, ")
    name = ".".join(str(part) for part in first["loc"])
    if first["type"] == "missing":
        return f"the parameter {name} is missing; give it with -p {name}=..."
    if first["type"] == "value_error":
        return message
    return f"parameter {name} is {first['input']!r}: {message[0].lower()}{message[1:]}"


def model_of_signature(name: str, constructor: Callable[..., Any] | None) -> type[BaseModel]:
    """Model of the parameters that a constructor takes.

    Parameters
    ----------
    name : str
        Of the class.
    constructor : callable or None
        Its ``__init__``; None for a class that has no parameters.

    Raises
    ------
    PuzzleError
        If a type is nothing that can be validated.
    """
    fields: dict[str, Any] = {}
    if constructor is not None:
        try:
            hints = get_type_hints(constructor)
        except (NameError, TypeError):
            # Of types that are known to type checkers alone.
            hints = {}
        for parameter in list(inspect.signature(constructor).parameters.values())[1:]:
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            default = ... if parameter.default is parameter.empty else parameter.default
            fields[parameter.name] = (hints.get(parameter.name, _type_of(default)), default)
    try:
        return create_model(f"{name}Parameters", __config__=ConfigDict(extra="forbid", frozen=True), **fields)
    except (PydanticUserError, NameError, TypeError) as error:
        first = " ".join(str(error).split("\n")[:1])
        raise PuzzleError(f"the parameters of the puzzle {name} cannot be validated ({first})") from error


def _type_of(default: Any) -> Any:
    return Any if default is ... or default is None else type(default)


def bound_parameters(
    model: type[Model], constructor: Callable[..., Any], arguments: tuple[Any, ...], parameters: dict[str, Any]
) -> Model:
    """What a constructor is called with, as an instance of its model."""
    names = list(model.model_fields)
    return validated(model, {**dict(zip(names, arguments, strict=False)), **parameters})


def check_recordable(space: str, parameters: dict[str, Any]) -> None:
    """Make sure that a job can keep parameters.

    Raises
    ------
    InvalidInput
        If one is neither a number nor a text nor a truth value.
    """
    for name, value in parameters.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise InvalidInput(f"the parameter {name} of {space} is {value}", "give a number")
        if value is not None and not isinstance(value, (bool, int, float, str)):
            raise InvalidInput(
                f"the parameter {name} of {space} is a {type(value).__name__}; a job keeps numbers and texts",
                "let the puzzle take it as a text, such as 1,2,3",
            )
