"""Pictures of an arrangement: characters, SVG and PNG.

Pancakes are a stack, the pocket cube a net of its faces; anything else is a row of tokens, whose colours go round the
circle in the order of the letters.
"""

from __future__ import annotations

import colorsys
import io
from typing import NamedTuple
from xml.etree import ElementTree

from PIL import Image, ImageDraw, ImageFont

from pipeline.spaces.permutations.cube import FACES

CELL, GAP, BORDER = 36, 4, 8
RADIUS = 5
NUMBER_SIZE = 15
OVERSAMPLING = 3
TOKENS_A_ROW = 16
PANCAKE_HEIGHT, PANCAKE_STEP = 20, 10
BATTER, BURNT, INK, PLATE = "#e8b86b", "#6b4423", "#2b2118", "#fbf6ec"
FACE_COLOURS = {"U": "#f4f4f0", "R": "#c8322b", "F": "#2e9e4f", "D": "#f2d33c", "L": "#ef8a2b", "B": "#2f62c4"}
# Row and column of each face in the net.
NET = {"U": (0, 1), "L": (1, 0), "F": (1, 1), "R": (1, 2), "B": (1, 3), "D": (2, 1)}
STICKERS = 24


class Shape(NamedTuple):
    """A rectangle with rounded corners, and what is written on it; lengths in pixels."""

    left: float
    top: float
    width: float
    height: float
    colour: str
    label: str


class Picture(NamedTuple):
    """What is drawn, and the size of the whole."""

    width: int
    height: int
    shapes: list[Shape]


def layout_of(family: str | None, letters: list[str], numbers: list[int]) -> Picture:
    """Shapes of an arrangement.

    Parameters
    ----------
    family : str or None
    letters : list of str
        At each place.
    numbers : list of int
        Their places in the alphabet.
    """
    if family == "pancake":
        return _stack([(number + 1, letter, None) for number, letter in zip(numbers, letters, strict=True)])
    if family == "burnt-pancake" and len(set(numbers)) == len(numbers):
        size = len(numbers) // 2
        return _stack([(number % size + 1, str(number % size), number >= size) for number in numbers[:size]])
    if family == "pocket-cube":
        return _net(letters, numbers)
    return _tokens(letters, numbers)


def _stack(pancakes: list[tuple[int, str, bool | None]]) -> Picture:
    """Pancakes from the top: size, label, and whether the burnt side is up (None without one)."""
    widest = CELL + PANCAKE_STEP * 2 * max(size for size, _, _ in pancakes)
    shapes = []
    top = float(BORDER)
    for size, label, burnt_up in pancakes:
        width = CELL + PANCAKE_STEP * 2 * size
        left = BORDER + (widest - width) / 2
        shapes.append(Shape(left, top, width, PANCAKE_HEIGHT, BATTER, label))
        if burnt_up is not None:
            edge = top if burnt_up else top + PANCAKE_HEIGHT - GAP
            shapes.append(Shape(left, edge, width, GAP, BURNT, ""))
        top += PANCAKE_HEIGHT + GAP / 2
    return Picture(widest + 2 * BORDER, int(top) + BORDER, shapes)


