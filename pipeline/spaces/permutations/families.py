"""The families of moves that have names, after those of CayleyPy (https://github.com/cayleypy/cayleypy)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

from pipeline.spaces.permutations.cube import face_turns
from pipeline.spaces.permutations.generators import Images, inverse

Moves = dict[str, Images]

TURNSTILE = 4


def _reversal(size: int, first: int, last: int) -> Images:
    """The places ``first`` to ``last`` in reverse order."""
    places = list(range(size))
    places[first : last + 1] = places[first : last + 1][::-1]
    return tuple(places)


def _exchange(size: int, one: int, other: int) -> Images:
    places = list(range(size))
    places[one], places[other] = other, one
    return tuple(places)


def _rotations(size: int) -> Moves:
    left = tuple((place + 1) % size for place in range(size))
    return {"L": left, "R": inverse(left)}


def pancake(size: int) -> Moves:
    """Turn the topmost 2, 3, ... pancakes over."""
    return {f"R{count}": _reversal(size, 0, count - 1) for count in range(2, size + 1)}


def burnt_pancake(size: int) -> Moves:
    """Turn the topmost 1, 2, ... pancakes over; place ``i`` shows the upper side, ``size + i`` the lower one."""
    moves = {}
    for count in range(1, size + 1):
        places = list(range(2 * size))
        for place in range(count):
            places[place], places[size + place] = size + count - 1 - place, count - 1 - place
        moves[f"R{count}"] = tuple(places)
    return moves


def top_spin(size: int) -> Moves:
    """Turn the ring either way, or reverse the four tokens in the turnstile."""
    return {**_rotations(size), "S": _reversal(size, 0, TURNSTILE - 1)}


def lrx(size: int) -> Moves:
    """Rotate to the left or right, or exchange the first two."""
    return {**_rotations(size), "X": _exchange(size, 0, 1)}


def lx(size: int) -> Moves:
    """Rotate to the left, or exchange the first two; the way back is another one."""
    return {"L": _rotations(size)["L"], "X": _exchange(size, 0, 1)}


def coxeter(size: int) -> Moves:
    """Exchange two neighbours."""
    return {f"({place},{place + 1})": _exchange(size, place, place + 1) for place in range(size - 1)}


def cyclic_coxeter(size: int) -> Moves:
    """Exchange two neighbours on a ring."""
    return {**coxeter(size), f"(0,{size - 1})": _exchange(size, 0, size - 1)}


def stars(size: int) -> Moves:
    """Exchange the first with any other."""
    return {f"(0,{place})": _exchange(size, 0, place) for place in range(1, size)}


def all_transpositions(size: int) -> Moves:
    """Exchange any two."""
    return {f"({one},{other})": _exchange(size, one, other) for one, other in combinations(range(size), 2)}


def full_reversals(size: int) -> Moves:
    """Reverse any stretch."""
    return {f"R[{first}..{last}]": _reversal(size, first, last) for first, last in combinations(range(size), 2)}


def hungarian_rings(left: int, left_gap: int, right: int, right_gap: int) -> Moves:
    """Two rings that cross twice, each turned either way.

    Parameters
    ----------
    left, right : int
        Tokens on each ring, those on the crossings included.
    left_gap, right_gap : int
        How many steps the crossings are apart on each ring.
    """
    tokens = left + right - 2
    first = list(range(left))
    between = range(left, left + right - right_gap - 1)
    behind = range(left + right - right_gap - 1, tokens)
    second = [0, *between, left_gap, *behind]
    moves = {}
    for name, ring in (("L", first), ("R", second)):
        places = list(range(tokens))
        for place, following in zip(ring, [*ring[1:], ring[0]], strict=True):
            places[place] = following
        moves[name], moves[f"{name}'"] = tuple(places), inverse(tuple(places))
    return moves


def pocket_cube(half_turns: bool) -> Moves:
    """Turn the upper, the right or the front face of the 2x2x2 cube; the corner that none of them moves is fixed."""
    moves = {}
    for face in "URF":
        turn = face_turns()[face]
        moves[face], moves[f"{face}'"] = turn, inverse(turn)
        if half_turns:
            moves[f"{face}2"] = tuple(turn[place] for place in turn)
    return moves


class Family(NamedTuple):
    """Moves for every size from ``smallest``."""

    moves: Callable[[int], Moves]
    smallest: int


SIZED = {
    "pancake": Family(pancake, 2),
    "burnt-pancake": Family(burnt_pancake, 1),
    "top-spin": Family(top_spin, TURNSTILE),
    "lrx": Family(lrx, 2),
    "lx": Family(lx, 2),
    "coxeter": Family(coxeter, 2),
    "cyclic-coxeter": Family(cyclic_coxeter, 2),
    "stars": Family(stars, 2),
    "all-transpositions": Family(all_transpositions, 2),
    "full-reversals": Family(full_reversals, 2),
}
RINGS, CUBE = "hungarian-rings", "pocket-cube"
FAMILIES = (*SIZED, RINGS, CUBE)
