"""States beyond the deepest level of a job, met from both ends.

Levels are made from the state until one of them touches the job's deepest level. Every shortest path from a root
crosses that level, so the first touch is on one. Where the state space has a lower bound of the distance, states that
cannot be on a path of the length that is tried are not made, and the length grows until there is a path (iterative
deepening: Korf, "Depth-first iterative-deepening", 1985).
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.answers.lookup import Lookup
from pipeline.running.events import Observer
from pipeline.running.settings import Settings
from pipeline.search import Search
from pipeline.spaces.contract import Detection, Expansion, Keys, State, StateSpace
from pipeline.spaces.parameters import NoParameters
from storage.errors import InvalidInput
from storage.jobs.job import Job
from storage.records import Manifest


@dataclass(frozen=True)
class Meeting:
    """How a state is joined to the deepest level of a job.

    Attributes
    ----------
    layers : tuple of frozenset of int
        For 0, 1, ... moves from the state the keys, without move masks, that are on the way; those of the last layer
        are in the job's deepest level.
    """

    layers: tuple[frozenset[int], ...]

    @property
    def moves(self) -> int:
        """Moves from the state to the deepest level."""
        return len(self.layers) - 1


class SpaceFrom(StateSpace):
    """A state space with another root, in which states that are too far from the roots may be left out.

    Attributes
    ----------
    most : int or None
        Lower bound of the distance from the roots above which neighbours are left out.
    left_out : bool
        Whether any were.
    """

    Parameters = NoParameters
    is_checked = False

    # Some neighbours are left out on purpose: there is nothing to compare them with.
    is_checked = False

    def __init__(self, space: StateSpace, state: State) -> None:
        self._space = space
        self._root = space.key_of(state)
        self.name = space.name  # type: ignore[misc]
        self.parameters = space.parameters
        self.layout = space.layout
        # One-sided expansion rests on where a search begins.
        self.detection = Detection.LEVELS if space.detection is Detection.ONE_SIDED else space.detection
        self.bipartite = space.bipartite
        self.undirected = space.undirected
        self.max_neighbours = space.max_neighbours
        self.most: int | None = None
        self.left_out = False

    def roots(self) -> Keys:
        return np.array([self._root], dtype=np.uint64)

    def expand(self, keys: Keys, out: Keys, exhaustive: bool) -> Expansion:
        step = self._space.expand(keys, out, exhaustive)
        if self.most is None:
            return step
        written = out[: step.written]
        bounds = self._space.lower_bounds(written)
        if bounds is None:
            return step
        kept = written[bounds <= self.most]
        self.left_out = self.left_out or kept.size < written.size
        out[: kept.size] = kept
        return Expansion(step.consumed, kept.size, step.forward, step.backward)

    def count_states(self, keys: Keys) -> int:
        return self._space.count_states(keys)

    def key_of(self, state: State) -> int:
        return self._space.key_of(state)

    def state_of(self, key: int) -> State:
        return self._space.state_of(key)

    def neighbours(self, state: State) -> list[State]:
        return self._space.neighbours(state)

    def parse(self, text: str) -> State:
        return self._space.parse(text)

    def format(self, state: State) -> str:
        return self._space.format(state)


class _Touched(Exception):
    """Ends a search whose newest level touches the job's deepest one."""

    def __init__(self, steps: int, keys: Keys) -> None:
        self.steps = steps
        self.keys = keys


class _Watcher(Observer):
    """Looks at each new level whether it touches the job, and lowers the bound for the next one.

    Attributes
    ----------
    keys : int
        Keys made so far.
    """

    def __init__(self, lookup: Lookup, place: Path, space: SpaceFrom, longest: int | None, observer: Observer) -> None:
        self._lookup = lookup
        self._place = place
        self._space = space
        self._longest = longest
        self._observer = observer
        self.keys = 0
        self._bound_next(0)

    def _bound_next(self, steps: int) -> None:
        if self._longest is not None:
            self._space.most = self._longest - steps - 1

    def say(self, text: str) -> None:
        """Tell the user something."""
        self._observer.message(text)

    def level_committed(self, manifest: Manifest) -> None:
        self._bound_next(manifest.depth)
        if manifest.depth == 0:
            return
        self.keys += manifest.keys
        if self._longest is None:
            self._observer.message(f"{manifest.depth} moves from the other end: {manifest.keys} states")
        level = Job.open(self._place).level(manifest.depth)
        touched: list[Keys] = []
        for partition in level.manifest.partitions:
            for block in level.read(partition):
                found = self._lookup.members(self._lookup.deepest, block)
                if found.any():
                    touched.append(block[found])
        if touched:
            raise _Touched(manifest.depth, np.concatenate(touched))


