"""Keys of arrangements: permutations of a group, or words with equal letters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from math import factorial, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.spaces.contract import Keys, State
from pipeline.spaces.permutations.chain import LARGEST_ORDER, Elements, StabiliserChain, inverses_of
from pipeline.spaces.permutations.stages import Stages, make_stages
from pipeline.spaces.permutations.words import (
    FILLER,
    LARGEST_COUNT,
    binomial_table,
    count_words,
    filler,
    letter_classes,
    move_tables,
)
from storage.errors import InvalidInput, OutOfBudget

# Of the keys at least one in so many must belong to a state, or they are not called dense.
SPARSEST = 64
# Stands for the place of a letter that is left out.
NOWHERE = 255
# Longest word whose letters are sets of places in a machine word.
SHORT_WORD = 64


class Arrangements(ABC):
    """The arrangements that moves make of a start, and their keys.

    Parameters
    ----------
    moves : ndarray of uint8, shape (m, places)
        Image lists.
    start : ndarray of uint8, shape (places,)
        Letter at each place.

    Attributes
    ----------
    size : int or None
        How many arrangements there are, if that is known.
    key_count : int or None
        The keys are 0 to ``key_count - 1``; None if few of these belong to an arrangement.
    """

    size: int | None
    key_count: int | None

    def __init__(self, moves: Elements, start: State) -> None:
        self._moves = moves
        self._start = start

    @property
    @abstractmethod
    def bipartite(self) -> bool:
        """Whether it is certain that arrangements an odd number of moves apart differ."""

    @abstractmethod
    def expand(self, keys: Keys, out: Keys) -> tuple[int, int]:
        """Write the neighbours of keys; returns how many keys are done, and how many neighbours written."""

    @abstractmethod
    def key_of(self, state: State) -> int:
        """Key of an arrangement of the start's letters."""

    @abstractmethod
    def states_of(self, keys: Keys) -> NDArray[np.uint8]:
        """Arrangements with some keys, one a row.

        Raises
        ------
        InvalidInput
            If one is the key of no arrangement.
        """


