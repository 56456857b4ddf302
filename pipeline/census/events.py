"""What a census tells those who watch it."""

from __future__ import annotations

from typing import Any


class CensusObserver:
    """Receives the events of a census; each method may be overridden. Calls come from the searching thread."""

    def message(self, text: str) -> None:
        """Something the user may want to know."""

    def phase_started(self, phase: str, tasks: int, finished: int) -> None:
        """A phase begins: ``stuck`` (the search for stuck shapes), ``components``, ``bends``, ``delayed``, or
        ``exhaustive``."""

    def prepared(self, phase: str) -> None:
        """The kernels of a phase are loaded, some of them compiled perhaps, and the tasks begin."""

    def task_done(self, phase: str, result: dict[str, Any]) -> None:
        """A task has been done, with this result."""
