"""Pictures of a sliding-tile position: characters, SVG and PNG."""

from __future__ import annotations

import io
from typing import NamedTuple
from xml.etree import ElementTree

from PIL import Image, ImageDraw, ImageFont

from pipeline.spaces.contract import State
from pipeline.spaces.sliding.notation import BLANK, format_board

TILE, NUMBER, FRAME = "#f3e3c3", "#4a3b28", "#8a6f4d"
CELL = 48
GAP = 4
BORDER = 8
RADIUS = 6
NUMBER_SIZE = 22
OVERSAMPLING = 3


class Tile(NamedTuple):
    """A tile in a picture: its number, and its upper left corner in pixels from that of the picture."""

    number: int
    left: int
    top: int

    @property
    def center(self) -> tuple[float, float]:
        """The middle of the tile."""
        return self.left + CELL / 2, self.top + CELL / 2


def layout_of(cells: State, cols: int) -> tuple[int, int, list[Tile]]:
    """Width and height of the picture, and its tiles without the blank."""
    rows = cells.size // cols
    width, height = (2 * BORDER + count * (CELL + GAP) - GAP for count in (cols, rows))
    tiles = []
    for place, number in enumerate(cells.tolist()):
        row, col = divmod(place, cols)
        if number != BLANK:
            tiles.append(Tile(number, BORDER + col * (CELL + GAP), BORDER + row * (CELL + GAP)))
    return width, height, tiles


def draw_text(cells: State, cols: int) -> str:
    """Draw a position in box-drawing characters, the blank as an empty cell.

    Parameters
    ----------
    cells : ndarray of uint8, shape (rows * cols,)
    cols : int

    Returns
    -------
    str
        Without a final newline.
    """
    width = len(str(cells.size - 1))
    dashes = ["─" * (width + 2)] * cols
    top, between, bottom = (left + middle.join(dashes) + right for left, middle, right in ("╭┬╮", "├┼┤", "╰┴╯"))
    lines = [
        "│" + "│".join(f" {'' if number == BLANK else number:>{width}} " for number in row) + "│"
        for row in cells.reshape(-1, cols).tolist()
    ]
    return "\n".join((top, f"\n{between}\n".join(lines), bottom))


def draw_svg(cells: State, cols: int) -> str:
    """Draw a position as an SVG document.

    Parameters
    ----------
    cells : ndarray of uint8, shape (rows * cols,)
    cols : int

    Returns
    -------
    str
        A rounded square and a text for each tile.
    """
    width, height, tiles = layout_of(cells, cols)
    svg = ElementTree.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "width": str(width),
            "height": str(height),
            "viewBox": f"0 0 {width} {height}",
            "role": "img",
        },
    )
    ElementTree.SubElement(svg, "title").text = f"Position {format_board(cells, cols)}"
    frame = {"width": str(width), "height": str(height), "rx": str(BORDER), "fill": FRAME}
    ElementTree.SubElement(svg, "rect", {"class": "frame", **frame})
    squares = ElementTree.SubElement(svg, "g", {"class": "tiles", "fill": TILE})
    numbers = ElementTree.SubElement(
        svg,
        "g",
        {
            "class": "numbers",
            "fill": NUMBER,
            "font-family": "sans-serif",
            "font-size": str(NUMBER_SIZE),
            "text-anchor": "middle",
        },
    )
    for tile in tiles:
        square = {"x": tile.left, "y": tile.top, "width": CELL, "height": CELL, "rx": RADIUS}
        ElementTree.SubElement(squares, "rect", {name: str(value) for name, value in square.items()})
        x, y = tile.center
        # Fewer viewers know dominant-baseline than dy; a third of an em is half the height of a digit.
        text = ElementTree.SubElement(numbers, "text", {"x": f"{x:g}", "y": f"{y:g}", "dy": "0.35em"})
        text.text = str(tile.number)
    return ElementTree.tostring(svg, encoding="unicode")


def draw_png(cells: State, cols: int) -> bytes:
    """Draw a position as a PNG file, with the geometry of :func:`draw_svg`.

    Parameters
    ----------
    cells : ndarray of uint8, shape (rows * cols,)
    cols : int

    Returns
    -------
    bytes
        The corners outside the frame are transparent.
    """
    width, height, tiles = layout_of(cells, cols)
    # Pillow draws hard edges; a larger picture made smaller has soft ones.
    scale = OVERSAMPLING
    # The colour of the frame, wholly transparent: otherwise its rounded corners would get a dark rim.
    image = Image.new("RGBA", (width * scale, height * scale), f"{FRAME}00")
    pen = ImageDraw.Draw(image)
    pen.rounded_rectangle((0, 0, width * scale - 1, height * scale - 1), BORDER * scale, fill=FRAME)
    font = ImageFont.load_default(NUMBER_SIZE * scale)
    for tile in tiles:
        left, top = tile.left * scale, tile.top * scale
        box = (left, top, left + CELL * scale - 1, top + CELL * scale - 1)
        pen.rounded_rectangle(box, RADIUS * scale, fill=TILE)
        x, y = tile.center
        pen.text((x * scale, y * scale), str(tile.number), fill=NUMBER, font=font, anchor="mm")
    file = io.BytesIO()
    image.resize((width, height), Image.Resampling.BOX).save(file, format="PNG", optimize=True)
    return file.getvalue()
