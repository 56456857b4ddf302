"""The state space of the sliding-tile puzzles."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from pipeline.spaces.contract import Detection, Expansion, KeyLayout, Keys, Places, Reference, State, StateSpace
from pipeline.spaces.parameters import validated
from pipeline.spaces.sliding import notation
from storage.errors import InvalidInput

if TYPE_CHECKING:
    from pipeline.spaces.sliding.ranked_moves import MoveTables

MAX_CELLS = 16


class SlidingParameters(BaseModel):
    """Parameters of a sliding-puzzle search.

    Attributes
    ----------
    rows, cols : int
        The board, at most 16 cells.
    blank : int
        Cell of the blank in the root, counted row by row from 0; the last one unless given. The tiles 1, 2, ... lie
        row by row on the other cells.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    rows: int = Field(default=4, ge=1, le=MAX_CELLS)
    cols: int = Field(default=4, ge=1, le=MAX_CELLS)
    blank: int = Field(default=-1, ge=-1)

    @model_validator(mode="before")
    @classmethod
    def _no_negative_blank(cls, values: Any) -> Any:
        if isinstance(values, dict) and values.get("blank") is not None and str(values["blank"]).startswith("-"):
            raise ValueError(f"blank is {values['blank']}; cells are counted from 0")
        return values

    @model_validator(mode="after")
    def _board(self) -> SlidingParameters:
        cells = self.rows * self.cols
        if cells > MAX_CELLS:
            raise ValueError(f"a board of {self.rows} x {self.cols} has {cells} cells; at most {MAX_CELLS} fit a key")
        if self.blank >= cells:
            raise ValueError(f"blank is {self.blank}; the cells of the board are 0 to {cells - 1}")
        if self.blank == -1:
            object.__setattr__(self, "blank", cells - 1)
        return self


