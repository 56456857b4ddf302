"""Validation of a puzzle's parameters."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from storage.errors import InvalidInput

Model = TypeVar("Model", bound=BaseModel)


def validated(model: type[Model], parameters: dict[str, Any]) -> Model:
    """Parameters as an instance of a pydantic model.

    Raises
    ------
    InvalidInput
        With the first thing that is wrong, in one line.
    """
    try:
        return model(**parameters)
    except ValidationError as error:
        first = error.errors()[0]
        message = first["msg"].removeprefix("Value error, ")
        name = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            known = ", ".join(model.model_fields)
            raise InvalidInput(f"there is no parameter {name!r}", f"the parameters are {known}") from error
        if first["type"] == "value_error":
            raise InvalidInput(message) from error
        raise InvalidInput(f"parameter {name} is {first['input']!r}: {message[0].lower()}{message[1:]}") from error
