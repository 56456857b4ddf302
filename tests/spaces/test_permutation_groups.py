"""Groups: their order and ranks, and the two kernels that apply moves to ranks."""

from __future__ import annotations

from math import factorial
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.spaces.permutations import families, stages
from pipeline.spaces.permutations.arrangements import Permutations
from pipeline.spaces.permutations.chain import Elements, StabiliserChain, inverses_of
from pipeline.spaces.permutations.cube import face_turns
from pipeline.spaces.permutations.space import Permutation
from storage.errors import InvalidInput, OutOfBudget
from tests.spaces import slow_permutations
from tests.spaces.expanding import expanded

RUBIK_POSITIONS = 43252003274489856000
# Faces of the 3x3x3 cube in the numbering of the GAP manual.
RUBIK = """
U:=( 1, 3, 8, 6)( 2, 5, 7, 4)( 9,33,25,17)(10,34,26,18)(11,35,27,19);
L:=( 9,11,16,14)(10,13,15,12)( 1,17,41,40)( 4,20,44,37)( 6,22,46,35);
F:=(17,19,24,22)(18,21,23,20)( 6,25,43,16)( 7,28,42,13)( 8,30,41,11);
R:=(25,27,32,30)(26,29,31,28)( 3,38,43,19)( 5,36,45,21)( 8,33,48,24);
B:=(33,35,40,38)(34,37,39,36)( 3, 9,46,32)( 2,12,47,29)( 1,14,48,27);
D:=(41,43,48,46)(42,45,47,44)(14,22,30,38)(15,23,31,39)(16,24,32,40);
"""
moves_of_few_points = st.integers(1, 6).flatmap(
    lambda points: st.lists(st.permutations(range(points)), min_size=1, max_size=4)
)


def elements_of(moves: list[list[int]]) -> list[tuple[int, ...]]:
    return sorted(set().union(*slow_permutations.levels(moves, range(len(moves[0])))))


def image_lists(moves: families.Moves | list[list[int]]) -> Elements:
    return np.array(list(moves.values()) if isinstance(moves, dict) else moves, dtype=np.uint8)


@given(moves_of_few_points)
def test_ranks_number_the_group(moves: list[list[int]]) -> None:
    chain = StabiliserChain(image_lists(moves))
    elements = image_lists([list(element) for element in elements_of(moves)])
    assert chain.order == len(elements)
    assert chain.exact
    ranks = chain.ranks(elements)
    assert sorted(ranks.tolist()) == list(range(len(elements)))
    assert (chain.elements(ranks) == elements).all()
    assert chain.contain(elements).all()


@given(moves_of_few_points, st.data())
def test_what_is_not_of_the_group_has_no_rank(moves: list[list[int]], data: st.DataObject) -> None:
    chain = StabiliserChain(image_lists(moves))
    element = data.draw(st.permutations(range(len(moves[0]))))
    inside = tuple(element) in elements_of(moves)
    assert (chain.ranks(image_lists([element]))[0] >= 0) == inside == bool(chain.contain(image_lists([element]))[0])


@given(moves_of_few_points, st.randoms())
def test_ranks_depend_on_the_group_alone(moves: list[list[int]], random: Random) -> None:
    elements = elements_of(moves)
    others = [list(element) for element in elements]
    random.shuffle(others)
    ours, theirs = StabiliserChain(image_lists(moves)), StabiliserChain(image_lists(others[:40] + moves))
    block = image_lists(others)
    assert (ours.ranks(block) == theirs.ranks(block)).all()


