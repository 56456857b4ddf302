"""How keys are cut up on disk."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cut:
    """Sizes in keys. They are no part of the format, which allows any up to the defaults of the first two.

    Attributes
    ----------
    chunk : int
        Of an array.
    frame : int
        Of a spill file.
    sample : int
        Evenly spaced keys of each partition that its attributes repeat, for estimates that need no chunk.
    """

    chunk: int = 1 << 20
    frame: int = 1 << 18
    sample: int = 512


CUT = Cut()
