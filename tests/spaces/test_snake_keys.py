"""Keys of snake shapes: one for each class of equal shapes, and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.spaces.snake.keys import digits_of, key_of, turn_bits
from pipeline.spaces.snake.space import Snake
from storage.errors import InvalidInput
from tests.spaces import slow_snake

# Keys know nothing of crossings.
snakes = st.text(alphabet="012", max_size=32)
long_snakes = st.integers(33, 63).flatmap(
    lambda joints: st.dictionaries(
        st.integers(0, joints - 1), st.sampled_from("02"), max_size=turn_bits(joints) + 1
    ).map(lambda bent: "".join(bent.get(joint, "1") for joint in range(joints)))
)


def key(joints: str) -> int:
    """Key of a shape given as text."""
    return key_of(np.array([int(joint) for joint in joints], dtype=np.uint8))


def text(digits: np.ndarray) -> str:
    """Shape as text."""
    return "".join(str(digit) for digit in digits)


@given(snakes | long_snakes)
def test_round_trip(joints: str) -> None:
    number = key(joints)
    assert 0 <= number < 2**64
    back = digits_of(number, len(joints))
    assert back.dtype == np.uint8
    assert text(back) in slow_snake.symmetric_images(joints)
    assert key(text(back)) == number


@given(snakes | long_snakes)
def test_equal_shapes_have_one_key(joints: str) -> None:
    assert len({key(image) for image in slow_snake.symmetric_images(joints)}) == 1


@given(st.integers(0, 20).flatmap(lambda size: st.tuples(*[st.text("012", min_size=size, max_size=size)] * 2)))
def test_different_shapes_have_different_keys(pair: tuple[str, str]) -> None:
    one, other = pair
    assert (key(one) == key(other)) == (slow_snake.canonical(one) == slow_snake.canonical(other))


def test_all_shapes_of_eight_edges_have_different_keys() -> None:
    shapes = slow_snake.shapes(8)
    assert len({key(joints) for joints in shapes}) == len(shapes) == 388


def test_every_shape_of_33_edges_fits() -> None:
    """The longest snake that can start straight; one edge more and the tightest shapes do not fit."""
    for joints in ("02" * 16, "0" + "2" * 31, "2" * 32, "0022" * 8):
        assert text(digits_of(key(joints), 32)) in slow_snake.symmetric_images(joints)
    with pytest.raises(InvalidInput, match="33 joints and 33 bends does not fit"):
        key("02" * 16 + "0")


def test_a_shape_of_another_length_is_refused() -> None:
    space = Snake(n=5)
    with pytest.raises(InvalidInput, match="3 edges, not 5"):
        space.key_of(space.parse("12"))


@given(snakes.filter(lambda joints: not slow_snake.crosses_itself(joints)))
def test_the_space_uses_these_keys(joints: str) -> None:
    space = Snake(n=len(joints) + 1)
    state = space.parse(joints)
    assert space.key_of(state) == key(joints)
    assert space.format(space.state_of(key(joints))) in slow_snake.symmetric_images(joints)
