"""Entries of a journal of version 1, which do not say of which census they are: believed as far as they fit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pipeline.census.prefixes import block_count, prefix_edges, prefixes
from pipeline.census.records import SHAPES, Result
from storage.errors import CorruptJob
from storage.journal import ENTRIES, REMEDY


def another_census(path: Path) -> CorruptJob:
    """The error of a journal whose entries contradict its description."""
    return CorruptJob(f"{path / ENTRIES} was written for another census, in part at least", REMEDY, path / ENTRIES)


def check_untagged(found: Mapping[tuple[str, int], Result], n: int, exhaustive: bool, path: Path) -> None:
    """Compare entries with the tasks of a census.

    Parameters
    ----------
    found : dict
        Results by phase and number of the task.
    n : int
    exhaustive : bool
        Which census it is.
    path : Path
        Of the journal, for the message.

    Raises
    ------
    CorruptJob
        If there is a task that this census does not have, or a shape that its task cannot have found.
    """
    edges, blocks = prefix_edges(n, exhaustive), block_count(n, exhaustive)
    whole, others = ("exhaustive", ()) if exhaustive else ("stuck", ("components", "bends", "delayed"))
    for (phase, task), result in found.items():
        if phase in others:
            continue
        if phase != whole or task >= blocks:
            raise another_census(path)
        shapes = result[SHAPES[phase]]
        if not shapes:
            continue
        beginnings = {"".join(map(str, prefix)) for prefix in prefixes(edges)[task::blocks]}
        if any(shape[: edges - 1] not in beginnings for shape in shapes):
            raise another_census(path)
