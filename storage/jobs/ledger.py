"""The ledger of a job: the attributes of the group ``levels``.

It repeats what the job searches and the numbers of every committed level. So levels that vanished from the end are
missed, and damaged metadata of the job or of a level whose states were deleted can be restored.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from storage.attributes import LedgerAttributes, checked
from storage.files.reading import refuse_links
from storage.files.sealed import group_document, read_document, write_document
from storage.manifest import Manifest

# What must agree with the manifest; the rest says how the level was made, which a repair may do in another way.
ESSENTIAL = ("depth", "keys", "states", "digest", "forward", "exhaustive")


@dataclass(frozen=True)
class Ledger:
    """What the ledger says.

    Attributes
    ----------
    job : dict
        The attributes of the job.
    committed : tuple of dict
        For each level its manifest without the partitions, and without whether the arrays are on disk.
    """

    job: dict[str, Any]
    committed: tuple[dict[str, Any], ...] = ()

    @classmethod
    def read(cls, path: Path) -> Ledger:
        """Read the ledger of the group at ``path``.

        Raises
        ------
        OSError, ValueError, KeyError, TypeError
            If it is missing or damaged.
        """
        refuse_links(path)
        attributes = read_document(path / "zarr.json", sealed=True)["attributes"]
        checked(LedgerAttributes, attributes)
        return cls(dict(attributes["job"]), tuple(attributes["committed"]))

    def write(self, path: Path) -> None:
        """Write it, atomically and durably."""
        write_document(path / "zarr.json", group_document({"job": self.job, "committed": list(self.committed)}))

    def entered(self, manifest: Manifest) -> Ledger:
        """The ledger with one more level, the one after those that it has."""
        return Ledger(self.job, (*self.committed, summary_of(manifest)))


def summary_of(manifest: Manifest) -> dict[str, Any]:
    """What the ledger repeats of a manifest."""
    return {name: value for name, value in manifest.to_json().items() if name not in ("partitions", "arrays_kept")}
