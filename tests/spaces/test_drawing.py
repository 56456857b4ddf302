"""Pictures of both puzzles."""

from __future__ import annotations

import io
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from pipeline.spaces.contract import State
from pipeline.spaces.sliding import drawing as sliding_drawing
from pipeline.spaces.sliding.notation import parse as parse_board
from pipeline.spaces.snake import drawing as snake_drawing
from pipeline.spaces.snake.notation import parse as parse_snake
from pipeline.spaces.snake.notation import vertices

SVG = "{http://www.w3.org/2000/svg}"
SNAKES = ["", "1", "0", "1120", "112011", "2112011221", "10101221121112111121211", "1" * 200, "20" * 100]
BOARDS = [("0", 1, 1), ("1 0 2", 1, 3), ("1/0/2", 3, 1), ("1 2 3/4 0 5", 2, 3), (" ".join(map(str, range(16))), 4, 4)]

Color = tuple[int, ...]


def open_png(data: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(data))
    assert image.format == "PNG"
    return image.convert("RGB")


def color_at(image: Image.Image, x: float, y: float) -> Color:
    color = image.getpixel((int(x), int(y)))
    assert isinstance(color, tuple)
    return color


def near(color: Color, name: str) -> bool:
    """Whether a colour is ``#rrggbb`` but for some blending at an edge."""
    return all(abs(part - wanted) < 48 for part, wanted in zip(color, bytes.fromhex(name[1:]), strict=True))


def without_crossing(joints: list[int]) -> State:
    """As many of the joints as do not make the snake cross itself."""
    xs, ys = vertices(np.array(joints, dtype=np.uint8))
    points = list(zip(xs.tolist(), ys.tolist(), strict=True))
    while len(set(points)) < len(points):
        points.pop()
    return np.array(joints[: len(points) - 2], dtype=np.uint8)


def test_snake_text() -> None:
    assert snake_drawing.draw_text(parse_snake("")) == "●─╴"
    assert snake_drawing.draw_text(parse_snake("112011")) == "      ╭─────╴\n●─────╯"
    assert snake_drawing.draw_text(parse_snake("2,1,1,-2")) == "  ╷\n  │\n  ╰─╮\n●───╯"
    assert snake_drawing.draw_text(parse_snake("1,-1,-2,-2")) == "╷\n│ ●─╮\n╰───╯"


@given(st.lists(st.integers(0, 2), max_size=40).map(without_crossing))
def test_snake_text_follows_the_vertices(digits: State) -> None:
    lines = snake_drawing.draw_text(digits).split("\n")
    # Each character by the neighbours that it is joined to: the walk along them is the snake.
    joins = {"─": "EW", "│": "NS", "╰": "NE", "╯": "NW", "╭": "ES", "╮": "SW", "╶": "E", "╴": "W", "╵": "N", "╷": "S"}
    steps = {"N": (0, -1), "S": (0, 1), "E": (1, 0), "W": (-1, 0)}
    pieces = {(x, y): piece for y, line in enumerate(lines) for x, piece in enumerate(line) if piece != " "}
    ((head_x, head_y),) = (place for place, piece in pieces.items() if piece == "●")
    xs, ys = vertices(digits)
    x, y = head_x + 1, head_y
    came_from = "W"
    for vertex in range(1, digits.size + 2):
        if x % 2:
            # The middle of a horizontal edge.
            assert pieces[x, y] == "─"
            x += 1 if came_from == "W" else -1
        assert ((x - head_x) // 2, head_y - y) == (xs[vertex], ys[vertex])
        (onward,) = set(joins[pieces[x, y]]) - {came_from} or {""}
        assert bool(onward) == (vertex <= digits.size)
        if onward:
            x, y = x + steps[onward][0], y + steps[onward][1]
            came_from = {"N": "S", "S": "N", "E": "W", "W": "E"}[onward]
    assert all(line == line.rstrip() for line in lines)


@pytest.mark.parametrize("text", SNAKES)
def test_snake_svg(text: str) -> None:
    digits = parse_snake(text)
    svg = ElementTree.fromstring(snake_drawing.draw_svg(digits))
    assert svg.tag == f"{SVG}svg"
    body = svg.find(f"{SVG}polyline")
    assert body is not None
    assert body.get("stroke-linecap") == "round"
    points = np.array([point.split(",") for point in body.get("points", "").split()], dtype=float)
    xs, ys = vertices(digits)
    assert len(points) == len(xs)
    unit = np.abs(points[1] - points[0]).sum()
    assert unit > 1
    np.testing.assert_allclose((points[:, 0] - points[0, 0]) / unit, xs, atol=0.01)
    np.testing.assert_allclose((points[0, 1] - points[:, 1]) / unit, ys, atol=0.01)
    size = [float(svg.get(side, "0")) for side in ("width", "height")]
    assert (points > 0).all()
    assert (points < size).all()
    head = svg.find(f"{SVG}circle[@class='head']")
    assert head is not None
    assert [float(head.get(name, "nan")) for name in ("cx", "cy")] == points[0].tolist()
    assert svg.find(f"{SVG}g[@class='dots']") is not None or unit < snake_drawing.SMALLEST_UNIT_WITH_DOTS
    plain = ElementTree.fromstring(snake_drawing.draw_svg(digits, dots=False))
    assert plain.find(f"{SVG}g[@class='dots']") is None


@pytest.mark.parametrize("text", SNAKES)
def test_snake_png(text: str) -> None:
    digits = parse_snake(text)
    layout = snake_drawing.layout_of(digits)
    image = open_png(snake_drawing.draw_png(digits))
    assert image.size == (round(layout.width), round(layout.height))
    assert max(image.size) <= snake_drawing.LARGEST_SIDE
    for x, y in layout.points[1:]:
        assert near(color_at(image, x, y), snake_drawing.BODY)
    for (x, y), (next_x, next_y) in zip(layout.points[1:], layout.points[2:], strict=False):
        assert near(color_at(image, (x + next_x) / 2, (y + next_y) / 2), snake_drawing.BODY)
    assert near(color_at(image, 0, 0), snake_drawing.PAPER)


def test_pictures_of_very_long_snakes_stay_small() -> None:
    digits = parse_snake("5000,5000")
    image = open_png(snake_drawing.draw_png(digits))
    assert max(image.size) <= snake_drawing.LARGEST_SIDE
    assert len(snake_drawing.draw_svg(digits)) < 200_000


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 2), max_size=40).map(without_crossing))
def test_pictures_are_the_same_every_time(digits: State) -> None:
    assert snake_drawing.draw_svg(digits) == snake_drawing.draw_svg(digits)
    assert snake_drawing.draw_png(digits) == snake_drawing.draw_png(digits)


