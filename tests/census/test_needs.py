"""What the tasks of a census are said to take, against what they take."""

from __future__ import annotations

import tracemalloc

import pytest

from pipeline.census.bends import heights, walks_of_height
from pipeline.census.components import SMALLEST_ROOM
from pipeline.census.needs import GROWING, SHAPE_BYTES, shapes_in, task_bytes


@pytest.mark.parametrize("n", [16, 20, 22])
def test_counting_walks_takes_no_more_than_is_said(n: int) -> None:
    walks_of_height(2, 1)
    tracemalloc.start()
    try:
        for rows in heights(n)[:3]:
            walks_of_height(n, rows)
        assert tracemalloc.get_traced_memory()[1] < task_bytes("bends", n)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("n", [3, 26, 40])
def test_shapes_of_a_component(n: int) -> None:
    for memory in (0, 1 << 20, 1 << 28, 1 << 31):
        most = shapes_in(memory, n)
        assert most & (most - 1) == 0
        assert most >= SMALLEST_ROOM
        assert most == SMALLEST_ROOM or most * GROWING * (n - 1 + SHAPE_BYTES) <= memory
        assert 2 * most * GROWING * (n - 1 + SHAPE_BYTES) > memory
