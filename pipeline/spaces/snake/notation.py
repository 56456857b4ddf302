"""How people write a snake: joint digits, letters or run lengths; and the legal moves of one snake.

====================  ==========================================================================================
``112011``            joint digits from head to tail: 0 clockwise, 1 straight, 2 anticlockwise
``SSLRSS``            the same in letters, upper or lower case: R right, S straight, L left
``3,1,-3``            signed run lengths: 3 edges straight on, 1 after an anticlockwise turn, 3 after a clockwise one
====================  ==========================================================================================

All three lines are the same snake. A text with a comma is run lengths, so ``5,`` is the straight snake of five edges
and ``5`` is an error; only after a single run may the comma be the last character. The first run follows no turn and
takes no sign; a later one without a sign turns anticlockwise. White space around the text and around each run is
ignored. The empty text is the snake of one edge, which has no joints.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from pipeline.spaces.contract import State
from pipeline.spaces.snake.swing import ANTICLOCKWISE_BLOCKED, CLOCKWISE_BLOCKED, blocked_joint, overlapping_joint
from storage.errors import InvalidInput

CLOCKWISE, STRAIGHT, ANTICLOCKWISE = 0, 1, 2
DIGITS = "012"
LETTERS = "RSL"
# A mistyped run length must not fill the memory. Keys end far below, at 64 edges.
MAX_EDGES = 10_000

_RUN = re.compile(r"\s*([+-]?)([0-9]+)\s*")


def parse(text: str) -> State:
    """Read a snake in any of the three notations.

    Parameters
    ----------
    text : str
        Joint digits, letters or signed run lengths.

    Returns
    -------
    ndarray of uint8, shape (joints,)
        0 clockwise, 1 straight, 2 anticlockwise.

    Raises
    ------
    InvalidInput
        If the text is none of them, or the snake crosses itself. Characters are counted from 1, vertices from 0.
    """
    joints = _joints_of_runs(text) if "," in text else _joints_of_symbols(text)
    _check_length(len(joints) + 1)
    digits = np.array(joints, dtype=np.uint8)
    check_crossing(digits)
    return digits


def _joints_of_symbols(text: str) -> list[int]:
    body = text.strip()
    if not body:
        return []
    before = len(text) - len(text.lstrip())
    symbols = DIGITS if body[0] in DIGITS else LETTERS
    digits_kind, letters_kind = "joint digits 0, 1 and 2", "letters S, L and R"
    joints = []
    for place, symbol in enumerate(body):
        # upper() makes an ASCII letter of some that are not (the long s), so those stay as they are.
        digit = symbols.find(symbol.upper() if symbol.isascii() else symbol)
        if digit < 0:
            # The first character shows which notation is meant, if it belongs to one at all.
            meant = digits_kind if symbols == DIGITS else letters_kind
            kind = meant if place else f"{digits_kind}, nor of the {letters_kind}"
            raise InvalidInput(
                f"character {before + place + 1} of the snake, {symbol!r}, is none of the {kind}",
                remedy="write joint digits (1120), letters (SSLR) or run lengths with a comma (3,-2,4 or 5,)",
            )
        joints.append(digit)
    return joints


def _joints_of_runs(text: str) -> list[int]:
    pieces = text.split(",")
    if len(pieces) == 2 and not pieces[1].strip():
        pieces.pop()
    joints: list[int] = []
    position = 1
    for number, piece in enumerate(pieces, start=1):
        where = f"run {number} of the snake (character {position + len(piece) - len(piece.lstrip())})"
        match = _RUN.fullmatch(piece)
        if match is None:
            what = f"is {piece.strip()!r}" if piece.strip() else "is missing"
            raise InvalidInput(f"{where} {what}", remedy="a run is a whole number such as 3 or -2")
        sign, size = match[1], match[2].lstrip("0")
        if number == 1 and sign:
            raise InvalidInput(
                f"{where} has the sign {sign!r}, but no turn comes before it",
                remedy="leave the sign of the first run out",
            )
        if not size:
            raise InvalidInput(f"{where} has the length 0", remedy="a run has at least one edge")
        # Python refuses to convert very long numbers, so their length is looked at first.
        edges = int(size) if len(size) <= len(str(MAX_EDGES)) else MAX_EDGES + 1
        _check_length(len(joints) + edges, where)
        if number > 1:
            joints.append(CLOCKWISE if sign == "-" else ANTICLOCKWISE)
        joints.extend([STRAIGHT] * (edges - 1))
        position += len(piece) + 1
    return joints


def _check_length(edges: int, where: str = "the snake") -> None:
    if edges > MAX_EDGES:
        raise InvalidInput(f"{where} is too long", remedy=f"a snake may have up to {MAX_EDGES} edges")


def vertices(digits: State) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lattice points that a snake visits.

    Parameters
    ----------
    digits : ndarray of uint8, shape (joints,)

    Returns
    -------
    xs, ys : ndarray of int64, shape (joints + 2,)
        From the head in (0, 0), whose edge goes right; y goes up, so anticlockwise turns go left.
    """
    headings = np.zeros(digits.size + 1, dtype=np.int64)
    np.cumsum(digits.astype(np.int64) - STRAIGHT, out=headings[1:])
    headings %= 4
    xs = np.zeros(digits.size + 2, dtype=np.int64)
    ys = np.zeros(digits.size + 2, dtype=np.int64)
    np.cumsum(np.array([1, 0, -1, 0])[headings], out=xs[1:])
    np.cumsum(np.array([0, 1, 0, -1])[headings], out=ys[1:])
    return xs, ys


