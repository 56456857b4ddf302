"""The state space of the snake."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from pipeline.spaces.contract import Detection, Expansion, KeyLayout, Keys, Reference, State, StateSpace
from pipeline.spaces.parameters import validated
from pipeline.spaces.snake import notation
from pipeline.spaces.snake.keys import MAX_JOINTS, digits_of, key_of, turn_bits
from storage.errors import InvalidInput, OutOfBudget

LARGEST_STRAIGHT = 33


class SnakeParameters(BaseModel):
    """Parameters of a snake search.

    Attributes
    ----------
    n : int
        Edges of the snake, 0 to 33; with ``start``, its length, which may be up to 64.
    collision : {"swept", "static"}
        Whether the whole swing must be free of contact, or the end position alone.
    start : str, optional
        Shape to search from instead of the straight one, in any notation of
        :mod:`pipeline.spaces.snake.notation`. Kept in canonical form.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    n: int = Field(default=17, ge=0)
    collision: Literal["swept", "static"] = "swept"
    start: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _length_of_start(cls, values: Any) -> Any:
        if isinstance(values, dict) and values.get("start") is not None:
            digits = notation.parse(str(values["start"]))
            edges = len(digits) + 1
            if values.get("n") is not None and str(values["n"]) != str(edges):
                raise ValueError(f"n is {values['n']}, but the start has {edges} edges; leave n out")
            if edges > MAX_JOINTS + 1:
                raise ValueError(f"the start has {edges} edges; searches go up to {MAX_JOINTS + 1}")
            start = notation.format_digits(digits_of(key_of(digits), len(digits)))
            values = {**values, "n": edges, "start": start}
        return values

    @model_validator(mode="after")
    def _length(self) -> SnakeParameters:
        if self.start is None and self.n > LARGEST_STRAIGHT:
            raise ValueError(f"n is {self.n}; a search from the straight snake takes n from 0 to {LARGEST_STRAIGHT}")
        return self


class Snake(StateSpace):
    """All shapes a snake can reach by legal moves.

    Shapes are the same if a rotation, translation, reflection, or swapping head and tail maps one to the other.

    Parameters
    ----------
    **parameters
        See :class:`SnakeParameters`.

    Raises
    ------
    InvalidInput
        If a parameter is unknown or out of range.

    Examples
    --------
    >>> from pipeline import Snake
    >>> snake = Snake(n=4)
    >>> [snake.format(shape) for shape in snake.neighbours(snake.parse("121"))]
    ['021', '111', '120', '122', '221']
    """

    name = "snake"
    example = {"n": 12}  # noqa: RUF012
    Parameters = SnakeParameters
    layout = KeyLayout(version=1)
    detection = Detection.ONE_SIDED
    bipartite = True
    parameters: SnakeParameters

    def __init__(self, /, **parameters: Any) -> None:
        self.parameters = validated(SnakeParameters, parameters)
        self.joints = max(self.parameters.n - 1, 0)
        self._width = turn_bits(self.joints)
        self.max_neighbours = max(1, 2 * self.joints)

    def roots(self) -> Keys:
        digits = np.ones(self.joints, dtype=np.uint8)
        if self.parameters.start is not None:
            digits = notation.parse(self.parameters.start)
        return np.array([key_of(digits)], dtype=np.uint64)

    def expand(self, keys: Keys, out: Keys, exhaustive: bool) -> Expansion:
        from pipeline.spaces.snake.expansion import expand_block

        if self.joints == 0:
            return Expansion(keys.size, 0)
        swept = self.parameters.collision == "swept"
        numbers, table = _tables(self.joints + 1, swept)
        consumed, written, bending, straightening, fits = expand_block(
            keys, out, self.joints, self._width, numbers, table, swept, not exhaustive
        )
        if not fits:
            raise OutOfBudget(
                f"a shape with more than {self._width + 1} bends turned up, which does not fit a 64-bit key of "
                f"{self.joints} joints",
                "bound the search with --max-depth",
            )
        return Expansion(consumed, written, bending, straightening)

    def key_of(self, state: State | str) -> int:
        state = self.as_state(state)
        if len(state) != self.joints:
            raise InvalidInput(
                f"the snake {notation.format_digits(state)} has {len(state) + 1} edges, not {self.joints + 1}"
            )
        return key_of(state)

    def state_of(self, key: int) -> State:
        if key >> (self._width + self.joints):
            raise InvalidInput(f"{key:#x} is the key of no snake of {self.joints + 1} edges")
        return digits_of(key, self.joints)

    def neighbours(self, state: State | str) -> list[State]:
        state = self.as_state(state)
        return notation.neighbours(state, swept=self.parameters.collision == "swept")

    def moves(self, state: State | str) -> list[tuple[str, State]]:
        """Neighbours, each with the joint that turns and how, such as ``joint 3 left``."""
        state = self.as_state(state)
        return [(notation.move_name(state, after), after) for after in self.neighbours(state)]

    def parse(self, text: str) -> State:
        return notation.parse(text)

    def format(self, state: State | str) -> str:
        state = self.as_state(state)
        return notation.format_digits(state)

    def format_keys(self, keys: Keys) -> bytes:
        from pipeline.spaces.snake.lines import write_lines

        wrong = np.flatnonzero(keys >> np.uint64(self._width) >> np.uint64(self.joints))
        if wrong.size:
            self.state_of(int(keys[wrong[0]]))
        lines = np.empty((keys.size, self.joints + 1), dtype=np.uint8)
        write_lines(keys, self.joints, self._width, lines)
        return lines.tobytes()

    def draw_text(self, state: State) -> str:
        from pipeline.spaces.snake.drawing import draw_text

        return draw_text(state)

    def draw_svg(self, state: State) -> str:
        from pipeline.spaces.snake.drawing import draw_svg

        return draw_svg(state)

    def draw_png(self, state: State) -> bytes:
        from pipeline.spaces.snake.drawing import draw_png

        return draw_png(state)

    def reference(self) -> Reference | None:
        if self.parameters.start is not None:
            return None
        data = json.loads(resources.files("pipeline.spaces").joinpath("reference/snake.json").read_text())
        n = self.parameters.n
        total = data["totals"][n] if n <= data["totals_hold_for"][self.parameters.collision] else None
        depths = data["depths"].get(str(n)) if self.parameters.collision == "swept" else None
        if total is None and depths is None:
            return None
        return Reference(data["source"], tuple(depths) if depths else None, depths is not None, total)


@cache
def _tables(radius: int, swept: bool) -> tuple[np.ndarray, np.ndarray]:
    """Point numbers and blocking table, shared by all threads."""
    from pipeline.spaces.snake.swing import blocking_table, point_numbers

    numbers = point_numbers(radius)
    return numbers, blocking_table(numbers, swept)
