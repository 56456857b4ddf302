"""The map of the house in CONTRIBUTING.md is that of the tree."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOP = ("cli", "pipeline", "storage")
LINES_OF_A_SCREEN = 40


def lines_of_the_map() -> list[str]:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return text.split("```text\n")[1].split("```")[0].splitlines()


def rooms_of_the_map() -> dict[str, set[str]]:
    """Folders and modules by the folder that they are in."""
    rooms: dict[str, set[str]] = {}
    inside = ""
    for line in lines_of_the_map():
        place, _, rest = re.split(r"(?<=\S)\s{2,}", line, maxsplit=1)[0], "", line
        if not line.startswith(" "):
            inside = place.rstrip("/")
            rooms[inside] = set()
            continue
        rooms[inside].update(name.strip().rstrip("/") for name in place.split(","))
        # Further modules after a semicolon: "search   what ...; table, inspection: what ...".
        for names in re.findall(r"; ([a-z, ]+):", rest):
            rooms[inside].update(name.strip() for name in names.split(","))
    return rooms


def test_the_map_fits_on_a_screen() -> None:
    assert len(lines_of_the_map()) <= LINES_OF_A_SCREEN


def test_every_room_is_on_the_map_and_there() -> None:
    rooms = rooms_of_the_map()
    for top in TOP[1:]:
        there = {
            path.stem
            for path in (ROOT / top).iterdir()
            if not path.name.startswith("__") and (path.suffix == ".py" or (path / "__init__.py").exists())
        }
        assert rooms[top] == there
    for folder in set(rooms) - set(TOP):
        assert (ROOT / folder).is_dir()


def test_every_room_says_what_it_is_for() -> None:
    for top in TOP[1:]:
        for path in (ROOT / top).glob("*/__init__.py"):
            assert len(path.read_text(encoding="utf-8")) > 60, path