def check_crossing(digits: State) -> None:
    """Raise InvalidInput if a snake visits a point twice."""
    xs, ys = vertices(digits)
    visited: dict[tuple[int, int], int] = {}
    for vertex, point in enumerate(zip(xs.tolist(), ys.tolist(), strict=True)):
        earlier = visited.setdefault(point, vertex)
        if earlier != vertex:
            raise InvalidInput(
                f"the snake crosses itself: vertex {earlier} and vertex {vertex} are both at {point}",
                remedy=f"change one of the joints {earlier + 1} to {vertex - 1}",
            )


def format_digits(digits: State) -> str:
    """Write a snake as joint digits."""
    return "".join(DIGITS[digit] for digit in digits)


def format_runs(digits: State) -> str:
    """Write a snake as signed run lengths, with a comma at the end if there is one run."""
    bends = np.flatnonzero(digits != STRAIGHT)
    # Bend i stands between edges i and i + 1 (counted from 0), which is where a run starts.
    starts = [0, *(bends + 1).tolist(), digits.size + 1]
    lengths = np.diff(starts).tolist()
    signs = ["", *("-" if digits[bend] == CLOCKWISE else "" for bend in bends)]
    runs = ",".join(f"{sign}{length}" for sign, length in zip(signs, lengths, strict=True))
    return runs if len(bends) else f"{runs},"


def neighbours(digits: State, swept: bool) -> list[State]:
    """Snakes one legal move away, with the same head and tail and not turned back to a canonical shape.

    Parameters
    ----------
    digits : ndarray of uint8, shape (joints,)
    swept : bool
        Whether the whole swing must be free of contact, or its end alone.

    Returns
    -------
    list of ndarray of uint8
        In ascending order of their joint digits.
    """
    xs, ys = vertices(digits)
    blocked_turns_about = blocked_joint if swept else overlapping_joint
    found = []
    for joint in range(1, digits.size + 1):
        blocked = int(blocked_turns_about(xs, ys, joint))
        digit = int(digits[joint - 1])
        # An anticlockwise swing adds one to the digit of the pivot, a clockwise one takes one away.
        for turned, obstacle in ((digit - 1, CLOCKWISE_BLOCKED), (digit + 1, ANTICLOCKWISE_BLOCKED)):
            if CLOCKWISE <= turned <= ANTICLOCKWISE and not blocked & obstacle:
                neighbour = digits.copy()
                neighbour[joint - 1] = turned
                found.append(neighbour)
    return sorted(found, key=format_digits)


def move_name(before: State, after: State) -> str:
    """The joint that differs between two neighbouring snakes (counted from 1), and the way the tail swings."""
    joint = int(np.flatnonzero(before != after)[0])
    return f"joint {joint + 1} {'left' if after[joint] > before[joint] else 'right'}"
