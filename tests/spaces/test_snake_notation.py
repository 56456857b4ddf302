"""Notations of the snake, its vertices and its legal moves."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.spaces.contract import State
from pipeline.spaces.snake import notation
from storage.errors import InvalidInput

# 400 snakes of 4 to 31 edges with all their legal moves, from a reference program that shares no code with this one.
MOVES = json.loads((Path(__file__).parents[1] / "data" / "snake_moves.json").read_text())


def format_letters(digits: np.ndarray) -> str:
    """The letters of a snake: right, straight and left."""
    return "".join("RSL"[digit] for digit in digits)


def longest_start(joints: list[int]) -> State:
    """As many of the joints, from the head on, as do not make the snake cross itself."""
    heading, point = 1 + 0j, 1 + 0j
    visited = {0j, point}
    kept = []
    for joint in joints:
        heading *= {0: -1j, 1: 1, 2: 1j}[joint]
        point += heading
        if point in visited:
            break
        visited.add(point)
        kept.append(joint)
    return np.array(kept, dtype=np.uint8)


snakes = st.lists(st.sampled_from([0, 1, 1, 2]), max_size=80).map(longest_start)


@given(snakes)
def test_every_notation_reads_back(digits: State) -> None:
    for write in (notation.format_digits, format_letters, notation.format_runs):
        read = notation.parse(write(digits))
        assert read.dtype == np.uint8
        assert read.tolist() == digits.tolist()
    assert notation.parse(format_letters(digits).lower()).tolist() == digits.tolist()


@pytest.mark.parametrize(
    ("text", "joints"),
    [
        ("", []),
        ("  ", []),
        ("1,", []),
        ("5,", [1, 1, 1, 1]),
        ("1120", [1, 1, 2, 0]),
        (" 1120\n", [1, 1, 2, 0]),
        ("SSLR", [1, 1, 2, 0]),
        ("sSlR", [1, 1, 2, 0]),
        ("3,1,-1", [1, 1, 2, 0]),
        ("3, +1 , -1", [1, 1, 2, 0]),
        ("03,-2,4", [1, 1, 0, 1, 2, 1, 1, 1]),
        ("1,2", [2, 1]),
        ("012", [0, 1, 2]),
    ],
)
def test_parse(text: str, joints: list[int]) -> None:
    assert notation.parse(text).tolist() == joints


@pytest.mark.parametrize(
    ("digits", "runs"), [([], "1,"), ([1, 1], "3,"), ([0], "1,-1"), ([1, 1, 0, 1, 2, 1, 1, 1], "3,-2,4")]
)
def test_format_runs(digits: list[int], runs: str) -> None:
    assert notation.format_runs(np.array(digits, dtype=np.uint8)) == runs


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1130", "character 3 of the snake, '3', is none of the joint digits"),
        (" 11S", "character 4 of the snake, 'S'"),
        ("SL1", "character 3 of the snake, '1', is none of the letters"),
        ("LxS", "character 2 of the snake, 'x'"),
        ("s\u017f", "character 2 of the snake"),
        ("5", "character 1 of the snake, '5', is none of the joint digits 0, 1 and 2, nor of the letters S, L and R"),
        ("-3", "run lengths with a comma"),
        ("-3,2", "run 1 of the snake (character 1) has the sign '-'"),
        ("+3,2", "run 1 of the snake (character 1) has the sign '+'"),
        ("3,0,2", "run 2 of the snake (character 3) has the length 0"),
        ("3, 1x,2", "run 2 of the snake (character 4) is '1x'"),
        ("3,,2", "run 2 of the snake (character 3) is missing"),
        ("3,2,", "run 3 of the snake (character 5) is missing"),
        (",", "run 1 of the snake (character 1) is missing"),
        ("3,1.5", "is '1.5'"),
        ("1,\u0663", "run 2 of the snake (character 3)"),
        ("3,20000", "run 2 of the snake (character 3) is too long; a snake may have up to 10000 edges"),
        ("9" * 9000 + ",", "is too long"),
        ("1" * 20000, "the snake is too long"),
        ("222", "the snake crosses itself: vertex 0 and vertex 4 are both at (0, 0)"),
        ("11000", "the snake crosses itself: vertex 2 and vertex 6 are both at (2, 0)"),
        ("3,1,1,2", "vertex 2 and vertex 6 are both at (2, 0)"),
    ],
)
def test_errors_say_what_and_where(text: str, words: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        notation.parse(text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.remedy


@given(st.text(alphabet="012SLRslr,+-35 x", max_size=12))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        digits = notation.parse(text)
    except InvalidInput:
        return
    assert notation.parse(notation.format_runs(digits)).tolist() == digits.tolist()


def test_long_snakes() -> None:
    stairs = "20" * 100
    assert notation.format_digits(notation.parse(stairs)) == stairs
    assert notation.parse("201,").size == 200
    xs, ys = notation.vertices(notation.parse("1" * 200))
    assert (xs[-1], ys[-1]) == (201, 0)
    moves = notation.neighbours(notation.parse("1" * 200), swept=True)
    assert len(moves) == 400


@given(st.lists(st.integers(0, 2), max_size=60))
def test_a_crossing_is_always_found(joints: list[int]) -> None:
    digits = np.array(joints, dtype=np.uint8)
    if longest_start(joints).size == digits.size:
        notation.check_crossing(digits)
    else:
        with pytest.raises(InvalidInput, match="crosses itself"):
            notation.check_crossing(digits)


@given(snakes)
def test_vertices_are_a_walk(digits: State) -> None:
    xs, ys = notation.vertices(digits)
    assert xs.dtype == ys.dtype == np.int64
    assert xs.size == ys.size == digits.size + 2
    assert (xs[:2].tolist(), ys[:2].tolist()) == ([0, 1], [0, 0])
    steps_x, steps_y = np.diff(xs), np.diff(ys)
    assert (np.abs(steps_x) + np.abs(steps_y) == 1).all()
    turns = steps_x[:-1] * steps_y[1:] - steps_y[:-1] * steps_x[1:]
    assert (turns == digits.astype(int) - 1).all()


def test_moves_agree_with_the_reference() -> None:
    assert len(MOVES) == 400
    for entry in MOVES:
        found = notation.neighbours(notation.parse(entry["joints"]), swept=True)
        assert [notation.format_digits(digits) for digits in found] == entry["neighbours"], entry["joints"]


@settings(deadline=None)
@given(st.lists(st.integers(0, 2), max_size=24).map(longest_start))
def test_moves(digits: State) -> None:
    before = digits.copy()
    swept, jumped = ({n.tobytes(): n for n in notation.neighbours(digits, swept)} for swept in (True, False))
    assert list(jumped) == sorted(jumped)
    assert swept.keys() <= jumped.keys()
    # Ignoring the way, exactly the snakes that do not cross themselves and differ by one quarter turn are neighbours.
    expected = set()
    for joint, digit in enumerate(digits.tolist()):
        for turned in {digit - 1, digit + 1} & {0, 1, 2}:
            other = digits.copy()
            other[joint] = turned
            if longest_start(other.tolist()).size == other.size:
                expected.add(other.tobytes())
    assert jumped.keys() == expected
    for neighbour in swept.values():
        assert before.tobytes() in {back.tobytes() for back in notation.neighbours(neighbour, swept=True)}
    assert digits.tolist() == before.tolist()


def test_a_snake_without_a_move() -> None:
    assert notation.neighbours(notation.parse("111121211111121112112210101111"), swept=True) == []
    assert notation.neighbours(notation.parse(""), swept=True) == []
