"""What is known of a committed level: the attributes of its group, as Python objects."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from storage.attributes import LevelAttributes, PartitionAttributes, checked
from storage.keys.digest import add_digests


def hexadecimal(value: int) -> str:
    """A 64-bit integer as text: JSON readers other than Python's round large numbers."""
    return f"{value:#018x}"


@dataclass(frozen=True)
class PartitionRecord:
    """What the manifest says of a partition.

    Attributes
    ----------
    name : str
        Name of its array in the level's group.
    keys, states : int
        Keys stored, and the states they stand for.
    first, last : int
        Smallest and largest key.
    digest : int
        From :mod:`storage.keys.digest`.
    bytes : int
        Size of its chunks on disk.
    """

    name: str
    keys: int
    states: int
    first: int
    last: int
    digest: int
    bytes: int

    def to_json(self) -> dict[str, Any]:
        """As stored in attributes."""
        entry = asdict(self)
        for name in ("first", "last", "digest"):
            entry[name] = hexadecimal(entry[name])
        return entry

    @classmethod
    def from_json(cls, entry: dict[str, Any]) -> PartitionRecord:
        """Inverse of :meth:`to_json`; raises ValueError if the entry is not what that makes."""
        checked(PartitionAttributes, entry)
        numbers = {name: int(entry[name], 16) for name in ("first", "last", "digest")}
        return cls(**{**{name: entry[name] for name in ("name", "keys", "states", "bytes")}, **numbers})


@dataclass(frozen=True)
class Manifest:
    """What is known of a committed level.

    Attributes
    ----------
    depth, keys, states, digest, bytes : int
        ``bytes`` is what the arrays take on disk.
    partitions : tuple of PartitionRecord
        By ascending key range; none of them is empty.
    generated, spilled : int
        Neighbours that were generated to find the level, and keys that were left of them for the merge.
    forward : int
        Moves that lead from the level before to this one, as its expansion counted them; see
        :class:`pipeline.spaces.contract.Detection`.
    exhaustive : bool
        Whether all neighbours of the level before were generated.
    seconds : float
        Time spent on the level, interruptions left out.
    peak_spill_bytes : int
        Bytes of spills that were on disk while the level was made.
    arrays_kept : bool
        Whether the arrays are still on disk.
    """

    depth: int
    keys: int
    states: int
    digest: int
    bytes: int
    partitions: tuple[PartitionRecord, ...]
    generated: int = 0
    spilled: int = 0
    forward: int = 0
    exhaustive: bool = False
    seconds: float = 0.0
    peak_spill_bytes: int = 0
    arrays_kept: bool = True

    @classmethod
    def of(cls, depth: int, partitions: list[PartitionRecord], **facts: Any) -> Manifest:
        """Manifest of a level that consists of the given partitions."""
        kept = tuple(sorted((entry for entry in partitions if entry.keys), key=lambda entry: entry.first))
        digest = 0
        for entry in kept:
            digest = add_digests(digest, entry.digest)
        return cls(
            depth=depth,
            keys=sum(entry.keys for entry in kept),
            states=sum(entry.states for entry in kept),
            digest=digest,
            bytes=sum(entry.bytes for entry in kept),
            partitions=kept,
            **facts,
        )

    def to_json(self) -> dict[str, Any]:
        """As stored in the attributes of the level's group."""
        entry = {name: value for name, value in self.__dict__.items() if name != "partitions"}
        entry["digest"] = hexadecimal(self.digest)
        entry["partitions"] = [partition.to_json() for partition in self.partitions]
        return entry

    @classmethod
    def from_json(cls, entry: dict[str, Any]) -> Manifest:
        """Inverse of :meth:`to_json`; raises ValueError if the entry is not what that makes."""
        checked(LevelAttributes, entry)
        partitions = tuple(PartitionRecord.from_json(partition) for partition in entry["partitions"])
        return cls(**{**entry, "digest": int(entry["digest"], 16), "partitions": partitions})
