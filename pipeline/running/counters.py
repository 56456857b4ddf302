"""What a task, a pass or a level has done so far, as numbers that add up."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

from storage.keys.digest import add_digests


@dataclass(frozen=True)
class Counters:
    """Counts of one or more tasks.

    Attributes
    ----------
    keys : int
        Keys gone through: expanded, or read by the merge.
    generated : int
        Neighbours generated.
    spilled : int
        Keys spilled.
    stored : int
        Keys stored by the merge.
    forward, backward : int
        Moves; see :class:`pipeline.spaces.contract.Detection`.
    digest : int
        Of the keys expanded; see :mod:`storage.keys.digest`.
    """

    keys: int = 0
    generated: int = 0
    spilled: int = 0
    stored: int = 0
    forward: int = 0
    backward: int = 0
    digest: int = 0

    def __add__(self, other: Counters) -> Counters:
        return Counters(
            self.keys + other.keys,
            self.generated + other.generated,
            self.spilled + other.spilled,
            self.stored + other.stored,
            self.forward + other.forward,
            self.backward + other.backward,
            add_digests(self.digest, other.digest),
        )

    def receipt(self) -> dict[str, int]:
        """What an expand task leaves in its spill file."""
        return {name: value for name, value in asdict(self).items() if name != "stored"}

    @classmethod
    def of_receipt(cls, receipt: dict[str, int]) -> Counters:
        """Inverse of :meth:`receipt`.

        Raises
        ------
        ValueError
            If it has other entries.
        """
        if set(receipt) != {field.name for field in fields(cls)} - {"stored"}:
            raise ValueError("the receipt has other entries than those of an expand task")
        return cls(**receipt)
