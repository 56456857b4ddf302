"""The 2x2x2 cube: its 24 stickers in space, and the turns of its faces.

The sticker ``4 * face + place`` is on the face number ``face`` of ``FACES``, whose four stickers are counted row by row
as in the usual net, the upper face above the front and the lower below it.
"""

from __future__ import annotations

from functools import cache
from itertools import product

FACES = "URFDLB"
# Direction that a face looks to; on its net, the direction to the right and the direction downwards.
_AXES = {
    "U": ((0, 1, 0), (1, 0, 0), (0, 0, 1)),
    "R": ((1, 0, 0), (0, 0, -1), (0, -1, 0)),
    "F": ((0, 0, 1), (1, 0, 0), (0, -1, 0)),
    "D": ((0, -1, 0), (1, 0, 0), (0, 0, -1)),
    "L": ((-1, 0, 0), (0, 0, 1), (0, -1, 0)),
    "B": ((0, 0, -1), (-1, 0, 0), (0, -1, 0)),
}
_Vector = tuple[int, ...]


def _stickers() -> list[tuple[_Vector, _Vector]]:
    """Corner (coordinates -1 and 1) and direction of each sticker."""
    stickers: list[tuple[_Vector, _Vector]] = []
    for face, (row, col) in product(FACES, product((-1, 1), repeat=2)):
        out, right, down = _AXES[face]
        corner = tuple(o + col * r + row * d for o, r, d in zip(out, right, down, strict=True))
        stickers.append((corner, out))
    return stickers


def _turned(vector: _Vector, axis: _Vector) -> _Vector:
    """A vector after a quarter turn, clockwise as seen from where the axis points to."""
    x, y, z = vector
    a, b, c = axis
    along = x * a + y * b + z * c
    # Rodrigues' formula for an angle of -90 degrees about a unit vector: v -> (v x k) + k (k . v).
    return (y * c - z * b + a * along, z * a - x * c + b * along, x * b - y * a + c * along)


@cache
def face_turns() -> dict[str, tuple[int, ...]]:
    """Clockwise quarter turns of the six faces: for each place the place that its sticker comes from."""
    stickers = _stickers()
    number = {sticker: place for place, sticker in enumerate(stickers)}
    turns = {}
    for face in FACES:
        axis = _AXES[face][0]
        places = list(range(len(stickers)))
        for place, (corner, out) in enumerate(stickers):
            if sum(c * a for c, a in zip(corner, axis, strict=True)) == 1:
                places[number[_turned(corner, axis), _turned(out, axis)]] = place
        turns[face] = tuple(places)
    return turns
