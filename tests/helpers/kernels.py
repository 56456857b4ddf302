"""Compiling the kernels of the tests once, before several processes want them: ``python -m tests.helpers.kernels``.

Not needed for anything but speed: processes that compile the same kernel at the same time waste time and nothing else.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
SPACES: list[tuple[str, dict[str, object]]] = [
    ("snake", {"n": 9}),
    ("sliding", {"rows": 3, "cols": 3}),
    ("fifteen", {}),
    ("permutations", {"family": "pancake", "size": 4}),
]


def of_searches() -> None:
    """Kernels of all puzzles, and of the passes."""
    from pipeline.level.kernels import load_kernels
    from pipeline.spaces.registry import make_space

    for name, parameters in SPACES:
        load_kernels(make_space(name, parameters))


def of_the_census() -> None:
    """Kernels of the census."""
    from pipeline.census.census import LOADERS

    for load in LOADERS.values():
        load()


PARTS: dict[str, Callable[[], None]] = {"searches": of_searches, "census": of_the_census}


def compile_all() -> None:
    """Compile what is not there, each part in a process of its own.

    Raises
    ------
    RuntimeError
        If a part fails.
    """
    command = [sys.executable, "-m", "tests.helpers.kernels"]
    processes = [subprocess.Popen([*command, part], cwd=ROOT) for part in PARTS]
    codes = [process.wait() for process in processes]
    if any(codes):
        raise RuntimeError("the kernels cannot be compiled")


if __name__ == "__main__":
    for name in sys.argv[1:] or PARTS:
        PARTS[name]()
