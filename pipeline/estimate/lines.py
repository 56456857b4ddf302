"""Lines through measured points, to go on beyond them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Line:
    """A straight line.

    Attributes
    ----------
    start, height : float
        A point on it.
    slope : float
    """

    start: float
    height: float
    slope: float

    def at(self, place: float) -> float:
        """Its height at a place."""
        return self.height + self.slope * (place - self.start)

    @classmethod
    def through(cls, points: Sequence[tuple[float, float]]) -> Line:
        """The line of least squares through points, moved so that it goes through the last one.

        Parameters
        ----------
        points : sequence of (float, float)
            At least one; with a single one the line is level.
        """
        places, heights = np.array(points, dtype=float).T
        spread = float(((places - places.mean()) ** 2).sum())
        slope = float(((places - places.mean()) * (heights - heights.mean())).sum()) / spread if spread else 0.0
        return cls(float(places[-1]), float(heights[-1]), slope)
