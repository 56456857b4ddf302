"""An observer for those who want to see a search go on, and need no more than lines of text."""

from __future__ import annotations

import sys
from typing import TextIO

from pipeline.running.events import Observer
from storage.records import Manifest
from storage.sizes import size


class LevelLines(Observer):
    """Prints a line for every level, and what the search has to say.

    Parameters
    ----------
    stream : text file, optional
        Standard error unless given.

    Examples
    --------
    >>> import sys
    >>> from pipeline import LevelLines, Search, Snake
    >>> table = Search(Snake(n=3), job="jobs/three", observer=LevelLines(sys.stdout)).run()
    level 0: 1 states, 20 B
    level 1: 1 states, 53 B
    level 2: 2 states, 54 B
    level 3: 0 states, 0 B
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream

    def _print(self, line: str) -> None:
        print(line, file=self._stream if self._stream is not None else sys.stderr, flush=True)

    def message(self, text: str) -> None:
        self._print(text)

    def level_committed(self, manifest: Manifest) -> None:
        seconds = f" in {manifest.seconds:.1f} s" if manifest.seconds >= 1 else ""
        self._print(f"level {manifest.depth}: {manifest.states} states, {size(manifest.bytes)}{seconds}")
