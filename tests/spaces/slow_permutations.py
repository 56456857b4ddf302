"""Permutations and words one at a time: the reference for kernels, ranks and growth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Letters = tuple[int, ...]


def moved(letters: Letters, images: Sequence[int]) -> Letters:
    """What a move makes of an arrangement."""
    return tuple(letters[place] for place in images)


def levels(moves: Iterable[Sequence[int]], start: Sequence[int]) -> list[set[Letters]]:
    """Arrangements by their distance from the start, also where moves have no way back."""
    moves = list(moves)
    known = {tuple(start)}
    found = [known]
    while found[-1]:
        found.append({moved(letters, images) for letters in found[-1] for images in moves} - known)
        known = known | found[-1]
    return found[:-1]


def is_bipartite(moves: Iterable[Sequence[int]], start: Sequence[int]) -> bool:
    """Whether no move joins two arrangements of the same distance (of a graph whose moves have ways back)."""
    moves = list(moves)
    return all(
        moved(letters, images) not in level for level in levels(moves, start) for letters in level for images in moves
    )
