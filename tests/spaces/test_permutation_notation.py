"""How arrangements are written, their moves and pictures."""

from __future__ import annotations

import io
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from pipeline.spaces.permutations import drawing
from pipeline.spaces.permutations.cube import FACES, face_turns
from pipeline.spaces.permutations.notation import alphabet_of, join_letters, split_letters
from pipeline.spaces.permutations.space import Permutation
from storage.errors import InvalidInput

SVG = "{http://www.w3.org/2000/svg}"
PICTURES: list[dict[str, Any]] = [
    {"family": "pancake", "size": 5},
    {"family": "burnt-pancake", "size": 3},
    {"family": "pocket-cube"},
    {"family": "lrx", "size": 20},
    {"family": "lrx", "size": 6, "start": "001122"},
    {"family": "pancake", "size": 4, "start": "aabb"},
    {"family": "pocket-cube", "start": "uuuurrrrffffddddllllbbbb"},
]


@pytest.mark.parametrize("text", ["3 1 0 2", "3,1,0,2", "[3, 1, 0, 2]", "3102", " 3 / 1 / 0 / 2 "])
def test_permutations_are_read(text: str) -> None:
    space = Permutation(size=4)
    assert space.parse(text).tolist() == [3, 1, 0, 2]
    assert space.format(space.parse(text)) == "3 1 0 2"


def test_cycles_are_read_and_written() -> None:
    space = Permutation(size=5, notation="cycles")
    assert space.parse("(1,2,3)(4,5)").tolist() == [1, 2, 0, 4, 3]
    assert space.format(space.parse("1 2 0 4 3")) == "(1,2,3)(4,5)"
    assert space.format(space.parse("()")) == "()"
    assert space.parse("(1 2 3)").tolist() == [1, 2, 0, 3, 4]
    assert space.draw_text(space.parse("()")).count("\n") == 4
    other = Permutation(family="lrx", size=3, start="cab", notation="cycles")
    assert other.format(other.parse("abc")) == "(1,2,3)"
    assert other.parse("(1,2,3)").tolist() == other.parse("abc").tolist()
    assert "notation" not in other.parameters.model_dump()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1 2", "'0 1 2' has 3 letters; there are 4 places"),
        ("0 1 2 4", r"'4' \(place 4\) is not a letter"),
        ("0 1 2 2", "the letter 2 occurs 2 times"),
        ("", "has 0 letters"),
        ("(1,2)(2,3)", "the point 2 occurs twice"),
        ("(1,5)", "5 is not a point from 1 to 4"),
        ("(1,x)", "is no permutation in cycles"),
        ("9" * 1000, "'9' .place 1. is not a letter"),
        ("9" * 1000 + " 1", r"'9{60}\.\.\.'"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Permutation(size=4).parse(text)


def test_letters() -> None:
    assert alphabet_of(["b", "10", "9", "a", "9"]) == ["9", "10", "a", "b"]
    assert join_letters(["10", "9"]) == "10 9"
    assert join_letters(["a", "b"]) == "ab"


@given(st.lists(st.text("abc012", min_size=1, max_size=2), min_size=2, max_size=6))
def test_words_are_read_as_they_were_written(letters: list[str]) -> None:
    assert split_letters(join_letters(letters)) == letters


def test_moves_have_names() -> None:
    stack = Permutation(size=4)
    assert [(name, stack.format(state)) for name, state in stack.moves(stack.parse("0123"))] == [
        ("R2", "1 0 2 3"),
        ("R3", "2 1 0 3"),
        ("R4", "3 2 1 0"),
    ]
    word = Permutation(family="lrx", size=4, start="0011")
    state = word.parse("0101")
    # Rotations either way make the same word.
    assert [name for name, _ in word.moves(state)] == ["X", "L = R"]
    assert [word.format(neighbour) for neighbour in word.neighbours(state)] == ["1001", "1010"]


def test_turns_of_the_cube() -> None:
    turns = face_turns()
    assert list(turns) == list(FACES)
    for face, images in turns.items():
        once = np.array(images)
        moved = {place for place in range(24) if images[place] != place}
        assert len(moved) == 12
        assert set(range(4 * FACES.index(face), 4 * FACES.index(face) + 4)) <= moved
        assert (once[once[once[once]]] == np.arange(24)).all()
        # Seen from outside, the sticker in the upper left corner goes to the upper right one.
        first = 4 * FACES.index(face)
        assert images[first + 1] == first
    # Turning the right face brings stickers of the front up, and of the upper face to the back.
    assert [turns["R"][place] // 4 for place in (1, 3)] == [FACES.index("F")] * 2
    assert [turns["R"][place] // 4 for place in (20, 22)] == [FACES.index("U")] * 2
    assert [turns["U"][place] // 4 for place in (8, 9)] == [FACES.index("R")] * 2


def test_text_of_a_stack() -> None:
    assert Permutation(size=3).draw_text(np.array([1, 2, 0], dtype=np.uint8)) == " ▬▬▬\n▬▬▬▬▬\n  ▬"
    burnt = Permutation(family="burnt-pancake", size=2)
    assert burnt.draw_text(burnt.parse("0 1 2 3")) == " ▄\n▄▄▄"
    assert burnt.draw_text(burnt.parse("3 2 1 0")) == "▀▀▀\n ▀"


def test_text_of_the_cube() -> None:
    cube = Permutation(family="pocket-cube")
    net = cube.draw_text(cube.state_of(0)).splitlines()
    assert net == ["     U U", "     U U", "L L  F F  R R  B B", "L L  F F  R R  B B", "     D D", "     D D"]


@pytest.mark.parametrize("parameters", PICTURES)
def test_pictures(parameters: dict[str, Any]) -> None:
    space = Permutation(**parameters)
    state = space.state_of(int(space.roots()[0]))
    svg = ElementTree.fromstring(space.draw_svg(state))
    width, height = int(svg.attrib["width"]), int(svg.attrib["height"])
    boxes = svg.findall(f"{SVG}g[@class='tokens']/{SVG}rect")
    labels = [text.text for text in svg.findall(f"{SVG}g[@class='letters']/{SVG}text")]
    assert len(boxes) >= len(labels) == (3 if parameters["family"] == "burnt-pancake" else len(state))
    for box in boxes:
        left, top, wide, high = (float(box.attrib[name]) for name in ("x", "y", "width", "height"))
        assert 0 < left < left + wide < width
        assert 0 < top < top + high < height
    title = svg.find(f"{SVG}title")
    assert title is not None
    assert title.text == f"Arrangement {space.format(state)}"
    image = Image.open(io.BytesIO(space.draw_png(state))).convert("RGB")
    assert image.size == (width, height)
    first = boxes[0]
    x, y = (float(first.attrib[name]) + 3 for name in ("x", "y"))
    colour = image.getpixel((int(x), int(y)))
    assert isinstance(colour, tuple)
    wanted = bytes.fromhex(first.attrib["fill"][1:])
    if float(first.attrib["height"]) > drawing.GAP:
        assert all(abs(part - whole) < 48 for part, whole in zip(colour, wanted, strict=True))
    assert space.draw_text(state)