def meet(
    lookup: Lookup,
    state: State,
    within: int | None = None,
    settings: Settings | None = None,
    observer: Observer | None = None,
    all_ways: bool = False,
) -> Meeting | None:
    """Join a state that is in no level of a job to its deepest level.

    Parameters
    ----------
    lookup : Lookup
        Of the job.
    state : ndarray of uint8
    within : int, optional
        Longest path to look for.
    settings : Settings, optional
        Memory and workers.
    observer : Observer, optional
        Is told of each level.
    all_ways : bool
        Find the states of all shortest paths, not of one.

    Returns
    -------
    Meeting or None
        None if no path of at most ``within`` moves leads to the state.

    Raises
    ------
    InvalidInput
        If moves cannot be undone, so that the state cannot be expanded backward.
    OutOfBudget, Stopped
    """
    space = lookup.space
    if not space.undirected:
        raise InvalidInput(
            f"the state {space.format(state)} is in no level of {lookup.job.path}, and moves of {space.name} cannot be "
            "undone",
            "search deeper, with a larger --n or --max-depth",
        )
    lookup.level(lookup.deepest)
    bounds = space.lower_bounds(np.array([space.key_of(state)], dtype=np.uint64))
    most = None if within is None else within - lookup.deepest
    steps = most
    stride = 0
    if bounds is not None:
        # In a bipartite graph the bound and the distance are both even or both odd.
        stride = 2 if space.bipartite else 1
        steps = max(1, int(bounds[0]) - lookup.deepest)
        if space.bipartite and (lookup.deepest + steps - int(bounds[0])) % 2:
            steps += 1
    while most is None or (steps is not None and 0 < steps <= most):
        longest = lookup.deepest + steps if bounds is not None and steps is not None else None
        meeting, exhausted = _attempt(lookup, state, steps, longest, settings, observer, all_ways)
        if meeting is not None or exhausted or not stride or steps is None:
            return meeting
        steps += stride
    return None


def _attempt(
    lookup: Lookup,
    state: State,
    steps: int | None,
    longest: int | None,
    settings: Settings | None,
    observer: Observer | None,
    all_ways: bool,
) -> tuple[Meeting | None, bool]:
    """Look for a meeting after at most some steps; also whether nothing more can be found with more of them."""
    place = _place_beside(lookup.job)
    space = SpaceFrom(lookup.space, state)
    watcher = _Watcher(lookup, place, space, longest, observer or Observer())
    try:
        used = replace(settings or Settings(), max_depth=steps, keep="all", scheduler="threads")
        Search(space, place, used, watcher).run()
        if longest is not None:
            watcher.say(f"no path of {longest} moves: {watcher.keys} states from the other end")
        return None, Lookup(space, Job.open(place)).complete and not space.left_out
    except _Touched as touched:
        ends = touched.keys if all_ways else touched.keys[:1]
        return _meeting(Lookup(space, Job.open(place)), touched.steps, ends), True
    finally:
        shutil.rmtree(place.parent, ignore_errors=True)


def _place_beside(job: Job) -> Path:
    """A place for a job beside another one, or where temporary files go if that cannot be written to."""
    try:
        return Path(tempfile.mkdtemp(prefix=f".{job.path.name}-", dir=job.path.parent)) / "job"
    except OSError:
        return Path(tempfile.mkdtemp(prefix="path-")) / "job"


def _meeting(lookup: Lookup, steps: int, ends: Keys) -> Meeting:
    """The layers between a state, which is the root of a job, and some keys of its deepest level."""
    space = lookup.space
    mask = np.uint64((1 << space.layout.mask_bits) - 1)
    layers = [frozenset((ends & ~mask).tolist())]
    for depth in reversed(range(steps)):
        around = {space.key_of(neighbour) for key in layers[-1] for neighbour in space.neighbours(space.state_of(key))}
        keys = np.array(sorted(around), dtype=np.uint64)
        layers.append(frozenset(keys[lookup.members(depth, keys)].tolist()))
    return Meeting(tuple(reversed(layers)))


def walk(space: StateSpace, state: State, layers: Sequence[frozenset[int]]) -> list[State]:
    """States from ``state`` on, one of each layer."""
    states = [state]
    for layer in layers[1:]:
        states.append(next(after for after in space.neighbours(states[-1]) if space.key_of(after) in layer))
    return states


def count_ways(space: StateSpace, state: State, layers: Sequence[frozenset[int]], count: Any) -> int:
    """Number of walks through the layers, each weighed by ``count`` of the state where it ends."""
    ways: dict[int, int] = {}

    def ways_from(here: State, step: int) -> int:
        if step == len(layers) - 1:
            return int(count(here))
        key = space.key_of(here)
        if key not in ways:
            following = (after for after in space.neighbours(here) if space.key_of(after) in layers[step + 1])
            ways[key] = sum(ways_from(after, step + 1) for after in following)
        return ways[key]

    return ways_from(state, 0)
