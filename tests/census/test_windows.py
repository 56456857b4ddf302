"""The cells that block open bends, as windows show them, against the table looked up cell by cell."""

from __future__ import annotations

from random import Random

import pytest

from pipeline.census.rules import blocked_points_for, swept, table_for
from pipeline.census.stuck import _begin, _open_window, make_walk
from pipeline.census.swings import blocks
from pipeline.census.tasks import joints_of
from pipeline.census.windows import LARGE_RADIUS, SMALL_RADIUS, is_blocking, make_window


def walk_of(joints: str, n: int, radius: int):
    """A walk that has been begun, and a window at its end."""
    points = blocked_points_for(swept, n)
    walk, window = make_walk(n), make_window(radius, n)
    depth = _begin(joints_of(joints), walk, points)
    _open_window(window, walk, depth, points)
    return walk, window, depth


def cells_agree(joints: str, n: int, radius: int) -> bool:
    """Whether every open bend has the cells that the table gives it, as far as the walk can come."""
    walk, window, depth = walk_of(joints, n, radius)
    table = table_for(swept, n)
    xs, ys = walk.xs.copy(), walk.ys.copy()
    vertex = depth + 1
    for joint in walk.open_joints[depth, : walk.open_bends[depth]]:
        turn = 1 if walk.digits[joint] == 2 else 0
        for y in range(-radius, radius + 1):
            for x in range(abs(y) - radius, radius - abs(y) + 1):
                if not 0 < abs(x) + abs(y) <= n - depth:
                    continue
                xs[vertex], ys[vertex] = xs[depth] + x, ys[depth] + y
                expected = blocks(xs, ys, joint, vertex, turn, *table)
                if expected != is_blocking(window.blocking, joint, x, y, radius):
                    return False
    return True


def random_walk(random: Random, edges: int, straightness: float) -> str:
    """Joints of a self-avoiding walk that bends now and then."""
    steps = ((1, 0), (0, 1), (-1, 0), (0, -1))
    while True:
        joints, heading, x, y = "", 0, 1, 0
        visited = {(0, 0), (1, 0)}
        while len(joints) < edges - 1:
            digit = 1 if random.random() < straightness else random.choice((0, 2))
            heading = (heading + digit - 1) % 4
            x, y = x + steps[heading][0], y + steps[heading][1]
            if (x, y) in visited:
                break
            visited.add((x, y))
            joints += str(digit)
        else:
            return joints


def test_a_cell_far_from_a_bend_is_in_the_small_window() -> None:
    """From (-18, 2) to the pivot at (0, 0), back beside the walk to (-3, 1), and 15 edges are left of 39."""
    joints = "10" + "12" + "1" * 15 + "2" + "2" + "11"
    walk, window, depth = walk_of(joints, 39, SMALL_RADIUS)
    pivot = 20
    at = walk.xs - walk.xs[pivot], walk.ys - walk.ys[pivot]
    assert (at[0][0], at[1][0]) == (-18, 2)
    assert (at[0][depth], at[1][depth], depth) == (-3, 1, 24)
    assert pivot in walk.open_joints[depth, : walk.open_bends[depth]]
    assert is_blocking(window.blocking, pivot, -15, 0, SMALL_RADIUS)
    assert cells_agree(joints, 39, SMALL_RADIUS)


@pytest.mark.parametrize("n", [37, 38, 39, 40])
def test_small_windows_of_long_walks(n: int) -> None:
    random = Random(n)
    for _ in range(25):
        assert cells_agree(random_walk(random, n - SMALL_RADIUS, 0.85), n, SMALL_RADIUS)


@pytest.mark.parametrize("n", [18, 30, 40])
def test_large_windows(n: int) -> None:
    random = Random(n)
    for _ in range(3):
        assert cells_agree(random_walk(random, max(5, n - LARGE_RADIUS), 0.7), n, LARGE_RADIUS)
