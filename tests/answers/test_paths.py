"""Shortest paths from a job and beyond it, compared with a plain search, move by move."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from pipeline import Search, Sliding, Snake
from pipeline.answers.answer import PathFinder
from pipeline.answers.hardest import hardest, hardest_states
from pipeline.answers.lookup import Lookup
from pipeline.answers.paths import ShortestPath
from pipeline.spaces.contract import Detection, State, StateSpace
from pipeline.spaces.permutations.space import Permutation
from storage.errors import InvalidInput, JobError
from storage.jobs.job import Job
from tests.engine.toys import Toy, breadth_first

MEMORY = 2**31


def searched(space: StateSpace, path: Path, **options: object) -> Job:
    search = Search(space, path, memory=MEMORY, workers=1, **options)  # type: ignore[arg-type]
    search.run()
    return Job.open(path)


def finder(space: StateSpace, job: Job) -> PathFinder:
    from pipeline.running.settings import Settings

    return PathFinder(space, job, Settings(memory=MEMORY, workers=1))


def check_path(space: StateSpace, path: ShortestPath, state: State) -> None:
    """A path begins at a root, goes from neighbour to neighbour by the moves it names, and ends at the state."""
    assert space.key_of(path.states[0]) in (space.roots() >> space.layout.mask_bits << space.layout.mask_bits).tolist()
    for before, name, after in zip(path.states, path.moves, path.states[1:], strict=False):
        found = dict(space.moves(before))
        assert np.array_equal(found[name], after)
    assert np.array_equal(path.states[-1], state)


@cache
def distances(rows: int, cols: int, blank: int) -> tuple[dict[str, int], dict[str, int]]:
    """Distance of every position, and number of shortest paths, by a plain search with positions as tuples."""
    space = Sliding(rows=rows, cols=cols, blank=blank)
    (root,) = (space.state_of(key) for key in (space.roots() >> np.uint64(4) << np.uint64(4)).tolist())
    depths, ways = {space.format(root): 0}, {space.format(root): 1}
    level = [root]
    while level:
        following = {}
        for state in level:
            here = space.format(state)
            for other in space.neighbours(state):
                name = space.format(other)
                if depths.setdefault(name, depths[here] + 1) == depths[here] + 1:
                    ways[name] = ways.get(name, 0) + ways[here]
                    following[name] = other
        level = list(following.values())
    return depths, ways


def some(states: dict[str, int], step: int) -> Iterator[tuple[str, int]]:
    yield from sorted(states.items())[::step]


def test_paths_inside_a_job(tmp_path: Path) -> None:
    space = Sliding(rows=2, cols=4)
    job = searched(space, tmp_path / "job")
    depths, ways = distances(2, 4, 7)
    answers = finder(space, job)
    for text, depth in some(depths, 211):
        state = space.parse(text)
        answer, counted = answers.find(state), answers.find(state, count=True)
        assert answer is not None
        assert counted is not None
        assert answer.path is not None
        assert (answer.length, answer.path.length, counted.length, counted.count) == (depth, depth, depth, ways[text])
        check_path(space, answer.path, state)


@pytest.mark.parametrize(("rows", "cols", "blank", "deepest"), [(2, 4, 7, 15), (3, 3, 8, 12)])
def test_paths_beyond_a_job(rows: int, cols: int, blank: int, deepest: int, tmp_path: Path) -> None:
    """Where the Manhattan distance bounds what is made from the other end."""
    space = Sliding(rows=rows, cols=cols, blank=blank)
    job = searched(space, tmp_path / "job", max_depth=deepest)
    depths, ways = distances(rows, cols, blank)
    beyond = {text: depth for text, depth in depths.items() if depth > deepest}
    answers = finder(space, job)
    for text, depth in some(beyond, len(beyond) // 5):
        state = space.parse(text)
        answer, counted = answers.find(state), answers.find(state, count=True)
        assert answer is not None
        assert counted is not None
        assert answer.path is not None
        assert (answer.length, counted.length, counted.count) == (depth, depth, ways[text])
        check_path(space, answer.path, state)
        assert answers.find(state, within=depth - 1) is None
    assert not [entry for entry in tmp_path.iterdir() if entry.name != "job"]


def test_the_diagonal_symmetry(tmp_path: Path) -> None:
    """On a 4x4 board with its blank in a corner one position of two is stored; paths lead to the one asked for."""
    space = Sliding(rows=4, cols=4, blank=0)
    job = searched(space, tmp_path / "job", max_depth=8)
    answers = finder(space, job)
    state = space.parse("0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15")
    generator = np.random.default_rng(3)
    for _ in range(13):
        moves = space.neighbours(state)
        state = moves[generator.integers(len(moves))]
    for mirrored in space.symmetries(state):
        answer = answers.find(mirrored)
        assert answer is not None
        assert answer.path is not None
        assert answer.length <= 13
        assert answer.length % 2 == 1
        check_path(space, answer.path, mirrored)


def test_the_hardest_of_the_eight_puzzle(tmp_path: Path) -> None:
    """Two positions need 31 moves, and each is the other one's mirror image."""
    space = Sliding(rows=3, cols=3)
    lookup = Lookup(space, searched(space, tmp_path / "job"))
    found = hardest(lookup)
    assert (found.depth, found.states, found.classes, found.complete) == (31, 2, 1, True)
    (state,) = hardest_states(lookup)
    assert {space.format(image) for image in space.symmetries(state)} == {"6 4 7/8 5 0/3 2 1", "8 6 7/2 5 4/3 0 1"}
    answers = finder(space, lookup.job)
    for image in space.symmetries(state):
        answer = answers.find(image)
        assert answer is not None
        assert answer.path is not None
        assert answer.path.length == 31
        check_path(space, answer.path, image)


