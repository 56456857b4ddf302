"""How people write a sliding-tile position, its moves, and whether it can be reached.

A position is the numbers of its cells, row by row, 0 for the blank. Anything but letters and digits separates them:
``1 2 3/4 0 5``, ``1,2,3,4,0,5`` and ``[[1, 2, 3], [4, 0, 5]]`` are the same position, and so is ``123405``: a single
word with as many hexadecimal digits as there are cells has one for each.
"""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from pipeline.spaces.contract import State
from storage.errors import InvalidInput

BLANK = 0

# A minus right before a number is a sign, unless it stands right behind another number, where it separates.
_NUMBER = re.compile(r"(?<![0-9])-[0-9]+|[0-9]+")

_COMPACT = re.compile(r"[0-9a-fA-F]+")


def parse(text: str, rows: int, cols: int) -> State:
    """Read a position.

    Parameters
    ----------
    text : str
        Numbers with any separators, or a hexadecimal digit for each cell; 0 for the blank.
    rows, cols : int
        Size of the board.

    Returns
    -------
    ndarray of uint8, shape (rows * cols,)

    Raises
    ------
    InvalidInput
        If the numbers are not 0 to ``rows * cols - 1``, each once.
    """
    size = rows * cols
    board = f"a {rows}x{cols} board"
    remedy = f"write the numbers 0 (the blank) to {size - 1}, each once, row by row"
    word = text.strip()
    if len(word) == size > 1 and _COMPACT.fullmatch(word):
        text = " ".join(str(int(digit, 16)) for digit in word)
    matches = list(_NUMBER.finditer(text))
    _check_separators(text, remedy)
    cells: list[int] = []
    for place, match in enumerate(matches, start=1):
        digits = match[0].lstrip("0") or "0"
        # Python refuses to convert very long numbers, so their length is looked at first.
        if digits[0] == "-" or len(digits) > len(str(size)) or int(digits) >= size:
            raise InvalidInput(
                f"{_shortened(match[0])} (number {place} of the position, at character {match.start() + 1}) "
                f"is not on {board}",
                remedy=remedy,
            )
        cells.append(int(digits))
    repeated = [number for number, times in Counter(cells).items() if times > 1]
    missing = sorted(set(range(size)) - set(cells))
    problems = []
    if len(cells) != size:
        problems.append(f"{board} takes {size} {'number' if size == 1 else 'numbers'}, not {len(cells)}")
    for number in repeated[:1]:
        places = [place for place, cell in enumerate(cells, start=1) if cell == number]
        problems.append(f"{number} is repeated (number {places[0]} and number {places[1]} of the position)")
    if missing:
        problems.append(f"{_listed(missing)} {'is' if len(missing) == 1 else 'are'} missing")
    if problems:
        raise InvalidInput(", ".join(problems), remedy=remedy)
    return np.array(cells, dtype=np.uint8)


def _check_separators(text: str, remedy: str) -> None:
    for place, character in enumerate(text, start=1):
        if character.isalnum() and not (character.isascii() and character.isdigit()):
            raise InvalidInput(
                f"character {place} of the position, {character!r}, is neither a number nor a separator",
                remedy=remedy,
            )


def _shortened(number: str) -> str:
    return number if len(number) <= 12 else f"{number[:9]}..."


def _listed(numbers: list[int]) -> str:
    shown = [str(number) for number in numbers[:4]]
    if len(numbers) > len(shown):
        return f"{', '.join(shown)} and {len(numbers) - len(shown)} more"
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))


def format_board(cells: State, cols: int) -> str:
    """Write a position on one line, with a slash between rows."""
    return "/".join(" ".join(str(cell) for cell in row) for row in cells.reshape(-1, cols).tolist())


def neighbours(cells: State, rows: int, cols: int) -> list[State]:
    """Positions one move away.

    Parameters
    ----------
    cells : ndarray of uint8, shape (rows * cols,)
    rows, cols : int
        Size of the board.

    Returns
    -------
    list of ndarray of uint8
        In ascending order, cell by cell.
    """
    blank = _blank_of(cells)
    row, col = divmod(blank, cols)
    found = []
    for to_row, to_col in ((row - 1, col), (row + 1, col), (row, col - 1), (row, col + 1)):
        if 0 <= to_row < rows and 0 <= to_col < cols:
            neighbour = cells.copy()
            tile = to_row * cols + to_col
            neighbour[blank], neighbour[tile] = cells[tile], BLANK
            found.append(neighbour)
    return sorted(found, key=lambda neighbour: neighbour.tolist())


def is_reachable(cells: State, rows: int, cols: int, root_blank: int) -> bool:
    """Whether moves lead from the root to a position.

    Parameters
    ----------
    cells : ndarray of uint8, shape (rows * cols,)
    rows, cols : int
        Size of the board.
    root_blank : int
        Cell of the blank in the root, whose tiles are in ascending order row by row.

    Returns
    -------
    bool

    Notes
    -----
    A horizontal move leaves the order of the tiles alone, a vertical one takes a tile over ``cols - 1`` others. So the
    parity of the order follows from the rows between the blank and its place in the root, and on boards with two rows
    and columns or more nothing else is invariant. In a single row or column tiles cannot pass each other.
    """
    tiles = [cell for cell in cells.tolist() if cell != BLANK]
    if rows == 1 or cols == 1:
        return tiles == sorted(tiles)
    blank = _blank_of(cells)
    inversions = sum(left > right for place, left in enumerate(tiles) for right in tiles[place + 1 :])
    rows_apart = abs(blank // cols - root_blank // cols)
    return bool((inversions + rows_apart * (cols - 1)) % 2 == 0)


def _blank_of(cells: State) -> int:
    return int(np.flatnonzero(cells == BLANK)[0])


def move_name(before: State, after: State, cols: int) -> str:
    """The tile that moves between two neighbouring positions, and its direction, such as ``7 left``."""
    start, end = _blank_of(after), _blank_of(before)
    directions = {-cols: "up", cols: "down", -1: "left", 1: "right"}
    # On a board of one column, up and down are the neighbours.
    step = end - start
    direction = ("up" if step < 0 else "down") if cols == 1 else directions[step]
    return f"{int(before[start])} {direction}"
