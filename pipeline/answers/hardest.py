"""The states that are farthest from the roots."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.answers.lookup import Lookup
from pipeline.spaces.contract import State
from storage.errors import JobError

# Levels with more keys than this are not looked at state by state.
MOST_CLASSED = 100_000


@dataclass(frozen=True)
class Hardest:
    """The deepest level of a job.

    Attributes
    ----------
    depth : int
    states : int
        How many states there are.
    classes : int or None
        How many of them are different up to symmetry; None if there are too many to look at each.
    complete : bool
        Whether no deeper level can exist.
    """

    depth: int
    states: int
    classes: int | None
    complete: bool


def hardest(lookup: Lookup) -> Hardest:
    """Count the states of the deepest level.

    Raises
    ------
    JobError
        If no level is done, or its states were deleted.
    """
    if lookup.deepest < 0:
        raise JobError(f"no level of {lookup.job.path} is done yet", "resume the job")
    level = lookup.level(lookup.deepest)
    few = level.manifest.keys <= MOST_CLASSED
    classes = sum(1 for _ in hardest_states(lookup)) if few else None
    return Hardest(lookup.deepest, level.manifest.states, classes, lookup.complete)


def hardest_states(lookup: Lookup) -> Iterator[State]:
    """One state of each class of symmetric ones of the deepest level, by ascending key."""
    space = lookup.space
    mask = (1 << space.layout.mask_bits) - 1
    level = lookup.level(lookup.deepest)
    for partition in level.manifest.partitions:
        for block in level.read(partition):
            for key in block.tolist():
                state = space.state_of(key)
                if key & ~mask == min(space.key_of(image) for image in space.symmetries(state)):
                    yield state