def _net(letters: list[str], numbers: list[int]) -> Picture:
    pitch = CELL + GAP
    shapes = []
    for place, (letter, number) in enumerate(zip(letters, numbers, strict=True)):
        row, col = NET[FACES[place // 4]]
        left = BORDER + (2 * col + place % 2) * pitch + GAP * col
        top = BORDER + (2 * row + place % 4 // 2) * pitch + GAP * row
        whole = len(set(numbers)) == STICKERS
        colour = FACE_COLOURS[FACES[number // 4]] if whole else _hue(number, len(set(numbers)))
        shapes.append(Shape(left, top, CELL, CELL, colour, letter))
    return Picture(2 * BORDER + 8 * pitch + 2 * GAP, 2 * BORDER + 6 * pitch + GAP, shapes)


def _tokens(letters: list[str], numbers: list[int]) -> Picture:
    pitch = CELL + GAP
    shapes = []
    for place, (letter, number) in enumerate(zip(letters, numbers, strict=True)):
        row, col = divmod(place, TOKENS_A_ROW)
        colour = _hue(number, max(numbers) + 1)
        shapes.append(Shape(BORDER + col * pitch, BORDER + row * pitch, CELL, CELL, colour, letter))
    columns = min(len(letters), TOKENS_A_ROW)
    rows = -(-len(letters) // TOKENS_A_ROW)
    return Picture(2 * BORDER + columns * pitch - GAP, 2 * BORDER + rows * pitch - GAP, shapes)


def _hue(number: int, count: int) -> str:
    red, green, blue = colorsys.hls_to_rgb(number / count, 0.72, 0.65)
    return f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}"


def draw_text(family: str | None, letters: list[str], numbers: list[int], cycles: str | None) -> str:
    """Draw an arrangement in characters.

    Parameters
    ----------
    family, letters, numbers
        See :func:`layout_of`.
    cycles : str or None
        The arrangement in cycles, if its letters are distinct.

    Returns
    -------
    str
        Without a final newline.
    """
    if family == "pancake":
        return "\n".join(f"{'▬' * (2 * number + 1):^{2 * len(numbers) - 1}}".rstrip() for number in numbers)
    if family == "burnt-pancake" and cycles is not None:
        size = len(numbers) // 2
        bars = ((number % size, "▀" if number >= size else "▄") for number in numbers[:size])
        return "\n".join(f"{side * (2 * number + 1):^{2 * size - 1}}".rstrip() for number, side in bars)
    if family == "pocket-cube":
        return _net_text(letters, numbers)
    line = " ".join(letters)
    return line if cycles is None else f"{line}\n{cycles}"


def _net_text(letters: list[str], numbers: list[int]) -> str:
    """The faces that stickers came from, or their letters, in the shape of the net."""
    whole = len(set(numbers)) == STICKERS
    marks = [FACES[number // 4] if whole else letter for letter, number in zip(letters, numbers, strict=True)]
    width = max(map(len, marks))
    lines = []
    for row in range(3):
        for half in range(2):
            cells = [" " * (2 * width + 1)] * 4
            for face, (face_row, col) in NET.items():
                if face_row == row:
                    first = 4 * FACES.index(face) + 2 * half
                    cells[col] = " ".join(f"{mark:>{width}}" for mark in marks[first : first + 2])
            lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def draw_svg(picture: Picture, title: str) -> str:
    """Draw shapes as an SVG document.

    Parameters
    ----------
    picture : Picture
    title : str
        The arrangement in letters.

    Returns
    -------
    str
        A rounded rectangle for each shape, and a text for each that has a label.
    """
    size = {"width": str(picture.width), "height": str(picture.height)}
    view = {"viewBox": f"0 0 {picture.width} {picture.height}", "role": "img"}
    svg = ElementTree.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", **size, **view})
    ElementTree.SubElement(svg, "title").text = f"Arrangement {title}"
    ElementTree.SubElement(svg, "rect", {"class": "frame", **size, "rx": str(BORDER), "fill": PLATE})
    shapes = ElementTree.SubElement(svg, "g", {"class": "tokens", "stroke": INK, "stroke-width": "1"})
    style = {"font-family": "sans-serif", "font-size": str(NUMBER_SIZE), "text-anchor": "middle"}
    labels = ElementTree.SubElement(svg, "g", {"class": "letters", "fill": INK, **style})
    for shape in picture.shapes:
        box = {"x": shape.left, "y": shape.top, "width": shape.width, "height": shape.height}
        attributes = {name: f"{value:g}" for name, value in box.items()}
        rounded = str(RADIUS if shape.height > RADIUS else 0)
        ElementTree.SubElement(shapes, "rect", {**attributes, "rx": rounded, "fill": shape.colour})
        if shape.label:
            x, y = shape.left + shape.width / 2, shape.top + shape.height / 2
            # Fewer viewers know dominant-baseline than dy; a third of an em is half the height of a digit.
            text = ElementTree.SubElement(labels, "text", {"x": f"{x:g}", "y": f"{y:g}", "dy": "0.35em"})
            text.text = shape.label
    return ElementTree.tostring(svg, encoding="unicode")


def draw_png(picture: Picture) -> bytes:
    """Draw shapes as a PNG file, with the geometry of :func:`draw_svg`.

    Parameters
    ----------
    picture : Picture

    Returns
    -------
    bytes
        The corners outside the frame are transparent.
    """
    # Pillow draws hard edges; a larger picture made smaller has soft ones.
    scale = OVERSAMPLING
    # The colour of the frame, wholly transparent: otherwise its rounded corners would get a dark rim.
    image = Image.new("RGBA", (picture.width * scale, picture.height * scale), f"{PLATE}00")
    pen = ImageDraw.Draw(image)
    whole = (0, 0, picture.width * scale - 1, picture.height * scale - 1)
    pen.rounded_rectangle(whole, BORDER * scale, fill=PLATE)
    font = ImageFont.load_default(NUMBER_SIZE * scale)
    for shape in picture.shapes:
        left, top = shape.left * scale, shape.top * scale
        box = (left, top, left + shape.width * scale - 1, top + shape.height * scale - 1)
        rounded = RADIUS * scale if shape.height > RADIUS else 0
        pen.rounded_rectangle(box, rounded, fill=shape.colour, outline=INK, width=scale)
        x, y = shape.left + shape.width / 2, shape.top + shape.height / 2
        pen.text((x * scale, y * scale), shape.label, fill=INK, font=font, anchor="mm")
    file = io.BytesIO()
    image.resize((picture.width, picture.height), Image.Resampling.BOX).save(file, format="PNG", optimize=True)
    return file.getvalue()
