"""What a census found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class CensusResult:
    """What a census found.

    Attributes
    ----------
    n : int
        Edges of the snake.
    shapes : int
        All shapes; by the formula of A037245, or counted if ``bends`` is given.
    stuck_shapes : tuple of str
        Shapes that have bends, none of which can be straightened: canonical joint digits, sorted.
    locked_shapes : tuple of str
        Shapes from which the straight snake cannot be reached, likewise. Empty in an exhaustive census, which does not
        look for them.
    bends : tuple of int, optional
        Shapes for each number of bends.
    states : tuple of int, optional
        Reachable shapes at each depth of a breadth-first search from the straight snake.
    delayed : int, optional
        Shapes whose depth is more than their number of bends, locked ones included.
    nodes : int
        Walks that the search looked at.
    seconds : float
        Of this run.
    """

    n: int
    shapes: int
    stuck_shapes: tuple[str, ...]
    locked_shapes: tuple[str, ...]
    nodes: int
    seconds: float
    bends: tuple[int, ...] | None = None
    collision: str = "swept"
    states: tuple[int, ...] | None = None
    delayed: int | None = None

    def document(self) -> dict[str, Any]:
        """The JSON document."""
        document: dict[str, Any] = {"n": self.n, "shapes": self.shapes}
        if self.collision == "swept":
            document["stuck"] = len(self.stuck_shapes)
        if self.bends is None:
            document["locked"] = len(self.locked_shapes)
            document["reachable"] = self.shapes - len(self.locked_shapes)
            document["locked_shapes"] = list(self.locked_shapes)
        else:
            document["bends"] = list(self.bends)
        if self.states is not None:
            document["delayed"] = self.delayed
            document["depths"] = list(range(len(self.states)))
            document["states"] = list(self.states)
        return document | {"nodes": self.nodes, "seconds": round(self.seconds, 3), "complete": True}
