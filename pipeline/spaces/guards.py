"""What a state space may not do, noticed where it is asked: one line that names the puzzle instead of a traceback."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from pydantic import BaseModel

from pipeline.spaces.contract import Detection, Expansion, KeyLayout, Keys, StateSpace
from storage.errors import PipelineError, PuzzleError

MOST_FIELD_BITS = 32
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}")
ADVICE = "this is an error of the puzzle, which 'pipeline check-puzzle' looks into"


@contextmanager
def blaming(name: str, doing: str) -> Iterator[None]:
    """Turn whatever a puzzle raises into an error that names it.

    Parameters
    ----------
    name : str
        Of the puzzle.
    doing : str
        What it was asked for, as in "the puzzle hanoi failed ...".

    Raises
    ------
    PuzzleError
    """
    try:
        yield
    except (PipelineError, MemoryError):
        raise
    except Exception as error:
        text = " ".join(str(error).split())[:300]
        raise PuzzleError(f"the puzzle {name} failed {doing} ({type(error).__name__}: {text})", ADVICE) from error


def check_space(space: StateSpace) -> None:
    """Compare what a state space says of itself with itself.

    Raises
    ------
    PuzzleError
        With the first thing that cannot be.
    """
    name = getattr(space, "name", None)
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise PuzzleError(f"the puzzle {type(space).__name__} has the name {name!r}", "a name is letters and digits")

    def refuse(what: str) -> PuzzleError:
        return PuzzleError(f"the puzzle {name} {what}", ADVICE)

    for attribute in ("parameters", "layout", "detection", "bipartite", "max_neighbours", "undirected"):
        if not hasattr(space, attribute):
            raise refuse(f"has no {attribute}")
    if not isinstance(space.parameters, BaseModel):
        raise refuse("has parameters that are no pydantic model")
    layout = space.layout
    if not isinstance(layout, KeyLayout):
        raise refuse(f"has the layout {layout!r}, which is no KeyLayout")
    if not 0 <= layout.mask_bits <= layout.field_bits <= MOST_FIELD_BITS:
        raise refuse(
            f"has keys with {layout.mask_bits} mask bits and {layout.field_bits} field bits: the mask is a part of the "
            f"fields, which have at most {MOST_FIELD_BITS} bits"
        )
    if not isinstance(space.detection, Detection):
        raise refuse(f"has the detection {space.detection!r}, which is no Detection")
    if type(space.max_neighbours) is not int or space.max_neighbours < 1:
        raise refuse(f"has max_neighbours {space.max_neighbours!r}, which is no number of at least 1")
    if space.detection is Detection.MASKS and not layout.mask_bits:
        raise refuse("claims detection MASKS and has no mask bits in its keys")
    if space.detection is Detection.ONE_SIDED and not space.bipartite:
        raise refuse("claims detection ONE_SIDED, which needs a bipartite graph, and is not bipartite")
    if not space.undirected and (space.detection is not Detection.LEVELS or space.bipartite):
        raise refuse("has moves that cannot be undone, which goes with detection LEVELS alone, and without bipartite")


def checked_roots(space: StateSpace) -> Keys:
    """The roots of a state space, ascending and each once.

    Raises
    ------
    PuzzleError
        If they are not.
    """
    with blaming(space.name, "while it made its roots"):
        roots = space.roots()
    if not isinstance(roots, np.ndarray) or roots.dtype != np.uint64 or roots.ndim != 1:
        kind = f"{roots.dtype} of {roots.ndim} dimensions" if isinstance(roots, np.ndarray) else type(roots).__name__
        raise PuzzleError(
            f"the roots of the puzzle {space.name} are {kind}, not a one-dimensional array of uint64", ADVICE
        )
    if not roots.size:
        raise PuzzleError(f"the puzzle {space.name} has no roots", ADVICE)
    bare = roots >> np.uint64(space.layout.mask_bits)
    wrong = np.flatnonzero(bare[1:] <= bare[:-1])
    if wrong.size:
        place = int(wrong[0])
        how = "given twice" if bare[place] == bare[place + 1] else "not ascending"
        raise PuzzleError(
            f"the roots of the puzzle {space.name} are {how}: {int(roots[place])} comes before {int(roots[place + 1])}",
            ADVICE,
        )
    return roots


def expand_checked(space: StateSpace, keys: Keys, out: Keys, exhaustive: bool) -> Expansion:
    """Let a state space expand keys, and make sure that what it says of it can be.

    Parameters
    ----------
    keys, out, exhaustive
        As for :meth:`StateSpace.expand`.

    Raises
    ------
    PuzzleError
    """
    try:
        step = space.expand(keys, out, exhaustive)
    except (PipelineError, MemoryError):
        raise
    except Exception as error:
        with blaming(space.name, f"while it expanded the key {_culprit(space, keys, out, exhaustive)}"):
            raise error from None
    if type(step) is not Expansion or any(not isinstance(number, int | np.integer) for number in step):
        raise PuzzleError(
            f"the puzzle {space.name} returned {type(step).__name__} from expand, not an Expansion of integers", ADVICE
        )
    consumed, written = step.consumed, step.written
    if not 0 <= consumed <= keys.size or (consumed == 0 and keys.size and out.size >= space.max_neighbours):
        raise PuzzleError(
            f"the puzzle {space.name} says that it expanded {consumed} of {keys.size} keys, with room for {out.size} "
            f"neighbours, from the key {int(keys[0]) if keys.size else None} on",
            ADVICE,
        )
    if not 0 <= written <= min(out.size, consumed * space.max_neighbours):
        raise PuzzleError(
            f"the puzzle {space.name} says that it wrote {written} neighbours of {consumed} keys to {out.size} places, "
            f"and that a key has at most {space.max_neighbours}, from the key {int(keys[0]) if keys.size else None} on",
            ADVICE,
        )
    return step


def _culprit(space: StateSpace, keys: Keys, out: Keys, exhaustive: bool) -> int:
    """The first key that cannot be expanded on its own; the first of all if each can."""
    for place in range(keys.size):
        try:
            space.expand(keys[place : place + 1], out, exhaustive)
        except Exception:
            return int(keys[place])
    return int(keys[0])