def test_board_text() -> None:
    assert sliding_drawing.draw_text(parse_board("1 2 3/4 0 5", 2, 3), 3) == (
        "╭───┬───┬───╮\n│ 1 │ 2 │ 3 │\n├───┼───┼───┤\n│ 4 │   │ 5 │\n╰───┴───┴───╯"
    )
    assert sliding_drawing.draw_text(parse_board("0", 1, 1), 1) == "╭───╮\n│   │\n╰───╯"
    lines = sliding_drawing.draw_text(parse_board(" ".join(map(str, range(16))), 4, 4), 4).split("\n")
    assert lines[1] == "│    │  1 │  2 │  3 │"
    assert lines[5] == "│  8 │  9 │ 10 │ 11 │"


@pytest.mark.parametrize(("text", "rows", "cols"), BOARDS)
def test_board_pictures(text: str, rows: int, cols: int) -> None:
    cells = parse_board(text, rows, cols)
    svg = ElementTree.fromstring(sliding_drawing.draw_svg(cells, cols))
    image = open_png(sliding_drawing.draw_png(cells, cols))
    assert image.size == (int(svg.get("width", "0")), int(svg.get("height", "0")))
    squares = svg.findall(f"{SVG}g[@class='tiles']/{SVG}rect")
    numbers = [element.text for element in svg.findall(f"{SVG}g[@class='numbers']/{SVG}text")]
    assert numbers == [str(cell) for cell in cells.tolist() if cell]
    assert len(squares) == len(numbers)
    pitch = sliding_drawing.CELL + sliding_drawing.GAP
    for place, cell in enumerate(cells.tolist()):
        row, col = divmod(place, cols)
        left, top = sliding_drawing.BORDER + col * pitch, sliding_drawing.BORDER + row * pitch
        box = (left, top, left + sliding_drawing.CELL, top + sliding_drawing.CELL)
        tile = image.crop(box)
        assert near(color_at(tile, 6, 24), sliding_drawing.TILE if cell else sliding_drawing.FRAME)
        colors = [color for _, color in tile.getcolors(maxcolors=1 << 16) or []]
        assert bool(cell) == any(isinstance(color, tuple) and near(color, sliding_drawing.NUMBER) for color in colors)
        assert bool(cell) == any((square.get("x"), square.get("y")) == (str(left), str(top)) for square in squares)
