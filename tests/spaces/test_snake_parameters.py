"""Parameters of the snake: lengths, collision rules, and given starts."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.spaces.snake.space import Snake
from storage.errors import InvalidInput
from tests.spaces import slow_snake

LONG_START = "11112121111112111211111122111110101111"


@pytest.mark.parametrize("n", [0, 1, 33])
def test_lengths_from_the_straight_snake(n: int) -> None:
    space = Snake(n=n)
    assert space.roots().tolist() == [0]
    assert space.format(space.state_of(0)) == "1" * max(n - 1, 0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n": -1}, "n is -1"),
        ({"n": 34}, "n from 0 to 33"),
        ({"n": 65}, "n is 65"),
        ({"n": "many"}, "n is 'many'"),
        ({"n": 2.5}, "n is 2.5"),
        ({"n": 5, "collision": "soft"}, "collision is 'soft'"),
        ({"n": 5, "length": 6}, "no parameter 'length'"),
        ({"start": "222"}, "crosses itself"),
        ({"start": "1x1"}, "character 2"),
        ({"start": "121", "n": 7}, "the start has 4 edges"),
        ({"start": "1" * 64}, "the start has 65 edges"),
        ({"start": "1" * 50 + "0202020202020"}, "does not fit"),
        ({"start": "02" * 16 + "1" * 31}, "does not fit"),
    ],
)
def test_what_is_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        Snake(**parameters)
    assert "\n" not in str(caught.value)


def test_starts_that_are_equal_make_equal_spaces() -> None:
    texts = {Snake(start=image).parameters.start for image in slow_snake.symmetric_images("1121101")}
    assert len(texts) == 1
    assert Snake(start="1121101").parameters.n == 8
    assert Snake(start="1121101").roots().tolist() == Snake(start="SSLSSRS").roots().tolist()


@pytest.mark.parametrize("edges", [34, 39, 64])
def test_starts_may_be_longer_than_searches_from_the_straight_snake(edges: int) -> None:
    space = Snake(start="1" * (edges - 2) + "2")
    assert space.joints == edges - 1
    assert space.format(space.state_of(int(space.roots()[0]))) in slow_snake.symmetric_images("1" * (edges - 2) + "2")


def test_reference_counts(snake_counts: dict[str, Any]) -> None:
    for n in range(24):
        reference = Snake(n=n).reference()
        assert reference is not None
        assert reference.total == snake_counts["A037245"][n]
        depths = snake_counts["depth_counts"].get(str(n))
        assert (list(reference.states) if reference.states else None) == depths
    assert Snake(start=LONG_START).reference() is None
    static = Snake(n=12, collision="static").reference()
    assert static is not None
    assert static.total == snake_counts["A037245"][12]
    assert static.states is None
