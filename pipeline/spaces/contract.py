"""What the search needs to know of a puzzle: arrays in, arrays out, no disk and no scheduler."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import BaseModel

from pipeline.spaces.parameters import bound_parameters, model_of_signature, validated
from storage.errors import InvalidInput

Keys = NDArray[np.uint64]
State = NDArray[Any]

# Keys that :meth:`StateSpace.neighbour_keys` gets at a time: its temporary arrays stay in the processor's caches.
BLOCK_KEYS = 1 << 13


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

    ``LEVELS``
        All neighbours are generated, and the merge removes the states of the earlier levels: of the last two if the
        graph is undirected, of the one before the last if it is bipartite too, of all if it is directed.
    ``MASKS``
        Keys carry the moves that lead back, which are not generated (frontier search). Right for graphs that are
        undirected and bipartite (more exactly: without an edge inside a level).
    ``ONE_SIDED``
        Expand can leave out a class of moves that as a rule leads back. It counts both classes, on states, not on keys;
        a level may be expanded that way as long as every move left out is the reverse of a move generated from the
        level before, which holds exactly if the two counts are equal. Right for graphs that are undirected and
        bipartite, if the reverse of a move of one class is of the other.
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
    """An implicit graph: where it starts, what lies next to what, and what is claimed of it.

    A subclass needs :meth:`roots`, :attr:`max_neighbours`, and :meth:`neighbour_keys` or :meth:`expand`. All else has a
    default. Claims are believed by the search, so they are checked: against each other when the space is made, on
    samples of every level while it is searched, and wholly by ``pipeline verify --deep``.

    Attributes
    ----------
    name : str
        Name in the registry; made from the name of the class unless given.
    Parameters : type
        Pydantic model of the parameters; made from the signature of the constructor unless given.
    parameters : BaseModel
        The validated parameters of this space.
    max_neighbours : int
        Most neighbours that :meth:`expand` writes for one key.
    undirected : bool
        Claim: an edge can be gone both ways. Of a directed graph all earlier levels are left out, which costs more.
    bipartite : bool
        Claim: every edge joins an even and an odd depth.
    key_count : int or None
        Claim: the keys are 0 to ``key_count - 1``, and a good part of these occurs. None: any 64-bit keys.
    size : int or None
        Number of states of the whole graph, if that is known before it is searched.
    places : Places or None
        Where the keys lie, if a table with a place for each state is worth its memory; made from ``key_count`` unless
        given.
    detection : Detection
    layout : KeyLayout
    example : dict
        Parameters of a small search, for those who look what the puzzle is.
    """

    name: ClassVar[str]
    Parameters: ClassVar[type[BaseModel]]
    parameters: BaseModel
    max_neighbours: int
    undirected: bool = True
    bipartite: bool = False
    key_count: int | None = None
    size: int | None = None
    places: Places | None = None
    detection: Detection = Detection.LEVELS
    layout: KeyLayout = KeyLayout(version=1)
    example: ClassVar[dict[str, Any]] = {}
    # Not of a space that leaves out a part of another one, which has been checked.
    is_checked: ClassVar[bool] = True

    _signature_is_model: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" not in cls.__dict__:
            cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).strip("_").lower()
        if "Parameters" in cls.__dict__:
            cls._signature_is_model = False
        elif not hasattr(cls, "Parameters") or (cls._signature_is_model and "__init__" in cls.__dict__):
            cls.Parameters = model_of_signature(cls.__name__, cls.__dict__.get("__init__"))
            cls._signature_is_model = True

    def __new__(cls, *arguments: Any, **parameters: Any) -> Self:
        space = super().__new__(cls)
        if cls._signature_is_model and (arguments or parameters or not _needs_any(cls.Parameters)):
            space.parameters = bound_parameters(cls.Parameters, cls.__init__, arguments, parameters)
        return space

    def __init__(self, /, **parameters: Any) -> None:
        self.parameters = validated(type(self).Parameters, parameters)

    @abstractmethod
    def roots(self) -> ArrayLike:
        """Keys of depth 0, ascending."""

    def neighbour_keys(self, keys: Keys) -> tuple[ArrayLike, ArrayLike] | ArrayLike:
        """All neighbours of some keys, in plain numpy.

        Parameters
        ----------
        keys : ndarray of uint64, shape (n,)
            Must not be changed.

        Returns
        -------
        neighbours, counts : array_like, shape (m,) and (n,)
            The neighbours of the first key, then those of the second one, and so on; and how many each has. Or an array
            of shape (n, k), if every key has k of them.
        """
        raise NotImplementedError(f"{type(self).__name__} has neither neighbour_keys nor expand")

    def expand(self, keys: Keys, out: Keys, exhaustive: bool) -> Expansion:
        """Write neighbours of ascending keys to ``out``, until all are done or fewer than ``max_neighbours`` places
        are left. Unless it is overridden it calls :meth:`neighbour_keys`.

        Parameters
        ----------
        keys : ndarray of uint64, shape (n,)
            Must not be changed.
        out : ndarray of uint64, shape (m,)
            Receives keys in any order, repetitions allowed.
        exhaustive : bool
            Write all neighbours, whatever :attr:`detection` would allow to leave out.

        Raises
        ------
        OutOfBudget
            If a neighbour does not fit a 64-bit key.
        """
        from pipeline.spaces.vectorised import expand_block

        consumed = written = 0
        while consumed < keys.size:
            room = (out.size - written) // max(self.max_neighbours, 1)
            block = keys[consumed : consumed + min(room, BLOCK_KEYS)]
            if not block.size:
                break
            written += expand_block(self, block, out[written:])
            consumed += block.size
        return Expansion(consumed, written)

    def count_states(self, keys: Keys) -> int:
        """Number of states that the keys stand for (a key may stand for several that are equivalent)."""
        return int(keys.size)

    def key_of(self, state: State) -> int:
        """Canonical key of a state, its move mask 0.

        Raises
        ------
        InvalidInput
            If the state is not of this space.
        """
        return int(state[0])

    def state_of(self, key: int) -> State:
        """A state with the given key; an array that holds the key unless overridden.

        Raises
        ------
        InvalidInput
            If no state of this space has it.
        """
        return np.array([key], dtype=np.uint64)

    def neighbours(self, state: State) -> list[State]:
        """States one legal move away, in the notation of ``state`` (not canonical), in ascending order."""
        out = np.empty(max(self.max_neighbours, 1), dtype=np.uint64)
        key = np.array([self.key_of(state)], dtype=np.uint64)
        written = self.expand(key, out, True).written
        bare = np.unique(out[:written] >> np.uint64(self.layout.mask_bits)) << np.uint64(self.layout.mask_bits)
        return [self.state_of(other) for other in bare.tolist()]

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

    def parse(self, text: str) -> State:
        """Read a state as people write it; a key in decimal or hexadecimal unless overridden.

        Raises
        ------
        InvalidInput
            With what is wrong and where in the text.
        """
        try:
            key = int(text.strip(), 0)
        except ValueError:
            raise InvalidInput(f"the state {text.strip()!r} of {self.name} is no number", "give its key") from None
        if not 0 <= key < (2**64 if self.key_count is None else self.key_count):
            raise InvalidInput(f"{self.name} has no state {key}")
        return self.state_of(key)

    def format(self, state: State) -> str:
        """Write a state on one line, as :meth:`parse` reads it; its key unless overridden."""
        return str(self.key_of(state))

    def format_keys(self, keys: Keys) -> bytes:
        """Lines, one for each key, as :meth:`format` writes its state, each with its end.

        A space may do it faster; this is right for all.

        Raises
        ------
        InvalidInput
            If no state has one of the keys.
        """
        return "".join(f"{self.format(self.state_of(key))}\n" for key in keys.tolist()).encode()

    def draw_text(self, state: State) -> str:
        """Picture of a state in characters, without a final newline."""
        return self.format(state)

    def draw_svg(self, state: State) -> str:
        """Picture of a state as an SVG document."""
        raise InvalidInput(f"the puzzle {self.name} draws no pictures", "it can be drawn as text")

    def draw_png(self, state: State) -> bytes:
        """Picture of a state as a PNG file."""
        raise InvalidInput(f"the puzzle {self.name} draws no pictures", "it can be drawn as text")

    def source(self) -> str | None:
        """Digest of the source of a puzzle; None of those of the program, whose keys have versions instead."""
        from pipeline.spaces.source import source_of_space

        return source_of_space(type(self))

    def reference(self) -> Reference | None:
        """Known counts for these parameters, if the project ships any."""
        return None

    def derived_columns(self, states: Sequence[int]) -> dict[str, list[int]]:
        """Further columns of the table of counts, computed from the states at depth 0, 1, ..."""
        return {}


def _needs_any(model: type[BaseModel]) -> bool:
    """Whether a model has a parameter without a default."""
    return any(field.is_required() for field in model.model_fields.values())
