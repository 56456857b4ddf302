"""What there is to say of a census while it runs."""

from __future__ import annotations

from typing import Any

from cli.display import Watched, display_for
from cli.sizes import short
from pipeline.census.events import CensusObserver

TITLES = {
    "stuck": "stuck shapes",
    "components": "their components",
    "exhaustive": "shapes",
    "bends": "shapes by bends",
    "delayed": "delayed shapes",
}


class CensusProgress(CensusObserver, Watched):
    """Follows a census, and has a display.

    Parameters
    ----------
    progress, quiet : bool
        Wishes of the user: the progress, nothing at all.

    Attributes
    ----------
    display : Display
    """

    def __init__(self, progress: bool, quiet: bool) -> None:
        self.display = display_for(self, progress, quiet)

    def message(self, text: str) -> None:
        self.display.message(text)

    def phase_started(self, phase: str, tasks: int, finished: int) -> None:
        self._tasks, self._done = tasks, finished
        self._nodes = self._found = 0

    def prepared(self, phase: str) -> None:
        # The clock starts when the kernels are ready.
        self.display.begin(TITLES[phase], self._tasks)

    def task_done(self, phase: str, result: dict[str, Any]) -> None:
        self._done += 1
        self._nodes += result.get("nodes", 0)
        self._found += len(result.get("stuck" if phase == "exhaustive" else "shapes", ()))

    def counts(self) -> tuple[int, int]:
        """Tasks done, walks looked at."""
        return self._done, self._nodes

    def facts(self, rate: float) -> list[str]:
        """What was found."""
        walks = f"{short(self._nodes)} walks looked at ({short(rate)}/s)"
        return [walks, f"{self._found} stuck so far"] if self._nodes else []
