"""Reading moves that people give: JSON with image lists, or lines of GAP with cycles."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.spaces.permutations.generators import MAX_MOVES, MAX_POINTS, Images
from storage.errors import InvalidInput

MAX_BYTES = 4 << 20
FORMATS = (
    'JSON is {"generators": {"U": [1, 0, 2], ...}} with images from 0; GAP is lines such as U:=(1,2,3)(4,5); with '
    "points from 1"
)
_STATEMENT = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_.']*)\s*:=\s*((?:\(\s*[0-9,\s]*\)\s*)+)\s*", re.ASCII)
_CYCLE = re.compile(r"\(([^)]*)\)")


class Puzzle(NamedTuple):
    """What a file says: named moves, and where the search starts (None for the arrangement 0, 1, 2, ...)."""

    moves: dict[str, Images]
    start: str | None


def read_file(path: Path) -> Puzzle:
    """Read moves from a file.

    Raises
    ------
    InvalidInput
        If it cannot be read, or is neither JSON nor GAP, with what is wrong and where.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from error
    if len(data) > MAX_BYTES:
        raise InvalidInput(f"{path} is larger than {MAX_BYTES >> 20} MiB")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path}: byte {error.start + 1} is not UTF-8 text", FORMATS) from error
    try:
        return read_moves(text)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error.message}", error.remedy) from error


def read_moves(text: str) -> Puzzle:
    """Read moves from JSON or GAP text.

    Raises
    ------
    InvalidInput
    """
    return _read_json(text) if text.lstrip().startswith(("{", "[")) else Puzzle(_read_gap(text), None)


def write_moves(moves: dict[str, Images]) -> str:
    """Moves as :func:`read_moves` reads them."""
    return json.dumps({name: list(images) for name, images in moves.items()}, separators=(",", ":"))


def _read_json(text: str) -> Puzzle:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"no valid JSON: {error}", FORMATS) from error
    start = None
    generators = document
    if isinstance(document, dict) and "generators" in document:
        unknown = sorted(set(document) - {"generators", "start"})
        if unknown:
            raise InvalidInput(f"{unknown[0]!r} is neither 'generators' nor 'start'", FORMATS)
        generators = document["generators"]
        if document.get("start") is not None:
            start = _start(document["start"])
    if isinstance(generators, list):
        generators = {f"g{number}": images for number, images in enumerate(generators)}
    if not isinstance(generators, dict):
        raise InvalidInput("the generators are neither an object nor a list", FORMATS)
    if len(generators) > MAX_MOVES:
        raise InvalidInput(f"there are more than {MAX_MOVES} moves")
    moves = {}
    for name, images in generators.items():
        numbers = isinstance(images, list) and all(type(image) is int for image in images)
        if not numbers:
            raise InvalidInput(f"move {name} is not a list of numbers", FORMATS)
        moves[name] = tuple(images)
    return Puzzle(moves, start)


def _start(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(type(letter) is int or isinstance(letter, str) for letter in value):
        return ",".join(str(letter) for letter in value)
    raise InvalidInput("the start is neither text nor a list of letters", FORMATS)


def _read_gap(text: str) -> dict[str, Images]:
    cycles: dict[str, list[list[int]]] = {}
    without_comments = re.sub(r"#[^\n]*", "", text)
    position = 0
    for statement in without_comments.split(";"):
        line = without_comments.count("\n", 0, position + len(statement) - len(statement.lstrip())) + 1
        position += len(statement) + 1
        if not statement.strip():
            continue
        match = _STATEMENT.fullmatch(statement)
        if match is None:
            raise InvalidInput(f"line {line} is no permutation in cycles", FORMATS)
        if match[1] in cycles:
            raise InvalidInput(f"line {line} defines {match[1]} again")
        cycles[match[1]] = _cycles(match[2], f"line {line}")
        if len(cycles) > MAX_MOVES:
            raise InvalidInput(f"there are more than {MAX_MOVES} moves")
    points = max((point for move in cycles.values() for cycle in move for point in cycle), default=0)
    return {name: images_of(move, points) for name, move in cycles.items()}


def _cycles(text: str, place: str) -> list[list[int]]:
    """Cycles with points from 1."""
    cycles = []
    seen: set[int] = set()
    for cycle_text in _CYCLE.findall(text):
        cycle = []
        for number in filter(None, (part.strip() for part in cycle_text.split(","))):
            if not number.isdigit() or len(number) > 6 or not 1 <= int(number) <= MAX_POINTS:
                raise InvalidInput(f"{place}: {number[:20]} is not a point from 1 to {MAX_POINTS}")
            if int(number) in seen:
                raise InvalidInput(f"{place}: the point {number} occurs twice")
            seen.add(int(number))
            cycle.append(int(number))
        cycles.append(cycle)
    return cycles


def images_of(cycles: list[list[int]], points: int) -> Images:
    """Image list from 0 of a permutation whose cycles have points from 1."""
    images = list(range(points))
    for cycle in cycles:
        for point, image in zip(cycle, [*cycle[1:], *cycle[:1]], strict=True):
            images[point - 1] = image - 1
    return tuple(images)


def read_cycles(text: str, points: int) -> Images:
    """A permutation written in cycles with points from 1, such as ``(1,2,3)(4,5)``.

    Raises
    ------
    InvalidInput
    """
    if not re.fullmatch(r"\s*(\([0-9,\s]*\)\s*)+", text, re.ASCII):
        raise InvalidInput(f"{text!r} is no permutation in cycles", "write cycles such as (1,2,3)(4,5)")
    cycles = _cycles(re.sub(r"(?<=[0-9])\s+(?=[0-9])", ",", text), "the permutation")
    largest = max((point for cycle in cycles for point in cycle), default=0)
    if largest > points:
        raise InvalidInput(f"{largest} is not a point from 1 to {points}")
    return images_of(cycles, points)


def write_cycles(images: Images) -> str:
    """Cycles of a permutation, with points from 1; fixed points are left out."""
    seen = set()
    parts = []
    for point in range(len(images)):
        cycle = []
        while point not in seen:
            seen.add(point)
            cycle.append(point + 1)
            point = images[point]
        if len(cycle) > 1:
            parts.append(f"({','.join(map(str, cycle))})")
    return "".join(parts) or "()"
