"""What a puzzle claims of its graph, checked: the claims against each other, and against the graph on samples."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
from pydantic import BaseModel

from pipeline.spaces.contract import Detection, KeyLayout, Keys, Places, StateSpace
from pipeline.spaces.guards import PASSED_ON, described, expand_safely, failed
from pipeline.spaces.parameters import check_recordable
from storage.errors import FalseClaim, PuzzleError
from storage.records import MOST_FIELD_BITS

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,79}")
MOST_NEIGHBOURS = 1 << 20

# States of a level that are looked at, and neighbours of each: more where levels are small, and mistakes show.
FIRST_LEVELS = 4
EARLY_STATES, EARLY_NEIGHBOURS = 8, 3
LATE_STATES, LATE_NEIGHBOURS = 4, 1
WRITTEN_LEVELS = 2
WRITTEN_STATES = 2

# What out is filled with, so that a place that was not written shows; and places behind it.
FILLINGS = (0x5A5A_5A5A_5A5A_5A5A, 0xA5A5_A5A5_A5A5_A5A5)
GUARD = 64


def check_space(space: StateSpace) -> None:
    """Compare the claims of a space with each other; none of it asks for a state.

    Raises
    ------
    PuzzleError, InvalidInput
    """

    def refuse(what: str, remedy: str | None = None) -> None:
        raise PuzzleError(f"the puzzle {space.name} {what}", remedy)

    if not isinstance(space.name, str) or not NAME.fullmatch(space.name):
        raise PuzzleError(f"a puzzle is called {space.name!r}", "a name is letters, digits and any of . _ + -")
    parameters = getattr(space, "parameters", None)
    if not isinstance(parameters, BaseModel):
        refuse("has no parameters", "its constructor sets self.parameters, or call super().__init__(**parameters)")
    else:
        check_recordable(space.name, parameters.model_dump())
    most = getattr(space, "max_neighbours", None)
    if not _is_count(most, MOST_NEIGHBOURS):
        refuse(f"has the max_neighbours {most!r}", f"it is a whole number from 0 to {MOST_NEIGHBOURS}")
    detection: object = space.detection
    if not isinstance(detection, Detection):
        refuse(f"has the detection {space.detection!r}", "it is a member of Detection")
    given: object = space.layout
    if not isinstance(given, KeyLayout):
        refuse(f"has the layout {given!r}", "it is a KeyLayout")
    layout = space.layout
    for name in ("field_bits", "mask_bits"):
        if not _is_count(getattr(layout, name), MOST_FIELD_BITS):
            refuse(f"has keys with {getattr(layout, name)!r} {name}", f"there may be 0 to {MOST_FIELD_BITS}")
    for name in ("key_count", "size"):
        value = getattr(space, name)
        if value is not None and (not _is_count(value, 2**64) or value < 1):
            refuse(f"has the {name} {value!r}", "it is a whole number from 1 to 2**64, or None")
    _check_together(space)
    if space.places is None and space.key_count is not None and not layout.mask_bits:
        space.places = Places(space.key_count)


def _is_count(value: object, most: int) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and bool(0 <= value <= most)


def _check_together(space: StateSpace) -> None:
    """Claims that exclude each other, or need each other."""
    detection = space.detection
    if not space.undirected and (space.bipartite or detection is not Detection.LEVELS):
        what = "bipartite" if space.bipartite else f"of the detection {detection.name}"
        raise FalseClaim(
            f"the puzzle {space.name} claims to be directed, and {what}, which needs moves that can be undone",
            "a directed graph is searched with Detection.LEVELS and bipartite = False",
        )
    if detection is not Detection.LEVELS and not space.bipartite:
        raise FalseClaim(
            f"the puzzle {space.name} claims the detection {detection.name} and is not bipartite",
            "use Detection.LEVELS",
        )
    if (detection is Detection.MASKS) != (space.layout.mask_bits > 0):
        raise FalseClaim(
            f"the puzzle {space.name} has {space.layout.mask_bits} mask_bits and the detection {detection.name}",
            "move masks and Detection.MASKS go together",
        )


class _Neighbours:
    """Neighbours of single states, each asked for with all that a puzzle could do wrong looked at."""

    def __init__(self, space: StateSpace) -> None:
        self._space = space
        self._mask_bits = space.layout.mask_bits
        self._known: dict[tuple[int, bool], list[int]] = {}

    def of(self, key: int, exhaustive: bool = True, twice: bool = False) -> list[int]:
        """Neighbours of a key as they were written, in ascending order; asked for twice if that is wished."""
        if (key, exhaustive) not in self._known:
            first = self._written(key, exhaustive, FILLINGS[0])
            if twice and first != self._written(key, exhaustive, FILLINGS[1]):
                raise PuzzleError(
                    f"expand of the puzzle {self._space.name} says that it wrote {len(first)} neighbours of "
                    f"{described(self._space, key)}, and wrote fewer, or others when it was asked again"
                )
            self._known[key, exhaustive] = sorted(first)
        return self._known[key, exhaustive]

    def bare(self, key: int, exhaustive: bool = True) -> list[int]:
        """Neighbours without their move masks."""
        return [other >> self._mask_bits << self._mask_bits for other in self.of(key, exhaustive)]

    def _written(self, key: int, exhaustive: bool, filling: int) -> list[int]:
        room = max(self._space.max_neighbours, 1)
        memory = np.full(room + GUARD, filling, dtype=np.uint64)
        keys = np.array([key], dtype=np.uint64)
        step = expand_safely(self._space, keys, memory[:room], exhaustive)
        if int(keys[0]) != key:
            raise PuzzleError(
                f"expand of the puzzle {self._space.name} changes its input: {described(self._space, key)} became "
                f"{int(keys[0]):#x}",
                "it may write to out alone",
            )
        if (memory[room:] != filling).any():
            raise FalseClaim(
                f"expand of the puzzle {self._space.name} writes behind the end of out for the state "
                f"{described(self._space, key)}",
                "it may write max_neighbours keys of each state",
            )
        return [int(other) for other in memory[: step.written]]


def check_level(space: StateSpace, keys: Keys, depth: int, whole: bool) -> None:
    """Check the claims on some states of a level, with all they lead to.

    Parameters
    ----------
    space : StateSpace
    keys : ndarray of uint64
        States of the level, as they are stored.
    depth : int
        Of the level.
    whole : bool
        Whether these are all.

    Raises
    ------
    PuzzleError, FalseClaim
        With the states that disprove a claim.
    """
    early = depth < FIRST_LEVELS
    states, neighbours = (EARLY_STATES, EARLY_NEIGHBOURS) if early else (LATE_STATES, LATE_NEIGHBOURS)
    step = -(-keys.size // states)
    mask_bits = space.layout.mask_bits
    level = {key >> mask_bits << mask_bits for key in keys.tolist()} if whole else set()
    graph = _Neighbours(space)
    for number, stored in enumerate(keys[depth % step :: step].tolist()):
        key = stored >> mask_bits << mask_bits
        found = graph.of(key, twice=True)
        _check_bipartite(space, key, graph.bare(key), level)
        # Others at every level.
        chosen = (found[depth % -(-len(found) // neighbours) :: -(-len(found) // neighbours)]) if found else []
        for other in chosen:
            if space.undirected:
                _check_back(space, graph, key, other)
        if space.detection is Detection.ONE_SIDED:
            _check_sides(space, graph, key, chosen)
        if depth < WRITTEN_LEVELS and number < WRITTEN_STATES:
            _check_states(space, key, graph.bare(key))


def _check_bipartite(space: StateSpace, key: int, neighbours: list[int], level: set[int]) -> None:
    if not space.bipartite:
        return
    for other in neighbours:
        if other == key or other in level:
            raise FalseClaim(
                f"the puzzle {space.name} claims to be bipartite, and one move leads from {described(space, key)} to "
                f"{'itself' if other == key else described(space, other) + ', which is at the same depth'}",
                "set bipartite = False and Detection.LEVELS",
            )


def _check_back(space: StateSpace, graph: _Neighbours, key: int, other: int) -> None:
    mask_bits = space.layout.mask_bits
    bare = other >> mask_bits << mask_bits
    if key not in graph.bare(bare):
        raise FalseClaim(
            f"the puzzle {space.name} claims to be undirected, and a move leads from {described(space, key)} to "
            f"{described(space, bare)}, but none back",
            "set undirected = False if moves cannot be undone, or mend expand",
        )
    if space.detection is Detection.MASKS:
        # All ways to this neighbour, joined as the search joins them.
        joined = 0
        for way in graph.of(key):
            if way >> mask_bits == other >> mask_bits:
                joined |= way
        left = set(graph.bare(joined, exhaustive=False))
        if key in left or left | {key} != set(graph.bare(bare)):
            raise FalseClaim(
                f"the puzzle {space.name} claims the detection MASKS, and the move mask of {described(space, joined)} "
                f"does not leave out just the moves that lead back to {described(space, key)}",
                "use Detection.LEVELS and mask_bits = 0, or mend expand",
            )


def _check_sides(space: StateSpace, graph: _Neighbours, key: int, chosen: list[int]) -> None:
    """Of a move that one-sided expansion generates the reverse is left out, and the other way round."""

    def left_out(state: int) -> Counter[int]:
        return Counter(graph.of(state)) - Counter(graph.of(state, exhaustive=False))

    for other in chosen:
        up, down = other in graph.of(key, exhaustive=False), other in left_out(key)
        back_up, back_down = key in graph.of(other, exhaustive=False), key in left_out(other)
        if (up and not back_down) or (down and not back_up):
            raise FalseClaim(
                f"the puzzle {space.name} claims the detection ONE_SIDED, and the moves from {described(space, key)} "
                f"to {described(space, other)} and back are both {'generated' if up else 'left out'}",
                "use Detection.LEVELS, or mend expand",
            )


def _check_states(space: StateSpace, key: int, neighbours: list[int]) -> None:
    """One key a state, and the same neighbours in both forms."""
    try:
        state = space.state_of(key)
        again = space.key_of(state)
        if type(space).neighbours is StateSpace.neighbours:
            theirs = set(neighbours)
        else:
            theirs = {space.key_of(neighbour) for neighbour in space.neighbours(state)}
    except PASSED_ON as error:
        raise FalseClaim(
            f"the puzzle {space.name} does not know a state that it found: key {key:#x} ({error})"
        ) from error
    except Exception as error:
        raise failed(space.name, f"on the state with the key {key:#x}", error) from error
    if again != key:
        raise FalseClaim(
            f"the puzzle {space.name} has two keys of one state: {described(space, key)} and {described(space, again)}",
            "expand writes the key that key_of gives",
        )
    if theirs != set(neighbours):
        (other, *_) = sorted(theirs ^ set(neighbours))
        which = "neighbours" if other in theirs else "expand"
        raise FalseClaim(
            f"{which} alone of the puzzle {space.name} leads from {described(space, key)} to {described(space, other)}",
            "expand and neighbours describe the same graph",
        )
