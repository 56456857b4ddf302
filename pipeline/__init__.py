"""Breadth-first enumeration of implicit graphs that do not fit in memory."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipeline.census.census import Census
    from pipeline.running.level_lines import LevelLines
    from pipeline.running.settings import Settings
    from pipeline.search import Search
    from pipeline.spaces.contract import StateSpace
    from pipeline.spaces.sliding.space import Sliding
    from pipeline.spaces.snake.space import Snake
    from pipeline.table import Table

_PLACES = {
    "Census": "pipeline.census.census",
    "LevelLines": "pipeline.running.level_lines",
    "Search": "pipeline.search",
    "Settings": "pipeline.running.settings",
    "Sliding": "pipeline.spaces.sliding.space",
    "Snake": "pipeline.spaces.snake.space",
    "StateSpace": "pipeline.spaces.contract",
    "Table": "pipeline.table",
}

__all__ = ["Census", "LevelLines", "Search", "Settings", "Sliding", "Snake", "StateSpace", "Table"]


def __getattr__(name: str) -> Any:
    # Importing numba takes longer than answering --help.
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
