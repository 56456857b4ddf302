"""The expand kernel of the sliding puzzles against the slow reference."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.spaces.sliding.space import Sliding
from tests.spaces import slow_sliding
from tests.spaces.expanding import expanded
from tests.spaces.slow_sliding import Board

MASK = 15
# As the key layout says.
BITS = {"up": 1, "down": 2, "left": 4, "right": 8}

# rows, cols, blank, deepest level that is looked at
COMPLETE = [
    (1, 1, 0, 1000),
    (1, 5, 4, 1000),
    (1, 5, 2, 1000),
    (5, 1, 0, 1000),
    (2, 2, 3, 1000),
    (2, 2, 0, 1000),
    (2, 2, 1, 1000),
    (2, 3, 5, 1000),
    (2, 3, 1, 1000),
    (3, 2, 5, 1000),
    (3, 2, 2, 1000),
    (2, 4, 7, 1000),
    (4, 2, 3, 1000),
]
PARTIAL = [
    (3, 3, 8, 13),
    (3, 3, 4, 12),
    (3, 3, 0, 12),
    (3, 3, 2, 12),
    (3, 3, 1, 12),
    (2, 5, 7, 15),
    (5, 2, 0, 15),
    (2, 8, 15, 13),
    (8, 2, 6, 13),
    (3, 4, 5, 10),
    (4, 3, 11, 11),
    (3, 5, 14, 10),
    (4, 4, 15, 11),
    (4, 4, 0, 10),
    (4, 4, 5, 9),
    (4, 4, 3, 10),
    (4, 4, 6, 9),
]
BOARDS = COMPLETE + PARTIAL


def is_symmetric(rows: int, cols: int, blank: int) -> bool:
    """Whether one of two transposed positions is stored: on 4x4 boards where transposition keeps the start."""
    return rows == cols == 4 and blank // cols == blank % cols


def key(space: Sliding, board: Board) -> int:
    """Canonical key of a position, without a mask."""
    return space.key_of(np.array(board, dtype=np.uint8))


def board_of(space: Sliding, number: int) -> Board:
    """Canonical position of a key."""
    return tuple(int(tile) for tile in space.state_of(number))


def search(space: Sliding, depth: int) -> list[dict[int, int]]:
    """Levels found by expanding without the moves that lead back: masks by bare key."""
    level = {int(root): 0 for root in space.roots()}
    found = []
    while level and len(found) <= depth:
        found.append(level)
        keys, _ = expanded(space, [bare | mask for bare, mask in level.items()], exhaustive=False)
        level = {}
        for other in keys:
            level[other & ~MASK] = level.get(other & ~MASK, 0) | (other & MASK)
    return found


@pytest.mark.parametrize(("rows", "cols", "blank", "depth"), BOARDS)
def test_levels_and_masks(rows: int, cols: int, blank: int, depth: int) -> None:
    """Masks keep all earlier levels out, and name exactly the moves that lead to the level before."""
    space = Sliding(rows=rows, cols=cols, blank=blank)
    theirs = slow_sliding.levels(rows, cols, blank, depth)
    ours = search(space, depth)
    assert len(ours) == len(theirs)
    for here, (level, boards) in enumerate(zip(ours, theirs, strict=True)):
        assert set(level) == {key(space, board) for board in boards}
        keys = np.array(sorted(bare | mask for bare, mask in level.items()), dtype=np.uint64)
        assert space.count_states(keys) == len(boards)
        if not is_symmetric(rows, cols, blank):
            assert len(level) == len(boards)
        before = theirs[here - 1] if here else frozenset()
        for bare, mask in level.items():
            moves = slow_sliding.moved(board_of(space, bare), rows, cols)
            assert mask == sum(BITS[name] for name, other in moves.items() if other in before)


@pytest.mark.parametrize(("rows", "cols", "blank", "depth"), BOARDS)
def test_all_moves(rows: int, cols: int, blank: int, depth: int) -> None:
    """With all moves asked for, the masks in the keys are ignored, and each neighbour names its way back."""
    space = Sliding(rows=rows, cols=cols, blank=blank)
    for level in search(space, min(depth, 12)):
        theirs = []
        for bare in level:
            for name, other in slow_sliding.moved(board_of(space, bare), rows, cols).items():
                theirs.append((key(space, other), name))
        keys, step = expanded(space, [bare | mask for bare, mask in level.items()], exhaustive=True)
        assert [other & ~MASK for other in keys] == sorted(bare for bare, _ in theirs)
        assert step.consumed == len(level)
        for other in keys:
            back = slow_sliding.moved(board_of(space, other & ~MASK), rows, cols)
            named = [board for name, board in back.items() if BITS[name] & other]
            assert named
            assert all(key(space, board) in level for board in named)


@pytest.mark.parametrize(("rows", "cols", "blank"), [(4, 4, 15), (4, 4, 10), (4, 4, 5), (4, 4, 0)])
def test_transposed_positions_are_stored_once(rows: int, cols: int, blank: int) -> None:
    """Twice the keys less the positions that are their own partner is the number of positions."""
    space = Sliding(rows=rows, cols=cols, blank=blank)
    goal = slow_sliding.root(rows, cols, blank)

    def transposed(board: Board) -> Board:
        renamed = {goal[cell]: goal[cell % cols * cols + cell // cols] for cell in range(rows * cols)}
        return tuple(renamed[board[cell % cols * cols + cell // cols]] for cell in range(rows * cols))

    selfsame = 0
    for boards in slow_sliding.levels(rows, cols, blank, 9):
        keys = {key(space, board) for board in boards}
        own = sum(transposed(board) == board for board in boards)
        assert all(transposed(board) in boards for board in boards)
        assert all(key(space, transposed(board)) == key(space, board) for board in boards)
        assert len(boards) == 2 * len(keys) - own
        selfsame += own
    assert selfsame > 0


@pytest.mark.parametrize(("rows", "cols", "blank"), [(3, 4, 11), (4, 4, 15), (3, 3, 8)])
def test_a_full_buffer_ends_the_block_early(rows: int, cols: int, blank: int) -> None:
    space = Sliding(rows=rows, cols=cols, blank=blank)
    level = search(space, 9)[9]
    keys = np.array(sorted(bare | mask for bare, mask in level.items()), dtype=np.uint64)
    whole, _ = expanded(space, keys.tolist(), exhaustive=False)
    for room in (4, 5, 7, 100):
        found: list[int] = []
        position = 0
        while position < keys.size:
            out = np.zeros(room, dtype=np.uint64)
            step = space.expand(keys[position:], out, False)
            assert step.consumed > 0
            position += step.consumed
            found += out[: step.written].tolist()
        assert sorted(found) == whole
