"""Words: ranks among all arrangements of their letters, and orbits."""

from __future__ import annotations

from itertools import permutations
from math import comb, factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.spaces.permutations import arrangements
from pipeline.spaces.permutations.space import Permutation
from storage.errors import InvalidInput, OutOfBudget
from tests.spaces import slow_permutations
from tests.spaces.expanding import expanded


@st.composite
def puzzles(draw: st.DrawFn) -> tuple[list[list[int]], str]:
    """Moves, and a word with equal letters."""
    places = draw(st.integers(2, 7))
    moves = draw(st.lists(st.permutations(range(places)), min_size=1, max_size=3))
    word = draw(
        st.lists(st.sampled_from("abcd"), min_size=places, max_size=places).filter(lambda w: len(set(w)) < len(w))
    )
    return moves, "".join(word)


def space_of(moves: list[list[int]], word: str) -> Permutation:
    return Permutation(generators=str(moves), start=word)


@given(puzzles())
@settings(max_examples=50)
def test_words_against_the_reference(puzzle: tuple[list[list[int]], str]) -> None:
    moves, word = puzzle
    space = space_of(moves, word)
    start = space.parse(word)
    reached = set().union(*slow_permutations.levels(moves, start.tolist()))
    wanted = []
    keys = []
    for letters in reached:
        state = np.array(letters, dtype=np.uint8)
        keys.append(space.key_of(state))
        assert (space.state_of(keys[-1]) == state).all()
        assert (space.parse(space.format(state)) == state).all()
        wanted += [space.key_of(state[list(images)]) for images in space.generators.images]
    assert len(set(keys)) == len(reached)
    if space.key_count is not None:
        assert max(keys) < space.key_count
    if space.size is not None:
        assert space.size == len(reached)
    if space.generators.images:
        assert expanded(space, keys, exhaustive=True)[0] == sorted(wanted)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(arrangements, "SHORT_WORD", 0)
            assert expanded(space, keys, exhaustive=True)[0] == sorted(wanted)


@pytest.mark.parametrize("word", ["aab", "abcabc", "aaaabb", "abbbbc", "zzyyxw"])
def test_ranks_number_the_words(word: str) -> None:
    space = Permutation(family="lrx", size=len(word), start=word)
    words = {"".join(letters) for letters in permutations(word)}
    assert {space.key_of(space.parse(text)) for text in words} == set(range(len(words)))
    assert space.size == space.key_count == len(words)
    assert {space.format(space.state_of(key)) for key in range(len(words))} == words


def test_letters_stay_in_their_orbit() -> None:
    # Places 0 to 2 and 3 to 5 turn on their own: three words each.
    space = Permutation(generators="a:=(1,2,3); b:=(4,5,6);", start="001122")
    assert space.size is None
    assert space.key_count == 9
    assert {space.format(space.state_of(key)) for key in range(9)} >= {"001122", "010212"}
    for call in (space.state_of, lambda key: expanded(space, [key], exhaustive=True)):
        with pytest.raises(InvalidInput, match="9 is the key of no arrangement"):
            call(9)
    with pytest.raises(InvalidInput, match="no moves lead from the start to this word"):
        space.key_of(space.parse("112200"))


@pytest.mark.parametrize(
    ("moves", "word", "size"),
    [
        # Even permutations alone: with two equal letters all words, as their exchange can be added to any.
        ("a:=(1,2,3); b:=(2,3,4);", "0012", 12),
        # The exchange of the equal letters in another orbit is not needed: the moves have it.
        ("a:=(1,2)(3,4); b:=(1,2);", "0012", 2),
        # Exchanges of both orbits at the same time only.
        ("a:=(1,2)(3,4);", "0123", 2),
        ("a:=(1,2)(3,4);", "0012", 2),
    ],
)
def test_sizes_that_are_known(moves: str, word: str, size: int) -> None:
    space = Permutation(generators=moves, start=word)
    assert space.size == size
    levels = slow_permutations.levels(space.generators.images, space.parse(word).tolist())
    assert sum(map(len, levels)) == size


def test_many_places() -> None:
    space = Permutation(family="lrx", size=200, start="0" * 197 + "111")
    assert space.key_count == comb(200, 3)
    state = space.state_of(comb(200, 3) - 1)
    assert space.key_of(state) == comb(200, 3) - 1
    wanted = sorted(space.key_of(state[list(images)]) for images in space.generators.images)
    assert expanded(space, [comb(200, 3) - 1], exhaustive=True)[0] == wanted


def test_keys_near_the_limit() -> None:
    space = Permutation(family="lrx", size=66, start="01" * 33)
    assert space.key_count == comb(66, 33) < 2**63
    for key in (0, 1, comb(66, 33) // 3, comb(66, 33) - 1):
        state = space.state_of(key)
        assert space.key_of(state) == key
        wanted = sorted(space.key_of(state[list(images)]) for images in space.generators.images)
        assert expanded(space, [key], exhaustive=True)[0] == wanted


def test_words_of_64_places() -> None:
    word = "0" * 52 + "111122223334"
    turn = [*range(1, 64), 0]
    space = Permutation(generators=str([turn]), start=word)
    count = comb(64, 52) * comb(12, 4) * comb(8, 4) * 4
    for key in (0, 1, space.key_of(space.parse(word)), count // 3, count - 1):
        state = space.state_of(key)
        assert space.key_of(state) == key
        wanted = sorted(space.key_of(state[list(images)]) for images in space.generators.images)
        assert expanded(space, [key], exhaustive=True)[0] == wanted


def test_words_that_are_too_many() -> None:
    with pytest.raises(OutOfBudget, match=f"there are {comb(68, 34)} words"):
        Permutation(family="lrx", size=68, start="01" * 34)


def test_different_letters_are_permutations() -> None:
    space = Permutation(family="lrx", size=6, start="fedcba")
    assert space.size == factorial(6)
    assert space.format(space.state_of(int(space.roots()[0]))) == "f e d c b a"
    assert [name for name, _ in space.moves(space.parse("fedcba"))] == ["R", "L", "X"]
