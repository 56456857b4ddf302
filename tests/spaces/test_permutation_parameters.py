"""Moves from files and parameters, what is recorded of them, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.spaces.permutations.files import MAX_BYTES, images_of, read_cycles, read_moves, write_cycles, write_moves
from pipeline.spaces.permutations.generators import Generators, inverse, product
from pipeline.spaces.permutations.space import Permutation
from storage.errors import InvalidInput

TURN = {"U": [1, 2, 3, 0], "V": [1, 0, 2, 3]}


def test_json_and_gap_say_the_same(tmp_path: Path) -> None:
    texts = {
        "object.json": json.dumps({"generators": TURN}),
        "bare.json": json.dumps(TURN),
        "turn.gap": "# a comment; with a semicolon\nU := (1,2,3,4);\nV:=(1, 2)\n(3)(4);\n",
        "inverse.gap": "U:=(1,2,3,4); V:=(1,2);",
    }
    dumps = []
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        space = Permutation(file=str(tmp_path / name))
        assert dict(zip(space.generators.names, map(list, space.generators.images), strict=True)) == TURN
        dumps.append(space.parameters.model_dump())
    assert all(dump == dumps[0] for dump in dumps)
    again = Permutation(**dumps[0])
    assert again.parameters == Permutation(file=str(tmp_path / "bare.json")).parameters
    assert "file" not in dumps[0]


def test_the_start_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "word.json"
    file.write_text(json.dumps({"generators": [[1, 2, 3, 0]], "start": "0011"}))
    space = Permutation(file=str(file))
    assert space.generators.names == ("g0",)
    assert space.parameters.start == "0011"
    file.write_text(json.dumps({"generators": [[1, 2, 3, 0]], "start": [10, 10, 7, 7]}))
    assert Permutation(file=str(file)).parameters.start == "10 10 7 7"
    assert Permutation(file=str(file), start="1100").parameters.start == "1100"


def test_what_the_file_says_is_what_counts(tmp_path: Path) -> None:
    file = tmp_path / "moves.gap"
    file.write_text("U:=(1,2,3);")
    first = Permutation(file=str(file)).parameters.model_dump()
    file.write_text("U:=(1,3,2);")
    assert Permutation(file=str(file)).parameters.model_dump() != first
    file.unlink()
    assert Permutation(**first).generators.images == ((1, 2, 0),)


@given(st.dictionaries(st.text(min_size=1, max_size=3), st.permutations(range(6)).map(tuple), min_size=1, max_size=4))
def test_moves_are_read_as_they_were_written(moves: dict[str, tuple[int, ...]]) -> None:
    assert read_moves(write_moves(moves)).moves == moves


@given(st.permutations(range(9)).map(tuple))
def test_cycles_are_read_as_they_were_written(images: tuple[int, ...]) -> None:
    assert read_cycles(write_cycles(images), 9) == images
    assert images_of([[1, 2, 3]], 4) == (1, 2, 0, 3)
    assert product(images, inverse(images)) == tuple(range(9))


def test_inverses_and_powers() -> None:
    turn = {"U": (1, 2, 3, 4, 0)}
    assert Generators.of(turn).names == ("U",)
    assert not Generators.of(turn).closed
    assert Generators.of(turn, closed=True).names == ("U", "U'")
    powers = Generators.of(turn, powers=True)
    assert powers.names == ("U", "U2", "U3", "U'")
    assert powers.closed
    assert powers.images[1] == product(turn["U"], turn["U"])
    assert powers.images[3] == inverse(turn["U"])
    assert Generators.of({"X": (1, 0, 2)}, closed=True, powers=True).names == ("X",)
    assert Generators.of({"A": (1, 0), "B": (1, 0), "I": (0, 1)}).names == ("A",)
    half = Permutation(family="pocket-cube", powers=True)
    assert sorted(half.generators.images) == sorted(Permutation(family="pocket-cube", metric="half").generators.images)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there are no moves"),
        ("{}", "there are no moves"),
        ("[]", "there are no moves"),
        ("{", "no valid JSON"),
        ("[" * 100_000, "no valid JSON"),
        ('{"U": [0, 2, 1], "V": [1, 0]}', "move V acts on 2 places, another one on 3"),
        ('{"U": [0, 2, 2]}', "move U is no permutation: 2 occurs twice"),
        ('{"U": [1, 2, 3]}', r"move U: 3 \(place 2\) is not one of the places 0 to 2"),
        ('{"U": [1, -1]}', r"move U: -1 \(place 1\)"),
        ('{"U": [true, false]}', "move U is not a list of numbers"),
        ('{"U": "10"}', "move U is not a list of numbers"),
        ('{"U": [[1, 0]]}', "move U is not a list of numbers"),
        ('{"generators": 3}', "neither an object nor a list"),
        ('{"generators": [[1, 0]], "begin": [0, 1]}', "'begin' is neither"),
        ('{"generators": [[1, 0]], "start": 5}', "the start is neither text nor a list"),
        ('{"generators": [[1, 0]], "start": "0123"}', "the start has 4 letters; the moves act on 2 places"),
        ("[[]]", "the moves act on 0 places"),
        (json.dumps([list(range(251))]), "the moves act on 251 places; 1 to 250"),
        ("U:=(1,2);\nV:=1,2;", "line 2 is no permutation in cycles"),
        ("U:=(1,2);\n\nU:=(1,3);", "line 3 defines U again"),
        ("U:=(1,2)(2,3);", "line 1: the point 2 occurs twice"),
        ("U:=(0,1);", "line 1: 0 is not a point"),
        ("U:=(1,251);", "line 1: 251 is not a point"),
        ("U:=(1,99999999999);", "line 1: 99999999999 is not a point"),
        ("U:=(1,2", "line 1 is no permutation"),
    ],
)
def test_what_files_are_refused(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "moves"
    file.write_text(text)
    with pytest.raises(InvalidInput, match=message) as caught:
        Permutation(file=str(file))
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no such file"):
        Permutation(file=str(tmp_path / "nothing"))
    with pytest.raises(InvalidInput, match="is a directory"):
        Permutation(file=str(tmp_path))
    (tmp_path / "bytes").write_bytes(b"U:=\xff")
    with pytest.raises(InvalidInput, match="byte 4 is not UTF-8"):
        Permutation(file=str(tmp_path / "bytes"))
    with open(tmp_path / "large", "wb") as large:
        large.truncate(MAX_BYTES + 1)
    with pytest.raises(InvalidInput, match="is larger than 4 MiB"):
        Permutation(file=str(tmp_path / "large"))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"family": "pancakes"}, "parameter family is 'pancakes'"),
        ({"family": "pancake", "size": 1}, "size is 1; the family pancake begins at 2"),
        ({"family": "top-spin", "size": 3}, "begins at 4"),
        ({"size": 0}, "parameter size is 0"),
        ({"size": "many"}, "parameter size is 'many'"),
        ({"family": "burnt-pancake", "size": 130}, "burnt pancakes go up to 125"),
        ({"family": "pocket-cube", "size": 2}, "the family pocket-cube cannot have the parameter size"),
        ({"metric": "half"}, "the family pancake cannot have the parameter metric"),
        ({"family": "pocket-cube", "metric": "third"}, "parameter metric is 'third'"),
        ({"family": "hungarian-rings"}, "rings is ''"),
        ({"family": "hungarian-rings", "rings": "1,2,3"}, "rings is '1,2,3'"),
        ({"family": "hungarian-rings", "rings": "3,3,6,2"}, "the gap of the left ring, 3, is not 1 to 2"),
        ({"family": "hungarian-rings", "rings": "200,3,200,2"}, "more than 250 tokens"),
        ({"generators": "[[1,0]]", "family": "lrx"}, "moves of one's own cannot have the parameter family"),
        ({"generators": "[[1,0]]", "file": "x"}, "the moves are given twice"),
        ({"start": "0011"}, "the start has 4 letters; the moves act on 8 places"),
        ({"size": 4, "start": "0011", "notation": "cycles"}, "a word with equal letters cannot be written in cycles"),
        ({"size": 4, "start": "0\x1b23"}, r"the start has '\\x1b' at place 2"),
        ({"generators": '{"\\u001b": [1, 0]}'}, r"'\\x1b' cannot be the name of a move"),
        ({"closed": "perhaps"}, "parameter closed is 'perhaps'"),
        ({"sizes": 3}, "there is no parameter 'sizes'"),
    ],
)
def test_what_parameters_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        Permutation(**parameters)
    assert "\n" not in str(caught.value)


def test_names_of_jobs() -> None:
    assert Permutation().short_name() == "pancake-8"
    assert Permutation(family="lrx", size="9").short_name() == "lrx-9"
    assert Permutation(family="hungarian-rings", rings="[3, 1, 6, 2]").short_name() == "hungarian-rings-3,1,6,2"
    assert Permutation(family="pocket-cube").short_name() == "pocket-cube-quarter"
    words = {Permutation(family="lrx", size=4, start=word).short_name() for word in ("0011", "0101", "0111")}
    assert len(words) == 3
    assert all(word.startswith("lrx-4-") for word in words)
    own = Permutation(generators="U:=(1,2,3);", closed="true").short_name()
    assert own.startswith("permutations-closed-")


def test_moves_that_do_nothing() -> None:
    space = Permutation(generators="U:=();V:=(1);")
    assert space.size == 1
    assert space.moves(space.parse("0")) == []
    assert space.roots().tolist() == [0]
