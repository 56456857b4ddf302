"""What a search tells those who watch it."""

from __future__ import annotations

from dataclasses import dataclass, field

from pipeline.running.counters import Counters
from storage.records import Manifest


@dataclass
class PassProgress:
    """How far a pass over a level has come.

    Attributes
    ----------
    depth : int
        Of the level that is being made.
    name : str
        ``expand`` or ``merge``.
    total : int
        Keys to go through.
    counters : Counters
        What was done so far.
    """

    depth: int
    name: str
    total: int
    counters: Counters = field(default_factory=Counters)


class Observer:
    """Receives the events of a search; each method may be overridden. Calls come from the searching thread, but for
    :meth:`progressed`, which comes from the workers' threads."""

    def message(self, text: str) -> None:
        """Something the user may want to know."""

    def pass_started(self, progress: PassProgress) -> None:
        """A pass begins."""

    def progressed(self, progress: PassProgress) -> None:
        """Some tasks of the pass went on."""

    def level_committed(self, manifest: Manifest) -> None:
        """A level counts as done."""
