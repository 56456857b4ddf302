"""Pictures of a snake: characters, SVG and PNG. The head is drawn larger than the body."""

from __future__ import annotations

import io
from itertools import pairwise
from typing import NamedTuple
from xml.etree import ElementTree

from PIL import Image, ImageDraw

from pipeline.spaces.contract import State
from pipeline.spaces.snake.notation import format_runs, vertices

BODY, EYE, DOT, PAPER = "#2f7d5b", "#ffffff", "#cdd5dc", "#ffffff"
UNIT = 24.0
MARGIN = 0.75
LARGEST_SIDE = 1600.0
# Radii and widths as parts of a unit.
BODY_WIDTH, HEAD_RADIUS, EYE_RADIUS, DOT_RADIUS = 0.34, 0.3, 0.1, 0.06
SMALLEST_UNIT_WITH_DOTS = 8.0
OVERSAMPLING = 3

_HEAD = "●"
# By the directions in which a vertex has an edge; the tail has one, and gets half a line.
_CHARACTERS = {
    frozenset({(1, 0), (-1, 0)}): "─",
    frozenset({(0, 1), (0, -1)}): "│",
    frozenset({(1, 0), (0, 1)}): "╰",
    frozenset({(-1, 0), (0, 1)}): "╯",
    frozenset({(1, 0), (0, -1)}): "╭",
    frozenset({(-1, 0), (0, -1)}): "╮",
    frozenset({(1, 0)}): "╶",
    frozenset({(-1, 0)}): "╴",
    frozenset({(0, 1)}): "╵",
    frozenset({(0, -1)}): "╷",
}


class Layout(NamedTuple):
    """Where things are in a picture, in pixels from its upper left corner.

    Attributes
    ----------
    unit : float
        Length of an edge.
    width, height : float
    points : list of (float, float)
        The vertices, head first.
    columns, rows : int
        Lattice points across and down.
    """

    unit: float
    width: float
    height: float
    points: list[tuple[float, float]]
    columns: int
    rows: int

    @property
    def has_dots(self) -> bool:
        """Whether lattice dots would be far enough apart to help."""
        return self.unit >= SMALLEST_UNIT_WITH_DOTS


def layout_of(digits: State) -> Layout:
    """Lay a snake out; edges get shorter if the picture would become too large."""
    xs, ys = vertices(digits)
    across, down = int(xs.max() - xs.min()), int(ys.max() - ys.min())
    unit = min(UNIT, LARGEST_SIDE / (max(across, down) + 2 * MARGIN))
    lefts = ((xs - xs.min() + MARGIN) * unit).tolist()
    tops = ((ys.max() - ys + MARGIN) * unit).tolist()
    return Layout(
        unit=unit,
        width=(across + 2 * MARGIN) * unit,
        height=(down + 2 * MARGIN) * unit,
        points=list(zip(lefts, tops, strict=True)),
        columns=across + 1,
        rows=down + 1,
    )


def draw_text(digits: State) -> str:
    """Draw a snake in box-drawing characters, its head a black circle.

    Parameters
    ----------
    digits : ndarray of uint8, shape (joints,)

    Returns
    -------
    str
        One line for each row of lattice points, two columns for each step to the right, no final newline.
    """
    xs, ys = vertices(digits)
    points = list(zip((xs - xs.min()).tolist(), (ys - ys.min()).tolist(), strict=True))
    lines = [[" "] * (2 * int(xs.max() - xs.min()) + 1) for _ in range(int(ys.max() - ys.min()) + 1)]
    for vertex, (x, y) in enumerate(points):
        beside = points[max(vertex - 1, 0) : vertex] + points[vertex + 1 : vertex + 2]
        directions = frozenset((other_x - x, other_y - y) for other_x, other_y in beside)
        lines[-1 - y][2 * x] = _CHARACTERS[directions] if vertex else _HEAD
        if (1, 0) in directions:
            lines[-1 - y][2 * x + 1] = "─"
    return "\n".join("".join(line).rstrip() for line in lines)


