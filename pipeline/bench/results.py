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
    """What is compared of a case; a result says more."""

    model_config = ConfigDict(extra="allow")

    seconds: Positive


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


def read_result(path: Path) -> Result:
    """A result from a file.

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
        return Result.model_validate_json(text)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read ({error.strerror or error})", remedy) from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise InvalidInput(
            f"{path} is no result of 'pipeline bench': {place + ': ' if place else ''}{first['msg']}", remedy
        ) from error


def ratios(document: dict[str, Any], before: Result) -> dict[str, float]:
    """Time now over time before, of whatever is in both results; below 1 is faster.

    Parameters
    ----------
    document : dict
        The result of now.
    before : Result

    Returns
    -------
    dict
        By the path of the figure, such as ``cases/snake 17`` or ``steps/fifteen 25/expand``.
    """
    now = Result.model_validate(document)
    found: dict[str, float] = {}
    for case, figures in now.cases.items():
        if case in before.cases:
            found[f"cases/{case}"] = figures.seconds / before.cases[case].seconds
    for kind, new, old in (("steps", now.steps, before.steps), ("sorts", now.sorts, before.sorts)):
        for group, times in new.items():
            for name, value in times.items():
                earlier = old.get(group, {}).get(name)
                if earlier and name not in ("depth", "neighbours"):
                    found[f"{kind}/{group}/{name}"] = value / earlier
    for name, speed in now.disk.items():
        if name in before.disk:
            found[f"disk/{name}"] = before.disk[name] / speed
    return found
