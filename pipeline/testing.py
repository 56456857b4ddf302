"""The kit for authors of puzzles: what a state space promises, tried on its first states.

>>> from pipeline import Sliding
>>> from pipeline.testing import check_space
>>> check_space(Sliding(rows=2, cols=2)).states
12
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.search import Search
from pipeline.spaces.claims import check_level
from pipeline.spaces.claims import check_space as check_claims
from pipeline.spaces.contract import Detection, StateSpace
from pipeline.spaces.guards import asking, described, expand_safely, roots_of
from storage.errors import FalseClaim, PuzzleError
from storage.jobs.job import Job

__all__ = ["Checked", "check_space"]

CHECKED_AT_ONCE = 4


class Checked(NamedTuple):
    """What was looked at: states, and depths whose counts were compared with a search in plain Python sets."""

    states: int
    depths: int


def check_space(space: StateSpace, states: int = 2000, examples: int = 40) -> Checked:
    """Check a state space as an author would wish to: raises if anything is not as the contract says.

    Its claims are checked on all states found; neighbours must not depend on how the keys are cut into blocks; states
    are written and read; and a search on disk must find, level by level, what Python's sets find.

    Parameters
    ----------
    space : StateSpace
    states : int
        Look no further when so many states have been found.
    examples : int
        Blocks of keys that are tried.

    Returns
    -------
    Checked

    Raises
    ------
    PuzzleError, FalseClaim
        With what is wrong, and the states that show it.
    """
    check_claims(space)
    levels = _levels(space, states)
    for depth, level in enumerate(levels):
        keys = np.array(sorted(level), dtype=np.uint64)
        for start in range(0, keys.size, CHECKED_AT_ONCE):
            check_level(space, keys[start:][:CHECKED_AT_ONCE], depth, whole=False)
        if space.bipartite:
            _check_inside(space, level)
        _check_notation(space, keys)
    found = sorted(set().union(*levels))
    _check_blocks(space, found, examples)
    _check_search(space, levels)
    return Checked(len(found), len(levels))


def _neighbours(space: StateSpace, key: int, exhaustive: bool = True) -> list[int]:
    out = np.empty(max(space.max_neighbours, 1), dtype=np.uint64)
    step = expand_safely(space, np.array([key], dtype=np.uint64), out, exhaustive)
    return [int(other) for other in out[: step.written]]


def _levels(space: StateSpace, most: int) -> list[set[int]]:
    """The first levels, without move masks."""
    shift = space.layout.mask_bits
    level = {int(root) >> shift << shift for root in roots_of(space)}
    seen: set[int] = set()
    levels = []
    while level:
        levels.append(level)
        seen |= level
        if len(seen) >= most:
            break
        level = {other >> shift << shift for key in level for other in _neighbours(space, key)} - seen
    return levels


def _check_inside(space: StateSpace, level: set[int]) -> None:
    shift = space.layout.mask_bits
    for key in level:
        for other in _neighbours(space, key):
            if other >> shift << shift in level:
                raise FalseClaim(
                    f"the puzzle {space.name} claims to be bipartite, and one move joins {described(space, key)} and "
                    f"{described(space, other)}, which are at the same depth"
                )


def _check_notation(space: StateSpace, keys: np.ndarray) -> None:
    for key in keys.tolist():
        with asking(space, str(key)):
            state = space.state_of(key)
            text = space.format(state)
            again = space.key_of(space.parse(text))
            space.draw_text(state)
        if again != key:
            raise PuzzleError(
                f"the puzzle {space.name} writes the key {key:#x} as {text!r}, and reads that as {again:#x}"
            )
        if "\n" in text or not text:
            raise PuzzleError(f"the puzzle {space.name} writes the key {key:#x} as {text!r}", "a state is one line")


def _check_blocks(space: StateSpace, found: list[int], examples: int) -> None:
    """Neighbours of a block of keys are those of its keys, however small the buffer."""

    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.sets(st.sampled_from(found), min_size=1, max_size=30), st.integers(0, 3), st.booleans())
    def blocks(chosen: set[int], room: int, exhaustive: bool) -> None:
        keys = np.array(sorted(chosen), dtype=np.uint64)
        out = np.empty((room + 1) * max(space.max_neighbours, 1), dtype=np.uint64)
        together: list[int] = []
        position = 0
        while position < keys.size:
            step = expand_safely(space, keys[position:], out, exhaustive)
            together += out[: step.written].tolist()
            position += step.consumed
        single = [other for key in keys.tolist() for other in _neighbours(space, key, exhaustive)]
        if sorted(together) != sorted(single):
            raise PuzzleError(
                f"expand of the puzzle {space.name} gives other neighbours for {keys.size} states from "
                f"{described(space, int(keys[0]))} on than for each of them alone"
            )

    blocks()


def _check_search(space: StateSpace, levels: list[set[int]]) -> None:
    with TemporaryDirectory(prefix="check-") as name:
        path = Path(name) / "job"
        Search(space, path, max_depth=len(levels) - 1, scheduler="sync").run()
        counted = [manifest.keys for manifest in Job.open(path).manifests()]
    if counted[: len(levels)] != [len(level) for level in levels]:
        detection = f" (Detection.{space.detection.name})" if space.detection is not Detection.LEVELS else ""
        raise FalseClaim(
            f"a search of the puzzle {space.name}{detection} finds {counted} states, and sets find "
            f"{[len(level) for level in levels]}"
        )
