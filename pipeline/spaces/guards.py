"""Asking a puzzle for roots and neighbours without trusting it: whatever it does wrong ends with what and where.

The guards here are cheap enough for every block of keys. What costs more is checked on samples, in
:mod:`pipeline.spaces.claims`.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from pipeline.spaces.contract import Expansion, Keys, StateSpace
from storage.errors import FalseClaim, InvalidInput, PipelineError, PuzzleError, Stopped

# What a puzzle may raise through: errors with a message of their own, and what is no fault of it.
PASSED_ON = (PipelineError, Stopped, MemoryError)


def described(space: StateSpace, key: int) -> str:
    """A state for a message: as the puzzle writes it, and its key."""
    bare = key >> space.layout.mask_bits << space.layout.mask_bits
    try:
        text = space.format(space.state_of(bare))
    except Exception:
        # The puzzle is in trouble already.
        text = str(bare)
    return f"{text} (key {key:#x})" if text != str(key) else f"{key} ({key:#x})"


def failed(space_name: str, what: str, error: BaseException) -> PuzzleError:
    """Error of a puzzle that raised an exception, with the place in its source."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if len(frames) > 1 else ""
    text = " ".join(str(error).split())
    reason = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return PuzzleError(f"the puzzle {space_name} failed {what}: {reason}{place}")


@contextmanager
def asking(space: StateSpace, text: str) -> Iterator[None]:
    """While a puzzle reads or writes a state that a user gave: what it raises becomes a line about that state.

    Raises
    ------
    InvalidInput
        If the puzzle says that a value is wrong.
    PuzzleError
        If it fails in another way.
    """
    try:
        yield
    except PASSED_ON:
        raise
    except OSError:
        raise
    except ValueError as error:
        if type(space).__module__.startswith("pipeline."):
            raise
        reason = " ".join(str(error).split())
        raise InvalidInput(f"{text!r} is no state of the puzzle {space.name} ({reason})") from error
    except Exception as error:
        if type(space).__module__.startswith("pipeline."):
            raise
        raise failed(space.name, f"on the state {text!r}", error) from error


def roots_of(space: StateSpace) -> Keys:
    """Keys of depth 0.

    Raises
    ------
    PuzzleError
        If there are none, or they are no keys, or do not ascend.
    """
    try:
        given = np.asarray(space.roots())
    except PASSED_ON:
        raise
    except Exception as error:
        raise failed(space.name, "when it was asked for its roots", error) from error
    if given.ndim != 1 or given.size == 0:
        raise PuzzleError(f"the puzzle {space.name} has no roots", "give a list of keys with at least one")
    if given.dtype.kind not in "iu":
        raise PuzzleError(f"the roots of the puzzle {space.name} are of type {given.dtype}", "keys are integers")
    if given.dtype.kind == "i" and given.min() < 0:
        raise PuzzleError(f"the puzzle {space.name} has the root {given.min()}", "keys are 0 or more")
    roots = given.astype(np.uint64)
    for before, after in zip(roots[:-1].tolist(), roots[1:].tolist(), strict=True):
        if before >= after:
            raise FalseClaim(
                f"the roots of the puzzle {space.name} do not ascend: {described(space, before)} comes before "
                f"{described(space, after)}",
                "sort them, and give each once",
            )
    _refuse_outside(space, roots, "has the root")
    return roots


def expand_safely(space: StateSpace, keys: Keys, out: Keys, exhaustive: bool) -> Expansion:
    """:meth:`StateSpace.expand`, if it does what it says; ``out`` has room for the neighbours of one key at least.

    Raises
    ------
    PuzzleError
        If it raises an exception, does not come forward, or writes what it may not.
    """
    try:
        step = space.expand(keys, out, exhaustive)
    except PASSED_ON:
        raise
    except Exception as error:
        raise failed(space.name, f"on the state {_culprit(space, keys, exhaustive)}", error) from error
    if type(step) is not Expansion:
        raise PuzzleError(
            f"expand of the puzzle {space.name} returned {type(step).__name__}", "it returns an Expansion"
        )
    try:
        consumed, written = int(step.consumed), int(step.written)
    except (TypeError, ValueError):
        raise PuzzleError(f"expand of the puzzle {space.name} returned {step}", "it returns integers") from None
    if not 0 < consumed <= keys.size and keys.size:
        raise PuzzleError(
            f"expand of the puzzle {space.name} says that it expanded {consumed} of {keys.size} states from "
            f"{described(space, int(keys[0]))} on",
            "it expands one at least, and goes on while max_neighbours places are left",
        )
    if written < 0:
        raise PuzzleError(f"expand of the puzzle {space.name} says that it wrote {written} neighbours")
    if written > consumed * space.max_neighbours or written > out.size:
        raise _too_many(space, keys[:consumed], exhaustive, written)
    _refuse_outside(space, out[:written], "writes the neighbour")
    return step


def _refuse_outside(space: StateSpace, keys: Keys, what: str) -> None:
    if space.key_count is not None and keys.size:
        largest = int(keys.max())
        if largest >= space.key_count:
            raise FalseClaim(
                f"the puzzle {space.name} {what} {described(space, largest)}, and claims that its keys are below "
                f"{space.key_count}",
                "mend key_count, or leave it out",
            )


def _culprit(space: StateSpace, keys: Keys, exhaustive: bool) -> str:
    """The first state that expand fails on."""
    low, high = 0, int(keys.size)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _fails(space, keys[low:middle], exhaustive) else (middle, high)
    return described(space, int(keys[low])) if keys.size else "(none)"


def _fails(space: StateSpace, keys: Keys, exhaustive: bool) -> bool:
    try:
        space.expand(keys, np.empty((keys.size + 1) * max(space.max_neighbours, 1), dtype=np.uint64), exhaustive)
    except Exception:
        return True
    return False


def _too_many(space: StateSpace, keys: Keys, exhaustive: bool, written: int) -> FalseClaim:
    """Error that names a state with more neighbours than claimed, or else all of them."""
    place = f"{keys.size} states have {written} neighbours, the first of them {described(space, int(keys[0]))}"
    room = np.empty(written + space.max_neighbours, dtype=np.uint64)
    for key in keys[:1000]:
        found = int(space.expand(np.array([key], dtype=np.uint64), room, exhaustive).written)
        if found > space.max_neighbours:
            place = f"the state {described(space, int(key))} has {found}"
            break
    return FalseClaim(
        f"the puzzle {space.name} claims at most {space.max_neighbours} neighbours of a state, and {place}",
        "mend max_neighbours",
    )
