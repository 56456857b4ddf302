"""How many shapes there are, from enumerations of self-avoiding walks."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

from storage.errors import InvalidInput

# Rotations and reflections, each with and without swapping head and tail.
SYMMETRIES = 16


@cache
def _sequences() -> dict[str, Any]:
    text = resources.files("pipeline.census").joinpath("reference.json").read_text(encoding="utf-8")
    sequences: dict[str, Any] = json.loads(text)
    return sequences


def largest() -> int:
    """Largest n for which :func:`shapes_of` has a number."""
    return min(len(_sequences()["A001411"]["values"]) - 1, len(_sequences()["A323188"]["values"]))


def shapes_of(n: int) -> int:
    """Shapes of self-avoiding walks of n edges up to rotation, reflection and reversal: A037245(n), and 1 for n = 0.

    By Burnside's lemma they are a sixteenth of the walks that are left in place, summed over the sixteen symmetries.
    The identity leaves all A001411(n) walks in place, a reflection along the walk's line the four straight ones, and a
    reversal with some reflection or half turn those that A323188 and A323189 count. (Formula: B. Dobbelaere, in
    A037245.)

    Raises
    ------
    InvalidInput
        If n is negative or larger than what is known here.
    """
    if not 0 <= n <= largest():
        raise InvalidInput(f"n is {n}", f"the number of shapes is known here for n from 0 to {largest()}")
    if n == 0:
        return 1
    sequences = _sequences()
    walks = sequences["A001411"]["values"][n]
    symmetric = sequences["A323188"]["values"][n - 1] + sequences["A323189"]["values"][n - 1]
    return int((walks + symmetric + 4) // SYMMETRIES)
