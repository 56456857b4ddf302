"""The level that is being made: its plan, its spills and the partitions that are finished.

Nothing here is needed once the level is committed, and what is damaged is made again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from storage.files.durable import make_directories, remove
from storage.files.quota import Quota
from storage.files.reading import DAMAGED, read_json, refuse_links
from storage.files.sealed import read_document, write_document
from storage.keys.array import check_chunks, read_facts
from storage.keys.cut import CUT, Cut
from storage.keys.partition import PartitionWriter
from storage.keys.spills import DiskSpills
from storage.records import PartitionRecord


class WorkingLevel:
    """The level that is being made. Instances can be sent to other processes.

    Parameters
    ----------
    path : Path
        Its directory, below ``work``.
    depth : int
    field_bits : int
        For the codec.
    sealed : bool
        Whether metadata must have checksums.
    cut : Cut

    Attributes
    ----------
    quota : Quota or None
        What may be written; None for all that fits on the disk.
    """

    def __init__(self, path: Path, depth: int, field_bits: int, sealed: bool = False, cut: Cut = CUT) -> None:
        self.path = path
        self.depth = depth
        self.partitions = path / "partitions"
        self.field_bits = field_bits
        self.cut = cut
        self.quota: Quota | None = None
        self._sealed = sealed

    @property
    def plan_path(self) -> Path:
        """The file of the plan."""
        return self.path / "plan.json"

    def plan(self) -> dict[str, Any] | None:
        """The plan that was made for the level; None if there is none, or it is damaged."""
        try:
            return self.read_plan()
        except DAMAGED:
            return None

    def read_plan(self) -> dict[str, Any]:
        """The plan that was made for the level.

        Raises
        ------
        FileNotFoundError
            If there is none.
        OSError, ValueError, TypeError
            If it is damaged.
        """
        refuse_links(self.path)
        plan: dict[str, Any]
        if self._sealed:
            document = read_document(self.plan_path, sealed=True)
            if document.keys() != {"attributes"}:
                raise ValueError("it is no plan")
            plan = document["attributes"]
        else:
            plan = read_json(self.plan_path)
        return plan

    def save_plan(self, plan: dict[str, Any]) -> None:
        """Store the plan; the tasks that it names keep their meaning until the level is committed."""
        make_directories(self.partitions)
        write_document(self.plan_path, {"attributes": plan} if self._sealed else plan, self._sealed)

    def spills(self) -> DiskSpills:
        """The spill files of the level."""
        return DiskSpills(self.path / "spills", self.field_bits, self.depth, self.quota, self.cut)

    def writer(self, name: str, most_keys: int) -> PartitionWriter:
        """Writer of a partition with at most so many keys."""
        return PartitionWriter(self.partitions, name, most_keys, self.field_bits, self.quota, self.cut)

    def record(self, name: str) -> PartitionRecord | None:
        """The record of a finished partition; None if it is not done, or damaged."""
        try:
            return self.read_record(name)
        except DAMAGED:
            remove(self.partitions / name)
            return None

    def read_record(self, name: str) -> PartitionRecord:
        """The record of a finished partition.

        Raises
        ------
        OSError, ValueError, KeyError, TypeError
            If it is not done, or its metadata or a chunk is damaged.
        """
        path = self.partitions / name
        refuse_links(self.path, self.partitions)
        facts = read_facts(path, self._sealed)
        if facts.record.name != name:
            raise ValueError(f"it is the partition {facts.record.name}")
        check_chunks(path, facts)
        return facts.record.partition

    def discard(self, committed: bool = False) -> None:
        """Remove all that was made of the level, at once: its plan and what was made by it go together.

        If it was committed, what comes back after a loss of power is swept away.
        """
        remove(self.path, for_good=not committed)
