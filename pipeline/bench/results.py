"""Results that are kept: what they look like, and one compared with another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from storage.errors import InvalidInput

RESULT_FORMAT = 1
MOST_BYTES = 1 << 22
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class CaseFigures(BaseModel):
    """What is compared of a case; a result may say more."""

    model_config = ConfigDict(extra="allow")

    seconds: Positive
    processor_seconds: Positive
    peak_bytes: Positive
    each_second_and_core: Positive


class Result(BaseModel):
    """A result document, as far as comparing needs it.

    Attributes
    ----------
    cases, steps, sorts : dict
        Figures by case, by case and step, and by size and kind of sort.
    disk : dict
        ``write`` and ``read`` in bytes a second.
    """

    model_config = ConfigDict(extra="allow")

    format: Literal[1]
    cases: dict[str, CaseFigures]
    steps: dict[str, dict[str, float]]
    sorts: dict[str, dict[str, Positive]]
    disk: dict[str, Positive]


def read_result(path: Path) -> dict[str, Any]:
    """A result document from a file.

    Raises
    ------
    InvalidInput
        If it cannot be read, or is something else.
    """
    remedy = "give a file that 'pipeline bench --save' wrote"
    try:
        with open(path, "rb") as file:
            text = file.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            raise InvalidInput(f"{path} is too large for a result of 'pipeline bench'", remedy)
        return Result.model_validate_json(text).model_dump()
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read ({error.strerror or error})", remedy) from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise InvalidInput(
            f"{path} is no result of 'pipeline bench': {place + ': ' if place else ''}{first['msg']}", remedy
        ) from error


def ratios(new: dict[str, Any], old: dict[str, Any]) -> dict[str, float]:
    """Time now over time before, of whatever is in both results; below 1 is faster.

    Returns
    -------
    dict
        By the path of the figure, such as ``cases/snake 17`` or ``steps/fifteen 25/expand``.
    """
    found: dict[str, float] = {}
    for case, figures in new["cases"].items():
        if case in old["cases"]:
            found[f"cases/{case}"] = figures["seconds"] / old["cases"][case]["seconds"]
    for kind in ("steps", "sorts"):
        for group, figures in new[kind].items():
            for name, value in figures.items():
                before = old[kind].get(group, {}).get(name)
                if before and name not in ("depth", "neighbours"):
                    found[f"{kind}/{group}/{name}"] = value / before
    for name, speed in new["disk"].items():
        if name in old["disk"]:
            found[f"disk/{name}"] = old["disk"][name] / speed
    return found