def draw_svg(digits: State, dots: bool = True) -> str:
    """Draw a snake as an SVG document.

    Parameters
    ----------
    digits : ndarray of uint8, shape (joints,)
    dots : bool, optional
        Mark the lattice points.

    Returns
    -------
    str
        The body is one polyline with a point for each vertex.
    """
    layout = layout_of(digits)
    width, height = _decimal(layout.width), _decimal(layout.height)
    svg = ElementTree.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "width": width,
            "height": height,
            "viewBox": f"0 0 {width} {height}",
            "role": "img",
        },
    )
    ElementTree.SubElement(svg, "title").text = f"Snake of {digits.size + 1} edges: {format_runs(digits)}"
    ElementTree.SubElement(svg, "rect", {"width": width, "height": height, "fill": PAPER})
    if dots and layout.has_dots:
        _add_dots(svg, layout)
    ElementTree.SubElement(
        svg,
        "polyline",
        {
            "points": " ".join(f"{_decimal(x)},{_decimal(y)}" for x, y in layout.points),
            "fill": "none",
            "stroke": BODY,
            "stroke-width": _decimal(BODY_WIDTH * layout.unit),
            "stroke-linecap": "round",
            "stroke-linejoin": "round",
        },
    )
    for name, radius, fill in (("head", HEAD_RADIUS, BODY), ("eye", EYE_RADIUS, EYE)):
        x, y = (_decimal(coordinate) for coordinate in layout.points[0])
        circle = {"class": name, "cx": x, "cy": y, "r": _decimal(radius * layout.unit), "fill": fill}
        ElementTree.SubElement(svg, "circle", circle)
    return ElementTree.tostring(svg, encoding="unicode")


def _add_dots(svg: ElementTree.Element, layout: Layout) -> None:
    # A dashed line of length-zero dashes with round caps is a row of dots, so a row costs one element.
    group = ElementTree.SubElement(
        svg,
        "g",
        {
            "class": "dots",
            "stroke": DOT,
            "stroke-width": _decimal(2 * DOT_RADIUS * layout.unit),
            "stroke-linecap": "round",
            "stroke-dasharray": f"0 {_decimal(layout.unit)}",
        },
    )
    left, right = (_decimal((MARGIN + step) * layout.unit) for step in (0, layout.columns - 0.9))
    for row in range(layout.rows):
        top = _decimal((MARGIN + row) * layout.unit)
        ElementTree.SubElement(group, "line", {"x1": left, "y1": top, "x2": right, "y2": top})


def draw_png(digits: State, dots: bool = True) -> bytes:
    """Draw a snake as a PNG file, with the geometry of :func:`draw_svg`.

    Parameters
    ----------
    digits : ndarray of uint8, shape (joints,)
    dots : bool, optional
        Mark the lattice points.

    Returns
    -------
    bytes
    """
    layout = layout_of(digits)
    size = (max(round(layout.width), 1), max(round(layout.height), 1))
    # Pillow draws hard edges; a larger picture made smaller has soft ones.
    image = Image.new("RGB", (size[0] * OVERSAMPLING, size[1] * OVERSAMPLING), PAPER)
    pen = ImageDraw.Draw(image)
    unit = layout.unit * OVERSAMPLING
    points = [(x * OVERSAMPLING, y * OVERSAMPLING) for x, y in layout.points]
    if dots and layout.has_dots:
        for row in range(layout.rows):
            for column in range(layout.columns):
                pen.circle(((MARGIN + column) * unit, (MARGIN + row) * unit), DOT_RADIUS * unit, fill=DOT)
    # The joints of Pillow's own thick polylines have gaps, so edges and round joints are drawn one by one.
    for start, end in pairwise(points):
        pen.line([start, end], fill=BODY, width=max(round(BODY_WIDTH * unit), 1))
    for point in points:
        pen.circle(point, BODY_WIDTH * unit / 2, fill=BODY)
    pen.circle(points[0], HEAD_RADIUS * unit, fill=BODY)
    pen.circle(points[0], EYE_RADIUS * unit, fill=EYE)
    file = io.BytesIO()
    image.resize(size, Image.Resampling.BOX).save(file, format="PNG", optimize=True)
    return file.getvalue()


def _decimal(number: float) -> str:
    """Write a number as SVG takes it, without needless digits."""
    return f"{number:.3f}".rstrip("0").rstrip(".")
