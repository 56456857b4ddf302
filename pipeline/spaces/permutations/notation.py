"""How people write an arrangement: letters, one for each place, or a permutation in cycles."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from pipeline.spaces.contract import State
from pipeline.spaces.permutations.files import read_cycles, write_cycles
from storage.errors import InvalidInput

_SEPARATORS = re.compile(r"[\s,;|/\[\]]+")
SHOWN = 60


def split_letters(text: str) -> list[str]:
    """Letters of a word: one a character, or with commas or blanks between them.

    Examples
    --------
    >>> split_letters("0011")
    ['0', '0', '1', '1']
    >>> split_letters("10 0 11")
    ['10', '0', '11']
    """
    parts = [part for part in _SEPARATORS.split(text) if part]
    return list(parts[0]) if len(parts) == 1 else parts


def alphabet_of(letters: list[str]) -> list[str]:
    """The letters that occur, numbers in their order before all else."""
    return sorted(set(letters), key=lambda letter: (not letter.isdecimal(), len(letter) * letter.isdecimal(), letter))


def join_letters(letters: list[str]) -> str:
    """Inverse of :func:`split_letters`."""
    single = all(len(letter) == 1 for letter in letters)
    return "".join(letters) if single and len(letters) > 1 else " ".join(letters)


class Notation:
    """The letters of a puzzle, and how its states are written.

    Parameters
    ----------
    letters : list of str
        Those of the start, place by place.
    """

    def __init__(self, letters: list[str]) -> None:
        self.alphabet = alphabet_of(letters)
        self._number = {letter: number for number, letter in enumerate(self.alphabet)}
        self.start: State = np.array([self._number[letter] for letter in letters], dtype=np.uint8)
        self.distinct = len(self.alphabet) == len(letters)
        self._counts = Counter(letters)

    def parse(self, text: str) -> State:
        """Read a state; one in cycles is the start, rearranged.

        Raises
        ------
        InvalidInput
            If it does not have the letters of the start.
        """
        if "(" in text:
            images = read_cycles(text, self.start.size)
            return self.start[np.array(images, dtype=np.intp)]
        letters = split_letters(text)
        for place, letter in enumerate(letters, start=1):
            if letter not in self._number:
                what = f"{_shortened(letter)} (place {place}) is not a letter of this puzzle"
                raise InvalidInput(what, f"they are {', '.join(self.alphabet)}")
        if len(letters) != self.start.size:
            raise InvalidInput(f"{_shortened(text)} has {len(letters)} letters; there are {self.start.size} places")
        for letter, count in self._counts.items():
            if letters.count(letter) != count:
                raise InvalidInput(
                    f"the letter {letter} occurs {_times(letters.count(letter))} in {_shortened(text)}",
                    f"it must occur {_times(count)}",
                )
        return np.array([self._number[letter] for letter in letters], dtype=np.uint8)

    def checked(self, state: State) -> State:
        """A state, if it has the letters of the start.

        Raises
        ------
        InvalidInput
        """
        if not np.array_equal(np.sort(state), np.sort(self.start)):
            raise InvalidInput(f"the letters {state.tolist()} are not those of the start, {self.start.tolist()}")
        return state

    def format(self, state: State) -> str:
        """A state as a line of letters."""
        letters = [self.alphabet[number] for number in state.tolist()]
        return " ".join(letters) if self.distinct else join_letters(letters)

    def lines(self, states: NDArray[np.uint8]) -> bytes:
        """Many states, each as a line, as :meth:`format` writes them.

        Parameters
        ----------
        states : ndarray of uint8, shape (m, places)
        """
        first = self.format(self.start)
        places = states.shape[1]
        separator = " " if places > 1 and len(first) > sum(len(self.alphabet[n]) for n in self.start) else ""
        letters = [f"{letter}{separator}".encode() for letter in self.alphabet]
        width = max(map(len, letters))
        # Letters of any length as rows of one length; what is too much is 0 and left out in the end.
        table = np.array([list(letter.ljust(width, b"\0")) for letter in letters], dtype=np.uint8)
        characters = np.zeros((len(states), places * width + 1), dtype=np.uint8)
        characters[:, :-1] = table[states].reshape(len(states), places * width)
        characters[:, -1] = ord("\n")
        if separator:
            # No separator behind the last letter: it is the last character of that letter's row that is not 0.
            ends = np.array([len(letter) - 1 for letter in letters])
            characters[np.arange(len(states)), (places - 1) * width + ends[states[:, -1]]] = 0
        lines: bytes = characters[characters != 0].tobytes()
        return lines

    def cycles(self, state: State) -> str:
        """What a state of distinct letters does to the start, in cycles with places from 1."""
        place_of = {int(letter): place for place, letter in enumerate(self.start.tolist())}
        return write_cycles(tuple(place_of[int(letter)] for letter in state.tolist()))


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _shortened(text: str) -> str:
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}...")
