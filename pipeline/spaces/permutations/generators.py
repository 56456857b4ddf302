"""The moves of a puzzle: named permutations, and sets of them that are closed under inverses or powers.

A permutation is the list of its images. A move ``g`` turns the state ``s`` into ``s[g[0]], s[g[1]], ...``: what stands
at place ``i`` afterwards came from place ``g[i]``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from storage.errors import InvalidInput

Images = tuple[int, ...]

MAX_POINTS = 250
MAX_MOVES = 1024
LONGEST_NAME = 40


def inverse(images: Images) -> Images:
    """The permutation that undoes another."""
    result = [0] * len(images)
    for point, image in enumerate(images):
        result[image] = point
    return tuple(result)


def product(first: Images, second: Images) -> Images:
    """The move that does the moves ``first`` and ``second`` one after the other."""
    return tuple(first[point] for point in second)


@dataclass(frozen=True)
class Generators:
    """Named moves, no two of them equal, none of them the identity.

    Attributes
    ----------
    names : tuple of str
    images : tuple of tuple of int
        Image lists, all of one length.
    points : int
        How many points they act on.
    """

    names: tuple[str, ...]
    images: tuple[Images, ...]
    points: int

    @classmethod
    def of(cls, moves: Mapping[str, Images], closed: bool = False, powers: bool = False) -> Generators:
        """Check moves and complete them.

        Parameters
        ----------
        moves : dict of str to tuple of int
        closed : bool
            Add the inverses, called ``U'``.
        powers : bool
            Add all powers, called ``U2``, ``U3`` and so on, the last of them ``U'``.

        Raises
        ------
        InvalidInput
            If there are no moves, too many, or one is no permutation.
        """
        if not moves:
            raise InvalidInput("there are no moves")
        points = len(next(iter(moves.values())))
        if not 1 <= points <= MAX_POINTS:
            raise InvalidInput(f"the moves act on {points} places; 1 to {MAX_POINTS} are possible")
        for name, images in moves.items():
            _check(name, images, points)
        known: dict[Images, str] = {}
        for name, images in moves.items():
            for power_name, power in _completed(name, images, closed, powers):
                known.setdefault(power, power_name)
                if len(known) > MAX_MOVES:
                    raise InvalidInput(f"there are more than {MAX_MOVES} moves", "leave out powers or inverses")
        known.pop(tuple(range(points)), None)
        if len(set(known.values())) < len(known):
            raise InvalidInput("a name that powers or inverses get is the name of another move", "rename the moves")
        return cls(tuple(known.values()), tuple(known), points)

    @property
    def closed(self) -> bool:
        """Whether every move can be undone by a move."""
        return {inverse(images) for images in self.images} == set(self.images)


def _check(name: str, images: Images, points: int) -> None:
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable() or name.isspace():
        raise InvalidInput(f"{name[:LONGEST_NAME]!r} cannot be the name of a move")
    if len(images) != points:
        raise InvalidInput(f"move {name} acts on {len(images)} places, another one on {points}")
    seen: set[int] = set()
    for place, image in enumerate(images):
        if not 0 <= image < points:
            raise InvalidInput(f"move {name}: {image} (place {place}) is not one of the places 0 to {points - 1}")
        if image in seen:
            raise InvalidInput(f"move {name} is no permutation: {image} occurs twice")
        seen.add(image)


def _completed(name: str, images: Images, closed: bool, powers: bool) -> list[tuple[str, Images]]:
    """A move, and its powers or its inverse."""
    back = inverse(images)
    if not powers:
        return [(name, images), (f"{name}'", back)] if closed else [(name, images)]
    result = [(name, images)]
    power = product(images, images)
    while power not in (images, back) and len(result) <= MAX_MOVES:
        result.append((f"{name}{len(result) + 1}", power))
        power = product(power, images)
    return [*result, (f"{name}'", back)]