def test_a_snake_is_folded(tmp_path: Path) -> None:
    space = Snake(n=12)
    lookup = Lookup(space, searched(space, tmp_path / "job"))
    found = hardest(lookup)
    assert (found.depth, found.states) == (11, 74)
    state = next(hardest_states(lookup))
    answer = finder(space, lookup.job).find(state)
    assert answer is not None
    assert answer.path is not None
    assert space.format(answer.path.states[0]) == "1" * 11
    check_path(space, answer.path, state)


def test_a_snake_beyond_the_job(tmp_path: Path) -> None:
    """Without a lower bound of the distance all states around are made."""
    space = Snake(n=9)
    whole = Lookup(space, searched(space, tmp_path / "whole"))
    part = searched(space, tmp_path / "part", max_depth=4)
    state = next(hardest_states(whole))
    answer = finder(space, part).find(state)
    assert answer is not None
    assert answer.path is not None
    assert answer.length == whole.deepest
    check_path(space, answer.path, state)
    assert finder(space, part).find(state, within=6) is None


def test_a_word(tmp_path: Path) -> None:
    space = Permutation(family="pancake", size=6)
    job = searched(space, tmp_path / "job")
    lookup = Lookup(space, job)
    state = next(hardest_states(lookup))
    answer = finder(space, job).find(state)
    assert answer is not None
    assert answer.path is not None
    assert answer.length == 7
    check_path(space, answer.path, state)


def directed(node: int) -> list[int]:
    return sorted({(3 * node + 1) % 101, (node * node + 2) % 101})


def test_moves_that_cannot_be_undone(tmp_path: Path) -> None:
    toy = Toy(directed, [0], 2, Detection.LEVELS, False)
    toy.undirected = False
    job = searched(toy, tmp_path / "job")
    levels = breadth_first(directed, [0])
    for depth, level in enumerate(levels):
        node = min(level)
        answer = finder(toy, job).find(toy.state_of(node))
        assert answer is not None
        assert answer.path is not None
        assert answer.length == depth
        nodes = [toy.key_of(state) for state in answer.path.states]
        assert nodes[0] == 0
        assert all(after in directed(before) for before, after in itertools.pairwise(nodes))
    part = searched(toy, tmp_path / "part", max_depth=2)
    with pytest.raises(InvalidInput, match="cannot be undone"):
        finder(toy, part).find(toy.state_of(min(levels[4])))


def test_what_cannot_be_reached(tmp_path: Path) -> None:
    toy = Toy(lambda node: [node ^ 2], [0], 1, Detection.LEVELS, True)
    job = searched(toy, tmp_path / "job")
    assert finder(toy, job).find(toy.state_of(1)) is None
    part = searched(toy, tmp_path / "part", max_depth=0)
    assert finder(toy, part).find(toy.state_of(1)) is None
    answer = finder(toy, part).find(toy.state_of(2))
    assert answer is not None
    assert answer.length == 1


def test_levels_that_were_deleted(tmp_path: Path) -> None:
    space = Sliding(rows=2, cols=3)
    job = searched(space, tmp_path / "job", keep="frontier", max_depth=12)
    with pytest.raises(JobError, match=r"depths 0 to 11 .* were deleted by --keep frontier"):
        finder(space, job).find(space.parse("1 2 3/4 5 0"))
