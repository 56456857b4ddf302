"""The state space of the puzzles that are made of permutations."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import numpy as np

from pipeline.spaces.contract import Detection, Expansion, KeyLayout, Keys, Places, Reference, State, StateSpace
from pipeline.spaces.permutations.arrangements import arrangements_of
from pipeline.spaces.permutations.notation import Notation
from pipeline.spaces.permutations.parameters import PermutationParameters, read_parameters


class Permutation(StateSpace):
    """All arrangements that moves make of a start: a Cayley graph, or the orbit of a word.

    Parameters
    ----------
    **parameters
        See :class:`~pipeline.spaces.permutations.parameters.PermutationParameters`.

    Attributes
    ----------
    generators : Generators
        The moves, with names.
    undirected : bool
        Whether every move can be undone by a move.
    size : int or None
        Number of states, if it is known without a search.
    key_count : int or None
        The keys are 0 to ``key_count - 1``; None if only a small part of these may occur.

    Raises
    ------
    InvalidInput
        If a parameter is unknown, out of range, missing, or does not go with the others.
    OutOfBudget
        If there are more arrangements than 64-bit keys.

    Examples
    --------
    >>> from pipeline.spaces.permutations.space import Permutation
    >>> stack = Permutation(family="pancake", size=4)
    >>> [(name, stack.format(state)) for name, state in stack.moves(stack.parse("0 1 2 3"))]
    [('R2', '1 0 2 3'), ('R3', '2 1 0 3'), ('R4', '3 2 1 0')]
    """

    name = "permutations"
    example = {"family": "pancake", "size": 7}  # noqa: RUF012
    Parameters = PermutationParameters
    layout = KeyLayout(version=1)
    detection = Detection.LEVELS
    parameters: PermutationParameters

    def __init__(self, /, **parameters: Any) -> None:
        puzzle = read_parameters(parameters)
        self.parameters = puzzle.parameters
        self.generators = puzzle.generators
        self._notation = Notation(puzzle.letters)
        moves = np.array(self.generators.images, dtype=np.uint8).reshape(-1, self.generators.points)
        self._arrangements = arrangements_of(moves, self._notation.start)
        self.undirected = self.generators.closed
        self.bipartite = self.undirected and self._arrangements.bipartite
        self.max_neighbours = max(len(moves), 1)
        self.size = self._arrangements.size
        self.key_count = self._arrangements.key_count
        self.places = Places(self.key_count) if self.key_count is not None else None

    def roots(self) -> Keys:
        return np.array([self.key_of(self._notation.start)], dtype=np.uint64)

    def expand(self, keys: Keys, out: Keys, exhaustive: bool) -> Expansion:
        if not self.generators.images:
            return Expansion(keys.size, 0)
        return Expansion(*self._arrangements.expand(keys, out))

    def key_of(self, state: State | str) -> int:
        state = self.as_state(state)
        return self._arrangements.key_of(self._notation.checked(state))

    def state_of(self, key: int) -> State:
        state: State = self._arrangements.states_of(np.array([key], dtype=np.uint64))[0]
        return state

    def moves(self, state: State | str) -> list[tuple[str, State]]:
        """Neighbours in ascending order, each with the move that leads there; moves to the same one are joined."""
        state = self.as_state(state)
        names: dict[tuple[int, ...], list[str]] = {}
        for name, images in zip(self.generators.names, self.generators.images, strict=True):
            names.setdefault(tuple(state[list(images)].tolist()), []).append(name)
        return [(" = ".join(names[letters]), np.array(letters, dtype=np.uint8)) for letters in sorted(names)]

    def neighbours(self, state: State | str) -> list[State]:
        state = self.as_state(state)
        return [neighbour for _, neighbour in self.moves(state)]

    def parse(self, text: str) -> State:
        return self._notation.parse(text)

    def format(self, state: State | str) -> str:
        state = self.as_state(state)
        in_cycles = self.parameters.notation == "cycles"
        return self._notation.cycles(state) if in_cycles else self._notation.format(state)

    def format_keys(self, keys: Keys) -> bytes:
        states = self._arrangements.states_of(keys)
        if self.parameters.notation == "cycles":
            return "".join(f"{self.format(state)}\n" for state in states).encode()
        return self._notation.lines(states)

    def short_name(self) -> str:
        """Name for a job of this space, such as ``pancake-11``."""
        values = self.parameters.model_dump(exclude_defaults=True)
        words = [values.pop("family", "permutations")]
        words += [str(values.pop(name)) for name in ("size", "rings", "metric") if name in values]
        words += [name for name in ("closed", "powers") if values.pop(name, False)]
        if values:
            from hashlib import sha256

            words.append(sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:8])
        return "-".join(words)

    def _drawn(self, state: State) -> tuple[str | None, list[str], list[int]]:
        """What :mod:`pipeline.spaces.permutations.drawing` needs to know of a state."""
        numbers = state.tolist()
        return self.parameters.family, [self._notation.alphabet[number] for number in numbers], numbers

    def draw_text(self, state: State) -> str:
        from pipeline.spaces.permutations.drawing import draw_text

        return draw_text(*self._drawn(state), self._notation.cycles(state) if self._notation.distinct else None)

    def draw_svg(self, state: State) -> str:
        from pipeline.spaces.permutations.drawing import draw_svg, layout_of

        return draw_svg(layout_of(*self._drawn(state)), self.format(state))

    def draw_png(self, state: State) -> bytes:
        from pipeline.spaces.permutations.drawing import draw_png, layout_of

        return draw_png(layout_of(*self._drawn(state)))

    def reference(self) -> Reference | None:
        known = json.loads(resources.files("pipeline.spaces").joinpath("reference/permutations.json").read_text())
        for source, counts in known.items():
            if self.short_name() in counts:
                return Reference(source, tuple(counts[self.short_name()]), complete=True)
        if self.size is not None:
            return Reference("the order of the group", total=self.size)
        return None