@pytest.mark.parametrize(
    ("moves", "order"),
    [
        (families.pancake(20), factorial(20)),
        (families.top_spin(19), factorial(19) // 2),
        (families.burnt_pancake(9), 2**9 * factorial(9)),
        (families.pocket_cube(half_turns=True), 3_674_160),
        (face_turns(), 88_179_840),
        # The Mathieu group of degree 11 (Conway et al., Atlas of Finite Groups, 1985).
        ([[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0], [0, 1, 6, 9, 5, 3, 10, 2, 8, 4, 7]], 7920),
    ],
)
def test_orders(moves: families.Moves | list[list[int]], order: int) -> None:
    assert StabiliserChain(image_lists(moves)).order == order


@given(moves_of_few_points)
@settings(max_examples=50)
def test_bipartite_is_what_it_says(moves: list[list[int]]) -> None:
    closed = [list(images) for images in {*map(tuple, moves), *map(tuple, inverses_of(image_lists(moves)).tolist())}]
    start = np.arange(len(moves[0]), dtype=np.uint8)
    assert Permutations(image_lists(closed), start).bipartite == slow_permutations.is_bipartite(closed, start.tolist())


@given(moves_of_few_points, st.booleans())
@settings(max_examples=60)
def test_the_kernels_against_the_reference(moves: list[list[int]], narrow: bool) -> None:
    named = {f"m{number}": images for number, images in enumerate(map(tuple, moves))}
    if set(named.values()) == {tuple(range(len(moves[0])))}:
        return
    space = Permutation(generators=str([list(images) for images in named.values()]))
    keys = range(int(space.size or 0))
    wanted = []
    for key in keys:
        state = space.state_of(key)
        assert space.key_of(state) == key
        wanted += [space.key_of(state[list(images)]) for images in space.generators.images]
    if narrow:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(stages, "MAX_ENTRIES", 0)
            found, _ = expanded(space, keys, exhaustive=True)
    else:
        found, _ = expanded(space, keys, exhaustive=True)
    assert found == sorted(wanted)


STAGED = {
    "pancake": families.pancake(12),
    "rings": families.hungarian_rings(5, 2, 9, 3),
    "stars": families.stars(17),
    "burnt": families.burnt_pancake(13),
    "cube": face_turns(),
}


@pytest.mark.parametrize("name", STAGED)
def test_tables_and_sifting_agree(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    moves = image_lists(STAGED[name])
    start = np.arange(moves.shape[1], dtype=np.uint8)
    by_tables, by_sifting = Permutations(moves, start), Permutations(moves, start)
    keys = np.sort(np.random.default_rng(3).integers(0, by_tables.size, 500, dtype=np.uint64))
    keys[100:200] = keys[100] + np.arange(100, dtype=np.uint64)
    one, other = (np.empty(keys.size * len(moves), dtype=np.uint64) for _ in range(2))
    assert by_tables.expand(keys, one) == (keys.size, one.size)
    monkeypatch.setattr(stages, "MAX_ENTRIES", 0)
    assert by_sifting.expand(keys, other) == (keys.size, other.size)
    assert (np.sort(one) == np.sort(other)).all()
    for key in keys[::50].tolist():
        state = by_tables.states_of(np.array([key], dtype=np.uint64))[0]
        assert by_tables.key_of(state) == key
        assert all(by_tables.key_of(state[images]) in other for images in moves)


@pytest.mark.parametrize("name", STAGED)
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_tables_of_any_number_of_stages_agree(name: str, levels: int, monkeypatch: pytest.MonkeyPatch) -> None:
    moves = image_lists(STAGED[name])
    start = np.arange(moves.shape[1], dtype=np.uint8)
    whole = Permutations(moves, start)
    keys = np.sort(np.random.default_rng(4).integers(0, whole.size, 200, dtype=np.uint64))
    one, other = (np.empty(keys.size * len(moves), dtype=np.uint64) for _ in range(2))
    whole.expand(keys, one)
    monkeypatch.setattr(stages, "MAX_STAGES", 30)
    monkeypatch.setattr(stages, "LAST_ROW", 8**levels)
    monkeypatch.setattr(stages, "LAST_ENTRIES", 0)
    Permutations(moves, start).expand(keys, other)
    assert (np.sort(one) == np.sort(other)).all()


def test_little_room_for_neighbours() -> None:
    space = Permutation(family="pancake", size=6)
    keys = np.arange(720, dtype=np.uint64)
    whole, step = expanded(space, range(720), exhaustive=True)
    assert (step.consumed, step.written) == (720, 3600)
    part = np.zeros(5 * 100 + 4, dtype=np.uint64)
    assert space.expand(keys, part, True)[:2] == (100, 500)
    assert part[500:].tolist() == [0] * 4
    assert space.expand(keys, part[:4], True)[:2] == (0, 0)
    assert sorted(set(whole)) == keys.tolist()


def test_groups_that_are_too_large() -> None:
    with pytest.raises(OutOfBudget, match=f"a group of {factorial(21)} elements.*equal letters"):
        Permutation(family="lrx", size=21)
    with pytest.raises(OutOfBudget, match=r"a group of at least [0-9]{19,} elements"):
        Permutation(family="lrx", size=200)


def test_the_cube_of_three_is_refused_with_its_size(tmp_path: Path) -> None:
    file = tmp_path / "rubik.gap"
    file.write_text(RUBIK)
    with pytest.raises(OutOfBudget, match=f"a group of {RUBIK_POSITIONS} elements"):
        Permutation(file=str(file), closed=True)
    # Its corners alone, that is with equal letters on all edges: 3^7 8! positions.
    corners = (0, 2, 5, 7)
    start = ",".join(str(place + 1) if place % 8 in corners else "-" for place in range(48))
    space = Permutation(file=str(file), closed=True, start=start)
    assert space.size == space.key_count == 88_179_840
    state = space.state_of(12_345_678)
    assert space.key_of(state) == 12_345_678
    assert space.format(space.parse(space.format(state))) == space.format(state)
    neighbours = sorted(space.key_of(state[list(images)]) for images in space.generators.images)
    assert expanded(space, [12_345_678], exhaustive=True)[0] == neighbours
    with pytest.raises(InvalidInput, match="no moves lead"):
        space.key_of(np.roll(state, 1))


def test_keys_and_states_of_others_are_refused() -> None:
    space = Permutation(family="top-spin", size=7)
    even = space.state_of(0)
    odd = even.copy()
    odd[[0, 1]] = odd[[1, 0]]
    with pytest.raises(InvalidInput, match="no moves lead"):
        space.key_of(odd)
    with pytest.raises(InvalidInput, match="is the key of no arrangement"):
        space.state_of(factorial(7) // 2)
    with pytest.raises(InvalidInput, match="is the key of no arrangement"):
        expanded(space, [0, factorial(7) // 2], exhaustive=True)
    with pytest.raises(InvalidInput, match="are not those of the start"):
        space.key_of(np.zeros(7, dtype=np.uint8))
