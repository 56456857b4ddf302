"""What the search needs to know of a puzzle: arrays in, arrays out, no disk and no scheduler."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

Keys = NDArray[np.uint64]
State = NDArray[np.uint8]


@dataclass(frozen=True)
class KeyLayout:
    """How keys are built, as far as passes and storage care.

    Attributes
    ----------
    version : int
        Goes up when the meaning of a key changes; jobs of another version are refused.
    field_bits : int
        Low bits that hold small fields instead of magnitude; the codec stores them apart.
    mask_bits : int
        Low bits that hold a move mask: keys that differ there alone are one state, and their masks are joined.
    """

    version: int
    field_bits: int = 0
    mask_bits: int = 0


@dataclass(frozen=True)
class Places:
    """Where the keys of a space lie, if a table with a place for each is worth its memory.

    The place of a key is ``key >> shift << low_bits | key >> mask_bits & (2**low_bits - 1)``: the bits between the low
    ones and the shift are 0 in every key. With a move mask, no neighbour that is generated has an empty one.

    Attributes
    ----------
    count : int
        Places are 0 to ``count - 1``.
    shift : int
        At least ``mask_bits + low_bits``.
    low_bits : int
        At most 6.
    """

    count: int
    shift: int = 0
    low_bits: int = 0

    def place_of(self, key: int, mask_bits: int) -> int:
        """Place of a key."""
        return key >> self.shift << self.low_bits | key >> mask_bits & ((1 << self.low_bits) - 1)

    def key_at(self, place: int, mask_bits: int) -> int:
        """The key that has a place, its move mask empty."""
        return place >> self.low_bits << self.shift | (place & ((1 << self.low_bits) - 1)) << mask_bits


class Detection(Enum):
    """How states of earlier levels are kept out of the next one.

    ``MASKS``
        Keys carry the moves that lead back, which are not generated (frontier search).
    ``ONE_SIDED``
        The graph is bipartite, and expand can leave out a class of moves that as a rule leads back. It counts both
        classes; a level may be expanded that way as long as every move left out is the reverse of a move generated
        from the level before, which holds exactly if the two counts are equal.
    ``LEVELS``
        All neighbours are generated, and the merge removes the states of the earlier levels.
    """

    MASKS = "masks"
    ONE_SIDED = "one-sided"
    LEVELS = "levels"


class Expansion(NamedTuple):
    """What an expand kernel did.

    ``forward`` and ``backward`` count legal moves for ``Detection.ONE_SIDED``: those that one-sided expansion
    generates, and those that it leaves out.
    """

    consumed: int
    written: int
    forward: int = 0
    backward: int = 0


class Reference(NamedTuple):
    """Known counts to check a search against.

    ``states`` holds the states at depth 0, 1, ...; ``total`` the number of states of the whole graph. Either may be
    unknown (None). ``complete`` says that ``states`` ends with the deepest level.
    """

    source: str
    states: tuple[int, ...] | None = None
    complete: bool = False
    total: int | None = None

    @property
    def size(self) -> int | None:
        """States of the whole graph, as far as that is known."""
        if self.total is None and self.complete and self.states is not None:
            return sum(self.states)
        return self.total


class StateSpace(ABC):
    """An implicit graph.

    Attributes
    ----------
    name : str
        Name in the registry.
    Parameters : type
        Pydantic model of the parameters, all with defaults.
    parameters : BaseModel
        The validated parameters of this space.
    layout : KeyLayout
    detection : Detection
    bipartite : bool
        Whether every edge joins an even and an odd depth.
    max_neighbours : int
        Most neighbours :meth:`expand` writes for one key.
    undirected : bool
        Whether every move can be undone.
    leaves_out : bool
        Whether expand leaves out neighbours on purpose, so that there is nothing to compare them with.
    """

    name: ClassVar[str]
    Parameters: ClassVar[type[BaseModel]]
    parameters: BaseModel
    layout: KeyLayout
    detection: Detection
    bipartite: bool
    max_neighbours: int
    places: Places | None = None
    undirected: bool = True
    leaves_out: bool = False

    @abstractmethod
    def roots(self) -> Keys:
        """Keys of depth 0, ascending."""

    @abstractmethod
    def expand(self, keys: Keys, out: Keys, exhaustive: bool) -> Expansion:
        """Write neighbours of ascending keys to ``out``, until all are done or fewer than ``max_neighbours`` places
        are left.

        Parameters
        ----------
        keys : ndarray of uint64, shape (n,)
        out : ndarray of uint64, shape (m,)
            Receives keys in any order, repetitions allowed.
        exhaustive : bool
            Write all neighbours, whatever :attr:`detection` would allow to leave out.

        Raises
        ------
        OutOfBudget
            If a neighbour does not fit a 64-bit key.
        """

    def count_states(self, keys: Keys) -> int:
        """Number of states that the keys stand for (a key may stand for several that are equivalent)."""
        return int(keys.size)

    @abstractmethod
    def key_of(self, state: State) -> int:
        """Canonical key of a state, its move mask 0.

        Raises
        ------
        InvalidInput
            If the state is not of this space.
        """

    @abstractmethod
    def state_of(self, key: int) -> State:
        """A state with the given key.

        Raises
        ------
        InvalidInput
            If no state of this space has it.
        """

    @abstractmethod
    def neighbours(self, state: State) -> list[State]:
        """States one legal move away, in the notation of ``state`` (not canonical), in ascending order."""

    def moves(self, state: State) -> list[tuple[str, State]]:
        """:meth:`neighbours`, each with the name of the move that leads there (the neighbour itself by default)."""
        return [(self.format(neighbour), neighbour) for neighbour in self.neighbours(state)]

    def lower_bounds(self, keys: Keys) -> NDArray[np.uint8] | None:
        """For each key a number of moves that it is at least away from all roots; None if nothing is known."""
        return None

    def symmetries(self, state: State) -> list[State]:
        """States that are as far from the roots as a state because they look alike, itself among them."""
        return [state]

    def as_state(self, given: State | str) -> State:
        """A state that was given as such, or as text."""
        return self.parse(given) if isinstance(given, str) else given

    @abstractmethod
    def parse(self, text: str) -> State:
        """Read a state as people write it.

        Raises
        ------
        InvalidInput
            With what is wrong and where in the text.
        """

    @abstractmethod
    def format(self, state: State) -> str:
        """Write a state on one line, as :meth:`parse` reads it."""

    def format_keys(self, keys: Keys) -> bytes:
        """Lines, one for each key, as :meth:`format` writes its state, each with its end.

        A space may do it faster; this is right for all.

        Raises
        ------
        InvalidInput
            If no state has one of the keys.
        """
        return "".join(f"{self.format(self.state_of(key))}\n" for key in keys.tolist()).encode()

    @abstractmethod
    def draw_text(self, state: State) -> str:
        """Picture of a state in characters, without a final newline."""

    @abstractmethod
    def draw_svg(self, state: State) -> str:
        """Picture of a state as an SVG document."""

    @abstractmethod
    def draw_png(self, state: State) -> bytes:
        """Picture of a state as a PNG file."""

    def reference(self) -> Reference | None:
        """Known counts for these parameters, if the project ships any."""
        return None

    def derived_columns(self, states: Sequence[int]) -> dict[str, list[int]]:
        """Further columns of the table of counts, computed from the states at depth 0, 1, ..."""
        return {}
