"""Peg solitaire on a triangle of fifteen holes: moves cannot be undone, so the graph is directed."""

from __future__ import annotations

import numpy as np
from pydantic import BaseModel, Field

from pipeline import StateSpace

SIDE = 5
HOLES = [(row, place) for row in range(SIDE) for place in range(row + 1)]
STEPS = [(0, 1), (1, 0), (1, 1), (0, -1), (-1, 0), (-1, -1)]
# Bits of the peg that jumps, of the one that is taken, and of the hole behind it.
JUMPS = [
    [1 << HOLES.index((row + count * down, place + count * right)) for count in range(3)]
    for row, place in HOLES
    for down, right in STEPS
    if (row + 2 * down, place + 2 * right) in HOLES
]


class PegSolitaire(StateSpace):
    """Peg solitaire on the triangle of fifteen holes; a bit of a key says whether there is a peg."""

    class Parameters(BaseModel):
        empty: int = Field(default=0, ge=0, lt=len(HOLES))

    name = "peg-solitaire"
    undirected = False
    max_neighbours = len(JUMPS)
    key_count = 1 << len(HOLES)

    def roots(self):
        return [self.key_count - 1 - (1 << self.parameters.empty)]

    def neighbour_keys(self, keys):
        jumps = np.array(JUMPS, dtype=np.uint64)
        move = jumps.sum(axis=1)
        possible = keys[:, None] & move == jumps[:, 0] | jumps[:, 1]
        return (keys[:, None] ^ move)[possible], possible.sum(axis=1)

    def draw_text(self, state):
        key = self.key_of(state)
        rows = ["" for _ in range(SIDE)]
        for number, (row, _) in enumerate(HOLES):
            rows[row] += "o " if key >> number & 1 else ". "
        return "\n".join(" " * (SIDE - row) + text.rstrip() for row, text in enumerate(rows))
