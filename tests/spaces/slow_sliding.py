"""Sliding puzzles in plain Python: tuples, the blank 0, breadth-first search with sets."""

from __future__ import annotations

from functools import cache

Board = tuple[int, ...]


def root(rows: int, cols: int, blank: int) -> Board:
    """Tiles in order around the blank."""
    cells = list(range(1, rows * cols))
    cells.insert(blank, 0)
    return tuple(cells)


def moved(board: Board, rows: int, cols: int) -> dict[str, Board]:
    """Positions one move away, by the way the blank goes."""
    blank = board.index(0)
    row, col = divmod(blank, cols)
    found = {}
    for name, down, right in (("up", -1, 0), ("down", 1, 0), ("left", 0, -1), ("right", 0, 1)):
        if 0 <= row + down < rows and 0 <= col + right < cols:
            cells = list(board)
            target = (row + down) * cols + col + right
            cells[blank], cells[target] = cells[target], 0
            found[name] = tuple(cells)
    return found


@cache
def levels(rows: int, cols: int, blank: int, depth: int = 1000) -> tuple[frozenset[Board], ...]:
    """Positions at each depth, up to a depth."""
    level = {root(rows, cols, blank)}
    before: set[Board] = set()
    found = []
    while level and len(found) <= depth:
        found.append(frozenset(level))
        level, before = {other for board in level for other in moved(board, rows, cols).values()} - before, level
    return tuple(found)