class Permutations(Arrangements):
    """Arrangements of different letters: the elements of the group that the moves generate.

    The key is the rank of the element that says where each letter of the start has gone to. Places where all letters
    that can get there are equal are left out.
    """

    def __init__(self, moves: Elements, start: State) -> None:
        orbits = orbits_of(moves)
        self._places = np.array(
            sorted(place for orbit in orbits if _is_mixed(start, orbit) for place in orbit), dtype=int
        )
        number = np.zeros(start.size, dtype=np.uint8)
        number[self._places] = np.arange(self._places.size)
        super().__init__(number[moves[:, self._places]], start)
        self._chain = StabiliserChain(self._moves)
        order = self._chain.order
        if order >= LARGEST_ORDER:
            raise OutOfBudget(
                f"the moves generate a group of {'' if self._chain.exact else 'at least '}{order} elements; "
                "keys have room for fewer than 2^63",
                "leave out moves, or give places that need not be told apart equal letters, such as -p start=0011...",
            )
        self.size = self.key_count = order
        self._place_of = np.full(start.size, NOWHERE, dtype=np.uint8)
        self._place_of[start[self._places]] = np.arange(self._places.size)

    @property
    def bipartite(self) -> bool:
        # Two more places that every move exchanges: if that makes the group larger, an odd product is the identity.
        places = self._moves.shape[1]
        exchange = np.tile(np.array([places + 1, places], dtype=np.uint8), (len(self._moves), 1))
        return StabiliserChain(np.hstack([self._moves, exchange])).order == self._chain.order

    @cached_property
    def _stages(self) -> Stages | None:
        return make_stages(self._chain, inverses_of(self._moves))

    @cached_property
    def _factors(self) -> tuple[NDArray[Any], ...]:
        """The chain as :func:`~pipeline.spaces.permutations.expansion.expand_by_sifting` takes it."""
        levels = self._chain.levels
        orbits = np.array(self._chain.radices, dtype=np.int64)
        return (
            np.array([level.point for level in levels], dtype=np.int64),
            orbits,
            np.cumsum(orbits) - orbits,
            np.concatenate([level.transversal for level in levels]),
            np.concatenate([level.inverses for level in levels]),
            np.stack([level.index.astype(np.int16) for level in levels]),
        )

    def expand(self, keys: Keys, out: Keys) -> tuple[int, int]:
        from pipeline.spaces.permutations import expansion

        _check_keys(keys[-1:], self._chain.order)
        if not self._chain.levels:
            # One state, to which all moves lead.
            consumed = min(keys.size, out.size // len(self._moves))
            out[: consumed * len(self._moves)] = 0
            return consumed, consumed * len(self._moves)
        stages = self._stages
        if stages is None:
            moves = inverses_of(self._moves)
            consumed, written = expansion.expand_by_sifting(keys, out, moves, *self._factors)
        else:
            consumed, written = expansion.expand_by_tables(keys, out, len(self._moves), *stages)
        return consumed, written

    def key_of(self, state: State) -> int:
        origins = self._place_of[state[self._places]]
        rank = -1 if NOWHERE in origins else int(self._chain.ranks(inverses_of(origins[None, :]))[0])
        if rank < 0:
            raise InvalidInput("no moves lead from the start to this arrangement")
        return rank

    def states_of(self, keys: Keys) -> NDArray[np.uint8]:
        _check_keys(keys, self._chain.order)
        states = np.tile(self._start, (keys.size, 1))
        origins = inverses_of(self._chain.elements(keys.astype(np.int64)))
        states[:, self._places] = self._start[self._places[origins]]
        return states


class Words(Arrangements):
    """Arrangements of letters some of which are equal; the key is a rank among all words with these letters.

    Only letters of places that moves bring onto each other can change places.
    """

    def __init__(self, moves: Elements, start: State) -> None:
        super().__init__(moves, start)
        self._chain = StabiliserChain(moves)
        self._orbits = orbits_of(moves)
        word = start.tolist()
        self._words = count_words(self._orbits, word)
        if self._words >= LARGEST_COUNT:
            raise OutOfBudget(
                f"there are {self._words} words with these letters; keys have room for fewer than 2^63",
                "give more places equal letters",
            )
        self._order = np.array([place for orbit in self._orbits for place in orbit], dtype=np.intp)
        self._classes = letter_classes(self._orbits, word)
        self._binomials = binomial_table(start.size)
        self._filler = np.array([filler(orbit, word) for orbit in self._orbits for _ in orbit], dtype=np.uint8)
        position = np.argsort(self._order)
        self._moves_in_order = position[moves[:, self._order]].astype(np.uint8)
        self.size, self.key_count = self._counts()

    def _counts(self) -> tuple[int | None, int | None]:
        """Size of the orbit if it is known, and the number of keys if these are dense."""
        if not self._chain.exact:
            # Large groups are as a rule the whole symmetric one or half of it, but that is not certain.
            return None, self._words
        index = prod(factorial(len(orbit)) for orbit in self._orbits) // self._chain.order
        if index == 1:
            return self._words, self._words
        if index == 2:
            # A subgroup of index 2 reaches all words unless it has all permutations that leave the word as it is.
            size = self._words // 2 if self._chain.contain(self._exchanges()).all() else self._words
            return size, self._words
        return None, self._words if index <= SPARSEST else None

    def _exchanges(self) -> Elements:
        """Exchanges of two equal letters that generate all permutations which leave the start as it is."""
        result = []
        for orbit in self._orbits:
            first: dict[int, int] = {}
            for place in orbit:
                other = first.setdefault(int(self._start[place]), place)
                if other != place:
                    images = np.arange(self._start.size, dtype=np.uint8)
                    images[[other, place]] = place, other
                    result.append(images)
        return np.array(result, dtype=np.uint8).reshape(-1, self._start.size)

    @property
    def bipartite(self) -> bool:
        # Permutations that leave the word as it is may be odd.
        return False

    def expand(self, keys: Keys, out: Keys) -> tuple[int, int]:
        from pipeline.spaces.permutations import expansion

        _check_keys(keys[-1:], self._words)
        if self._start.size <= SHORT_WORD:
            consumed, written = expansion.expand_short_words(keys, out, self._tables, self._classes, self._binomials)
        else:
            consumed, written = expansion.expand_words(keys, out, self._moves_in_order, self._classes, self._binomials)
        return consumed, written

    @cached_property
    def _tables(self) -> NDArray[np.uint64]:
        return move_tables(self._moves_in_order)

    def key_of(self, state: State) -> int:
        from pipeline.spaces.permutations.ranking import rank_of_word

        for orbit in self._orbits:
            if sorted(state[orbit].tolist()) != sorted(self._start[orbit].tolist()):
                raise InvalidInput("no moves lead from the start to this word")
        word = state[self._order]
        word[word == self._filler] = FILLER
        return int(rank_of_word(word, self._classes, self._binomials))

    def states_of(self, keys: Keys) -> NDArray[np.uint8]:
        from pipeline.spaces.permutations.ranking import decode_words

        _check_keys(keys, self._words)
        words = np.empty((keys.size, self._start.size), dtype=np.uint8)
        decode_words(keys, words, self._classes, self._binomials)
        states = np.empty_like(words)
        states[:, self._order] = np.where(words == FILLER, self._filler, words)
        return states


def _check_keys(keys: Keys, count: int) -> None:
    """Make sure that keys are less than ``count``; the kernels' tables end there."""
    wrong = keys[keys >= np.uint64(count)]
    if wrong.size:
        raise InvalidInput(f"{int(wrong[0])} is the key of no arrangement; they are less than {count}")


def orbits_of(moves: Elements) -> list[list[int]]:
    """Places that the moves bring onto each other, in ascending order; those that nothing moves are alone."""
    orbit_of = list(range(moves.shape[1]))
    for images in moves.tolist():
        for place, image in enumerate(images):
            one, other = orbit_of[place], orbit_of[image]
            if one != other:
                orbit_of = [min(one, other) if orbit in (one, other) else orbit for orbit in orbit_of]
    return [[place for place, orbit in enumerate(orbit_of) if orbit == name] for name in sorted(set(orbit_of))]


def _is_mixed(start: State, orbit: list[int]) -> bool:
    return len(set(start[orbit].tolist())) > 1


def arrangements_of(moves: Elements, start: State) -> Arrangements:
    """Permutations, or words if letters that can change places are equal.

    Parameters
    ----------
    moves : ndarray of uint8, shape (m, places)
        Image lists.
    start : ndarray of uint8, shape (places,)

    Raises
    ------
    OutOfBudget
        If there are too many arrangements.
    """
    letters = [letter for orbit in orbits_of(moves) if _is_mixed(start, orbit) for letter in start[orbit].tolist()]
    return (Permutations if len(set(letters)) == len(letters) else Words)(moves, start)