class Sliding(StateSpace):
    """All positions of a sliding-tile puzzle.

    Parameters
    ----------
    **parameters
        See :class:`SlidingParameters`.

    Raises
    ------
    InvalidInput
        If a parameter is unknown or out of range.

    Examples
    --------
    >>> from pipeline import Sliding
    >>> board = Sliding(rows=2, cols=2)
    >>> [board.format(position) for position in board.neighbours(board.parse("1 2 3 0"))]
    ['1 0/3 2', '1 2/0 3']
    """

    name = "sliding"
    example = {"rows": 2, "cols": 4}  # noqa: RUF012
    Parameters = SlidingParameters
    layout = KeyLayout(version=1, field_bits=9, mask_bits=4)
    detection = Detection.MASKS
    bipartite = True
    max_neighbours = 4
    parameters: SlidingParameters

    def __init__(self, /, **parameters: Any) -> None:
        from pipeline.spaces.sliding.ranking import BLANK_BITS, RANK_SHIFT, rank_weights, reciprocals

        self.parameters = validated(SlidingParameters, parameters)
        self._rows, self._cols, self._blank = self.parameters.rows, self.parameters.cols, self.parameters.blank
        self._tiles = self._rows * self._cols - 1
        self._symmetric = self._rows == self._cols == 4 and self._blank // 4 == self._blank % 4
        self._weights = rank_weights(self._tiles)
        self._largest_rank = max(math.factorial(self._tiles) // 2, 1) - 1
        self._inverse = reciprocals(self._weights)
        if not self._symmetric:
            self.places = Places((self._largest_rank + 1) << BLANK_BITS, RANK_SHIFT, BLANK_BITS)

    def _root(self) -> State:
        cells = list(range(1, self._tiles + 1))
        cells.insert(self._blank, 0)
        return np.array(cells, dtype=np.uint8)

    def roots(self) -> Keys:
        return np.array([self.key_of(self._root())], dtype=np.uint64)

    def expand(self, keys: Keys, out: Keys, exhaustive: bool) -> Expansion:
        from pipeline.spaces.sliding.expansion import blank_moves, expand_block, parity_bits

        tables = self._move_tables()
        if tables is not None:
            from pipeline.spaces.sliding.ranked_moves import expand_ranks

            consumed, written = expand_ranks(
                keys,
                out,
                self._cols,
                blank_moves(self._rows, self._cols),
                np.uint64(parity_bits(self._rows, self._cols, self._blank)),
                tables,
                exhaustive,
            )
            return Expansion(consumed, written)
        consumed, written = expand_block(
            keys,
            out,
            self._rows,
            self._cols,
            self._blank,
            self._symmetric,
            self._weights,
            self._inverse,
            blank_moves(self._rows, self._cols),
            np.uint64(parity_bits(self._rows, self._cols, self._blank)),
            exhaustive,
        )
        return Expansion(consumed, written)

    def _move_tables(self) -> MoveTables | None:
        """Tables to move on ranks, for boards that have them."""
        from pipeline.spaces.sliding.ranked_moves import MOST_ENTRIES, table_entries

        if self._symmetric or min(self._rows, self._cols) < 2 or table_entries(self._rows, self._cols) > MOST_ENTRIES:
            return None
        return _tables_of(self._rows, self._cols)

    def count_states(self, keys: Keys) -> int:
        if not self._symmetric:
            return int(keys.size)
        from pipeline.spaces.sliding.symmetry import count_positions

        return int(count_positions(keys))

    def key_of(self, state: State | str) -> int:
        state = self.as_state(state)
        from pipeline.spaces.sliding.ranking import BLANK_SHIFT, RANK_SHIFT, SYMMETRIC_SHIFT, rank_of

        if len(state) != self._tiles + 1:
            raise InvalidInput(f"a board of {self._rows} x {self._cols} has {self._tiles + 1} cells, not {len(state)}")
        if not notation.is_reachable(state, self._rows, self._cols, self._blank):
            raise InvalidInput(
                f"the board {self.format(state)} cannot be reached from {self.format(self._root())}",
                "an odd number of tiles is exchanged" if min(self._rows, self._cols) > 1 else None,
            )
        chosen, symmetric = state, 0
        if self._symmetric:
            mirrored = self._transposed(state)
            ours, theirs = self._goals(state), self._goals(mirrored)
            symmetric = int(ours == theirs)
            chosen = mirrored if theirs < ours else state
        blank = int(np.flatnonzero(chosen == 0)[0])
        rank = rank_of((chosen[chosen != 0].astype(int) - 1).tolist(), self._weights)
        return rank << RANK_SHIFT | symmetric << SYMMETRIC_SHIFT | blank << BLANK_SHIFT

    def _goals(self, state: State) -> list[int]:
        """For every cell the cell where its tile belongs, the blank belonging where it starts."""
        return [self._blank if tile == 0 else int(tile) - 1 + (int(tile) > self._blank) for tile in state]

    def _transposed(self, state: State) -> State:
        side = self._cols
        result = np.zeros(side * side, dtype=np.uint8)
        for cell, goal in enumerate(self._goals(state)):
            new_goal = goal % side * side + goal // side
            tile = 0 if goal == self._blank else new_goal + 1 - (new_goal > self._blank)
            result[cell % side * side + cell // side] = tile
        return result

    def state_of(self, key: int) -> State:
        from pipeline.spaces.sliding.ranking import BLANK_SHIFT, RANK_SHIFT, order_of, order_parity

        blank = key >> BLANK_SHIFT & 15
        if blank > self._tiles or key >> RANK_SHIFT > self._largest_rank:
            raise InvalidInput(f"{key:#x} is the key of no board of {self._rows} x {self._cols}")
        parity = order_parity(blank, self._blank, self._cols)
        tiles = [tile + 1 for tile in order_of(key >> RANK_SHIFT, parity, self._tiles, self._weights)]
        tiles.insert(blank, 0)
        return np.array(tiles, dtype=np.uint8)

    def neighbours(self, state: State | str) -> list[State]:
        state = self.as_state(state)
        return notation.neighbours(state, self._rows, self._cols)

    def moves(self, state: State | str) -> list[tuple[str, State]]:
        """Neighbours, each with the tile that moves and where it goes, such as ``7 left``."""
        state = self.as_state(state)
        return [(notation.move_name(state, after, self._cols), after) for after in self.neighbours(state)]

    def lower_bounds(self, keys: Keys) -> NDArray[np.uint8]:
        from pipeline.spaces.sliding.distance import lower_bounds

        return lower_bounds(keys, self._rows, self._cols, self._blank)

    def symmetries(self, state: State) -> list[State]:
        if self._rows != self._cols or self._blank // self._cols != self._blank % self._cols:
            return [state]
        mirrored = self._transposed(state)
        return [state] if np.array_equal(mirrored, state) else [state, mirrored]

    def parse(self, text: str) -> State:
        return notation.parse(text, self._rows, self._cols)

    def format(self, state: State | str) -> str:
        state = self.as_state(state)
        return notation.format_board(state, self._cols)

    def format_keys(self, keys: Keys) -> bytes:
        from pipeline.spaces.sliding.expansion import parity_bits
        from pipeline.spaces.sliding.lines import line_length, write_lines
        from pipeline.spaces.sliding.ranking import BLANK_SHIFT, RANK_SHIFT

        blanks = (keys >> np.uint64(BLANK_SHIFT)) & np.uint64(15)
        wrong = np.flatnonzero((blanks > self._tiles) | (keys >> np.uint64(RANK_SHIFT) > self._largest_rank))
        if wrong.size:
            self.state_of(int(keys[wrong[0]]))
        lines = np.empty((keys.size, line_length(self._tiles + 1)), dtype=np.uint8)
        parities = np.uint64(parity_bits(self._rows, self._cols, self._blank))
        write_lines(keys, self._rows, self._cols, self._blank, self._weights, self._inverse, parities, lines)
        return lines.tobytes()

    def draw_text(self, state: State) -> str:
        from pipeline.spaces.sliding.drawing import draw_text

        return draw_text(state, self._cols)

    def draw_svg(self, state: State) -> str:
        from pipeline.spaces.sliding.drawing import draw_svg

        return draw_svg(state, self._cols)

    def draw_png(self, state: State) -> bytes:
        from pipeline.spaces.sliding.drawing import draw_png

        return draw_png(state, self._cols)

    def reference(self) -> Reference | None:
        data = json.loads(resources.files("pipeline.spaces").joinpath("reference/sliding.json").read_text())
        board = (self._rows, self._cols, self._blank)
        transposed = (self._cols, self._rows, self._blank % self._cols * self._rows + self._blank // self._cols)
        for name, entry in data.items():
            if (entry["rows"], entry["cols"], entry["blank"]) in (board, transposed):
                source = f"OEIS {name}" if name.startswith("A") else "a count by hand"
                return Reference(source, tuple(entry["terms"]), entry["complete"])
        return None

    def derived_columns(self, states: Sequence[int]) -> dict[str, list[int]]:
        """``exactly``: positions that can occur after exactly that many moves, going back and forth allowed."""
        exactly: list[int] = []
        for depth, count in enumerate(states):
            exactly.append(count + (exactly[depth - 2] if depth >= 2 else 0))
        return {"exactly": exactly}


@cache
def _tables_of(rows: int, cols: int) -> MoveTables:
    """Tables of a board, shared by all threads."""
    from pipeline.spaces.sliding.ranked_moves import move_tables

    return move_tables(rows, cols)
