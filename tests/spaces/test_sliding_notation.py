"""Notation of sliding-tile positions, their moves, and which of them can be reached."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.spaces.contract import State
from pipeline.spaces.sliding import notation
from storage.errors import InvalidInput


@st.composite
def positions(draw: st.DrawFn) -> tuple[State, int, int]:
    """Draw a position with the rows and columns of its board."""
    rows = draw(st.integers(1, 8))
    cols = draw(st.integers(1, 16 // rows))
    return np.array(draw(st.permutations(range(rows * cols))), dtype=np.uint8), rows, cols


def root_of(rows: int, cols: int, blank: int) -> State:
    """Tiles in ascending order with the blank put in."""
    tiles = list(range(1, rows * cols))
    return np.array([*tiles[:blank], 0, *tiles[blank:]], dtype=np.uint8)


@given(positions())
def test_format_reads_back(position: tuple[State, int, int]) -> None:
    cells, rows, cols = position
    text = notation.format_board(cells, cols)
    assert "\n" not in text
    read = notation.parse(text, rows, cols)
    assert read.dtype == np.uint8
    assert read.tolist() == cells.tolist()


@given(positions(), st.lists(st.sampled_from([" ", ",", ", ", "/", "\n", "; ", "][", "-", " | ", "\t"]), min_size=15))
def test_any_separator_will_do(position: tuple[State, int, int], separators: list[str]) -> None:
    cells, rows, cols = position
    pairs = zip(cells.tolist(), separators, strict=False)
    text = "[" + "".join(f"{cell}{separator}" for cell, separator in pairs)
    if cells.size > len(separators):
        text += str(cells[-1])
    assert notation.parse(text, rows, cols).tolist() == cells.tolist()


def test_format() -> None:
    assert notation.format_board(np.array([1, 2, 3, 4, 0, 5], dtype=np.uint8), 3) == "1 2 3/4 0 5"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 2 3 4 5 6", "6 (number 6 of the position, at character 11) is not on a 2x3 board"),
        ("1 2 3 4 5 -0", "-0 (number 6 of the position, at character 11) is not on a 2x3 board"),
        ("-5 0 1 2 3 4", "-5 (number 1 of the position, at character 1)"),
        ("9" * 9000, "999999999... (number 1"),
        ("1 2 3 3 5 0", "3 is repeated (number 3 and number 4 of the position), 4 is missing"),
        ("1 2 3 4 5", "a 2x3 board takes 6 numbers, not 5, 0 is missing"),
        ("1 2 0", "3, 4 and 5 are missing"),
        ("", "takes 6 numbers, not 0, 0, 1, 2, 3 and 2 more are missing"),
        ("1 2 3 4 5 0 2", "takes 6 numbers, not 7, 2 is repeated (number 2 and number 7 of the position)"),
        ("1 2 3 4 5 x", "character 11 of the position, 'x', is neither a number nor a separator"),
        ("1 2 3 4 5 \u0660", "character 11 of the position"),
    ],
)
def test_errors_name_the_number(text: str, words: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        notation.parse(text, 2, 3)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.remedy


def test_smallest_board() -> None:
    cells = notation.parse("0", 1, 1)
    assert notation.format_board(cells, 1) == "0"
    assert notation.neighbours(cells, 1, 1) == []
    assert notation.is_reachable(cells, 1, 1, 0)
    with pytest.raises(InvalidInput, match="a 1x1 board takes 1 number, not 0"):
        notation.parse("", 1, 1)


@given(positions())
def test_moves(position: tuple[State, int, int]) -> None:
    cells, rows, cols = position
    before = cells.tolist()
    found = [neighbour.tolist() for neighbour in notation.neighbours(cells, rows, cols)]
    assert found == sorted(found)
    row, col = divmod(before.index(0), cols)
    assert len(found) == (row > 0) + (row < rows - 1) + (col > 0) + (col < cols - 1)
    for neighbour in found:
        tile = before[neighbour.index(0)]
        assert [tile if cell == 0 else 0 if cell == tile else cell for cell in neighbour] == before
        to_row, to_col = divmod(neighbour.index(0), cols)
        assert abs(to_row - row) + abs(to_col - col) == 1
    assert cells.tolist() == before


def test_order_of_moves() -> None:
    found = notation.neighbours(notation.parse("1 2 3/4 0 5/6 7 8", 3, 3), 3, 3)
    assert [notation.format_board(cells, 3) for cells in found] == [
        "1 0 3/4 2 5/6 7 8",
        "1 2 3/0 4 5/6 7 8",
        "1 2 3/4 5 0/6 7 8",
        "1 2 3/4 7 5/6 0 8",
    ]


@pytest.mark.parametrize(("rows", "cols"), [(1, 1), (1, 2), (1, 5), (5, 1), (2, 2), (2, 3), (3, 2)])
def test_reachable_is_what_moves_reach(rows: int, cols: int) -> None:
    size = rows * cols
    everything = {cells: np.array(cells, dtype=np.uint8) for cells in itertools.permutations(range(size))}
    for blank in range(size):
        root = tuple(root_of(rows, cols, blank).tolist())
        seen, waiting = {root}, [root]
        while waiting:
            for neighbour in notation.neighbours(everything[waiting.pop()], rows, cols):
                cells = tuple(neighbour.tolist())
                if cells not in seen:
                    seen.add(cells)
                    waiting.append(cells)
        reachable = {cells for cells, state in everything.items() if notation.is_reachable(state, rows, cols, blank)}
        assert reachable == seen


@given(positions(), st.data())
def test_moves_keep_what_is_reachable(position: tuple[State, int, int], data: st.DataObject) -> None:
    cells, rows, cols = position
    blank = data.draw(st.integers(0, cells.size - 1))
    assert notation.is_reachable(root_of(rows, cols, blank), rows, cols, blank)
    for neighbour in notation.neighbours(cells, rows, cols):
        assert notation.is_reachable(neighbour, rows, cols, blank) == notation.is_reachable(cells, rows, cols, blank)


def test_exchanged_tiles_are_out_of_reach() -> None:
    famous = notation.parse("1 2 3 4/5 6 7 8/9 10 11 12/13 15 14 0", 4, 4)
    assert not notation.is_reachable(famous, 4, 4, 15)


@pytest.mark.parametrize(
    ("text", "rows", "cols", "cells"),
    [
        ("123456780", 3, 3, [1, 2, 3, 4, 5, 6, 7, 8, 0]),
        (" 123456789ABCDEF0\n", 4, 4, [*range(1, 16), 0]),
        ("0fedcba987654321", 4, 4, [0, *range(15, 0, -1)]),
        ("10", 1, 2, [1, 0]),
    ],
)
def test_a_digit_for_each_cell(text, rows, cols, cells):
    assert notation.parse(text, rows, cols).tolist() == cells


@pytest.mark.parametrize("text", ["12345678", "1234567800", "123456788", "12345678g", "a2345678"])
def test_words_that_are_no_board(text):
    with pytest.raises(InvalidInput):
        notation.parse(text, 3, 3)
