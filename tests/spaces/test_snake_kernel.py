"""The expand kernel of the snake against known moves and against the slow reference."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest

from pipeline.spaces.snake.space import Snake
from storage.errors import OutOfBudget
from tests.conftest import DATA
from tests.spaces import slow_snake
from tests.spaces.expanding import expanded

MOVES = json.loads((DATA / "snake_moves.json").read_text())


def key(space: Snake, joints: str) -> int:
    """Canonical key of a shape given as text."""
    return space.key_of(np.array([int(joint) for joint in joints], dtype=np.uint8))


def bends(joints: str) -> int:
    """Number of bent joints."""
    return len(joints) - joints.count("1")


def by_length() -> dict[int, dict[str, list[str]]]:
    """Known moves by number of edges, one entry for each shape."""
    found: defaultdict[int, dict[str, list[str]]] = defaultdict(dict)
    for entry in MOVES:
        found[len(entry["joints"]) + 1][slow_snake.canonical(entry["joints"])] = entry["neighbours"]
    return dict(found)


def test_the_known_moves_are_all_there() -> None:
    assert len(MOVES) == 400
    assert {len(entry["joints"]) + 1 for entry in MOVES} <= set(range(4, 32))


@pytest.mark.parametrize("n", sorted(by_length()))
def test_known_moves(n: int) -> None:
    """Each snake by itself, and all of them in one sorted block, which is how shared heads come into play."""
    space = Snake(n=n)
    known = by_length()[n]
    everything: list[int] = []
    for joints, neighbours in known.items():
        theirs = sorted(key(space, other) for other in neighbours)
        found, _ = expanded(space, [key(space, joints)], exhaustive=True)
        assert found == theirs, joints
        everything += theirs
        more, _ = expanded(space, [key(space, joints)], exhaustive=False)
        assert more == sorted(key(space, other) for other in neighbours if bends(other) > bends(joints)), joints
    found, _ = expanded(space, [key(space, joints) for joints in known], exhaustive=True)
    assert found == sorted(everything)


@pytest.mark.parametrize("collision", ["swept", "static"])
@pytest.mark.parametrize("n", range(8))
def test_all_short_shapes(n: int, collision: str) -> None:
    space = Snake(n=n, collision=collision)
    shapes = slow_snake.shapes(n) if n > 1 else [""]
    everything: list[int] = []
    for joints in shapes:
        neighbours = slow_snake.neighbours(joints, swept=collision == "swept")
        theirs = sorted(key(space, other) for other in neighbours)
        assert expanded(space, [key(space, joints)], exhaustive=True)[0] == theirs, joints
        everything += theirs
    assert expanded(space, [key(space, joints) for joints in shapes], exhaustive=True)[0] == sorted(everything)


@pytest.mark.parametrize("collision", ["swept", "static"])
def test_moves_are_counted_for_every_image(collision: str) -> None:
    """Moves of the shape, its reflection, and both read from the tail, as far as they differ."""
    space = Snake(n=7, collision=collision)
    for joints in slow_snake.shapes(7):
        forward = backward = 0
        for image in set(slow_snake.symmetric_images(joints)):
            for other in slow_snake.neighbours(image, swept=collision == "swept"):
                forward += bends(other) > bends(image)
                backward += bends(other) < bends(image)
        _, step = expanded(space, [key(space, joints)], exhaustive=False)
        assert (step.forward, step.backward) == (forward, backward), joints


@pytest.mark.parametrize("n", [2, 5, 9, 13])
def test_moves_forward_and_back_between_levels_are_equal_in_number(n: int) -> None:
    """No shape of these lengths is stuck, so every straightening reverses a bending of the level before."""
    space = Snake(n=n)
    level = space.roots().tolist()
    counts = []
    while level:
        found, step = expanded(space, level, exhaustive=False)
        counts.append(step)
        level = sorted(set(found))
    assert len(counts) > 1
    assert counts[0].backward == 0
    assert counts[-1].forward == 0
    for before, after in pairwise(counts):
        assert before.forward == after.backward > 0


def test_a_full_buffer_ends_the_block_early() -> None:
    """Pieces of the work, put together, are the whole work."""
    space = Snake(n=9)
    shapes = np.array(sorted(key(space, joints) for joints in slow_snake.levels(9)[4]), dtype=np.uint64)
    whole, _ = expanded(space, shapes.tolist(), exhaustive=True)
    for room in (space.max_neighbours, space.max_neighbours + 1, 5 * space.max_neighbours):
        found: list[int] = []
        position = 0
        while position < shapes.size:
            out = np.zeros(room, dtype=np.uint64)
            step = space.expand(shapes[position:], out, True)
            assert step.consumed > 0
            assert step.written <= room
            position += step.consumed
            found += out[: step.written].tolist()
        assert sorted(found) == whole


def test_a_neighbour_that_does_not_fit_a_key_is_refused() -> None:
    """With 62 joints two bits are left for the turns, so three bends fit and four do not."""
    straight = "1" * 20
    space = Snake(start=f"{straight}2{straight}0{straight}2"[:62])
    assert space.joints == 62
    bent = f"{straight}2{straight}0{straight}"[:62]
    assert expanded(space, [key(space, bent)], exhaustive=True)[1].written > 0
    with pytest.raises(OutOfBudget, match="more than 3 bends"):
        expanded(space, [key(space, f"{straight}2{straight}0{'1' * 10}2{'1' * 9}")], exhaustive=True)


@pytest.mark.parametrize("joints", ["10101221121112111121211", "10101221121112111122021", "110101111011101100121211"])
def test_stuck_shapes_can_only_bend(joints: str) -> None:
    """The three shapes of at most 25 edges that cannot straighten a joint."""
    space = Snake(n=len(joints) + 1)
    found, step = expanded(space, [key(space, joints)], exhaustive=True)
    assert step.backward == 0
    assert step.forward > 0
    assert len(found) == len(slow_snake.neighbours(joints))


def test_a_shape_without_any_move() -> None:
    space = Snake(n=31)
    joints = "111121211111121112112210101111"
    assert slow_snake.neighbours(joints) == []
    assert expanded(space, [key(space, joints)], exhaustive=True) == ([], (1, 0, 0, 0))
