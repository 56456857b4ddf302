"""What tasks of a census return, and how entries of a journal, which may be anybody's, are checked before use."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

Count = Annotated[int, Field(ge=0)]
Shape = Annotated[str, Field(pattern=r"^[012]+$", max_length=64)]

Result = dict[str, Any]


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class StuckRecord(_Record):
    """Of the search for stuck shapes behind some prefixes.

    Attributes
    ----------
    walks : int
        Stuck walks, each shape from both of its ends.
    shapes : list of str
        Shapes among them, each where its canonical form was found.
    nodes : int
        Walks that were looked at.
    """

    walks: Count
    shapes: list[Shape]
    nodes: Count


class ComponentsRecord(_Record):
    """Of the search of the components of some stuck shapes: all shapes of the locked ones."""

    locked: list[Shape]


class ExhaustiveRecord(_Record):
    """Of counting all shapes behind some prefixes.

    Attributes
    ----------
    shapes : int
    bends : list of int
        Shapes for each number of bends.
    stuck : list of str
        The stuck shapes.
    nodes : int
        Walks that were looked at.
    """

    shapes: Count
    bends: list[Count]
    stuck: list[Shape]
    nodes: Count


class BendsRecord(_Record):
    """Of counting walks: for each number of bends those of some height, or that some symmetry leaves in place."""

    walks: list[Count]


class DelayedRecord(_Record):
    """Of the search for delayed shapes.

    Attributes
    ----------
    bends : list of int
        How many have each number of bends.
    depths : list of int
        How many that can be reached lie at each depth.
    """

    bends: list[Count]
    depths: list[Count]


class _Entry(_Record):
    phase: str
    task: Count
    result: dict[str, Any]


RECORDS: dict[str, type[_Record]] = {
    "stuck": StuckRecord,
    "components": ComponentsRecord,
    "exhaustive": ExhaustiveRecord,
    "bends": BendsRecord,
    "delayed": DelayedRecord,
}
# Where the shapes are.
SHAPES = {"stuck": "shapes", "components": "locked", "exhaustive": "stuck"}


def finished(entries: Iterable[Any], n: int) -> dict[tuple[str, int], Result]:
    """Results by phase and number of the task. Entries that are not what a census of n edges writes are left out."""
    found: dict[tuple[str, int], Result] = {}
    for entry in entries:
        try:
            checked = _Entry.model_validate(entry)
            record = RECORDS[checked.phase].model_validate(checked.result)
        except (ValidationError, KeyError):
            continue
        result = record.model_dump()
        shapes = result[SHAPES[checked.phase]] if checked.phase in SHAPES else []
        by_bends = [result[name] for name in ("bends", "walks") if isinstance(result.get(name), list)]
        if all(len(shape) == n - 1 for shape in shapes) and all(len(row) == n for row in by_bends):
            found[checked.phase, checked.task] = result
    return found
