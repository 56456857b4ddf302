"""The records of a job on disk, one model each: whatever a file says, nothing else gets into the program.

A record is a frozen dataclass, or a model of what the program keeps as it is. :func:`parse` makes it of what a document
says, strictly: types, ranges, patterns and names. Keys and digests are integers here, and text in JSON, whose readers
other than Python's round large numbers.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from storage.keys.digest import add_digests
from storage.keys.gaps import MOST_FIELD_BITS as MOST_FIELD_BITS

DISTRIBUTION = "frontier-pipeline"
CODEC = "pipeline.sorted-keys"
MOST_SAMPLES = 1 << 16

Record = TypeVar("Record")


def hexadecimal(value: int) -> str:
    """A 64-bit integer as text."""
    return f"{value:#018x}"


def _from_hexadecimal(text: Any) -> int:
    if not isinstance(text, str) or not re.fullmatch("0x[0-9a-f]{16}", text):
        raise ValueError(f"{text!r} is no number of 16 hexadecimal digits")
    return int(text, 16)


# No count of anything comes near this; what is larger is damage, and must not become the size of an allocation.
Count = Annotated[int, Field(ge=0, le=2**62)]
Hexadecimal = Annotated[int, BeforeValidator(_from_hexadecimal), PlainSerializer(hexadecimal, return_type=str)]


_adapters: dict[Any, TypeAdapter[Any]] = {}


def _adapter(kind: Any) -> TypeAdapter[Any]:
    """What pydantic makes of a model, once."""
    if kind not in _adapters:
        _adapters[kind] = TypeAdapter(kind)
    return _adapters[kind]


def parse(kind: type[Record], entry: Any) -> Record:
    """A record of what a document says.

    Raises
    ------
    ValueError
        With the first thing that is wrong, in one line.
    """
    try:
        # A name of a file may have bytes that are no text, which JSON has escapes for and the parser refuses.
        text = json.dumps(entry, ensure_ascii=False).encode("utf-8", "replace")
        record: Record = _adapter(kind).validate_json(text, strict=True)
        return record
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ValueError(f"{place}: {first['msg']}" if place else first["msg"]) from None


def to_json(record: Any) -> dict[str, Any]:
    """Inverse of :func:`parse`."""
    entry: dict[str, Any] = _adapter(type(record)).dump_python(record, mode="json")
    return entry


@dataclass(frozen=True)
class PartitionRecord:
    """What a manifest says of a partition.

    Attributes
    ----------
    name : str
        Name of its array in the level's group; it becomes a path.
    keys, states : int
        Keys stored, and the states they stand for.
    first, last : int
        Smallest and largest key.
    digest : int
        From :mod:`storage.keys.digest`.
    bytes : int
        Size of its chunks on disk.
    """

    name: Annotated[str, Field(pattern="^[0-9]{5,6}$")]
    keys: Count
    states: Count
    first: Hexadecimal
    last: Hexadecimal
    digest: Hexadecimal
    bytes: Count


@dataclass(frozen=True)
class ArrayRecord(PartitionRecord):
    """What an array says of itself.

    Attributes
    ----------
    sample : tuple of int
        Some keys, ascending and evenly spaced.
    checksums : tuple of str or None
        The last four bytes of every chunk, in hexadecimal; None in arrays written before they were recorded.
    digests : tuple of int or None
        Digests of the keys of every chunk; None likewise.
    """

    sample: Annotated[tuple[Hexadecimal, ...], Field(max_length=MOST_SAMPLES)]
    checksums: tuple[Annotated[str, Field(pattern="^[0-9a-f]{8}$")], ...] | None = None
    digests: tuple[Hexadecimal, ...] | None = None

    @property
    def partition(self) -> PartitionRecord:
        """What a manifest would say of it."""
        return PartitionRecord(self.name, self.keys, self.states, self.first, self.last, self.digest, self.bytes)


@dataclass(frozen=True)
class LevelSummary:
    """What the ledger says of a level.

    Attributes
    ----------
    depth, keys, states, digest, bytes : int
        ``bytes`` is what the arrays take on disk.
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
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    depth: Count
    keys: Count
    states: Count
    digest: Hexadecimal
    bytes: Count
    generated: Count = 0
    spilled: Count = 0
    forward: Count = 0
    exhaustive: bool = False
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    peak_spill_bytes: Count = 0


def _differ(partitions: tuple[PartitionRecord, ...]) -> tuple[PartitionRecord, ...]:
    if len({partition.name for partition in partitions}) < len(partitions):
        raise ValueError("two partitions have the same name")
    return partitions


@dataclass(frozen=True)
class Manifest(LevelSummary):
    """What is known of a committed level: the attributes of its group.

    Attributes
    ----------
    arrays_kept : bool
        Whether the arrays are still on disk.
    partitions : tuple of PartitionRecord
        By ascending key range; none of them is empty.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    arrays_kept: bool = True
    partitions: Annotated[tuple[PartitionRecord, ...], AfterValidator(_differ)] = ()

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

    @property
    def summary(self) -> LevelSummary:
        """What the ledger repeats of it."""
        return LevelSummary(**{name: getattr(self, name) for name in LevelSummary.__dataclass_fields__})

    def to_json(self) -> dict[str, Any]:
        """As stored in the attributes of the level's group."""
        return to_json(self)

    @classmethod
    def from_json(cls, entry: dict[str, Any]) -> Self:
        """Inverse of :meth:`to_json`; raises ValueError if the entry is not what that makes."""
        if "partitions" not in entry:
            raise ValueError("partitions: missing")
        return parse(cls, entry)


class _Attributes(BaseModel):
    """What is looked at and kept as it is."""

    model_config = ConfigDict(strict=True)


class SpaceAttributes(_Attributes):
    """What is searched."""

    name: str = Field(max_length=100)
    parameters: dict[str, int | str | float | bool | None]
    key_version: int
    field_bits: int = Field(ge=0, le=MOST_FIELD_BITS)
    mask_bits: int = Field(ge=0, le=MOST_FIELD_BITS)


class Provenance(_Attributes):
    """What wrote a job first."""

    versions: dict[str, str] = {}
    command: str = "unknown"
    started: str = "unknown"


class JobAttributes(_Attributes):
    """The attributes of a job's root group."""

    format_version: int = Field(ge=1)
    space: SpaceAttributes
    provenance: Provenance = Provenance()


class JournalAttributes(_Attributes):
    """The attributes of a journal."""

    journal_version: int = Field(ge=1)
    description: dict[str, int | str]
    provenance: Provenance = Provenance()


class LedgerAttributes(_Attributes):
    """The attributes of the group of levels: the ledger."""

    model_config = ConfigDict(strict=True, extra="forbid")

    job: JobAttributes
    committed: list[LevelSummary]


class _Named(BaseModel):
    """An entry of an array's metadata that has a name and a configuration."""

    name: str
    configuration: dict[str, Any] = {}


class ArrayDocument(_Attributes):
    """The metadata of a partition's array, as Zarr writes them; nothing in them is looked up or loaded."""

    zarr_format: Literal[3]
    node_type: Literal["array"]
    shape: Annotated[list[Count], Field(min_length=1, max_length=1)]
    data_type: Literal["uint64"]
    chunk_grid: _Named
    chunk_key_encoding: _Named
    codecs: list[_Named]
    attributes: ArrayRecord

    @model_validator(mode="after")
    def _codecs_are_ours(self) -> ArrayDocument:
        names = [codec.name for codec in self.codecs]
        if names != [CODEC, "crc32c"]:
            raise ValueError(f"its codecs are {', '.join(names)}")
        if (self.chunk_grid.name, self.chunk_key_encoding.name) != ("regular", "default"):
            raise ValueError("its chunks are named or cut in another way")
        return self


def writer_of(attributes: dict[str, Any]) -> str | None:
    """The program and version that wrote a job, as far as it says so in a believable form."""
    try:
        version = attributes["provenance"]["versions"][DISTRIBUTION]
        return f"{DISTRIBUTION} {version}" if re.fullmatch(r"[0-9][0-9A-Za-z.+]{0,30}", version) else None
    except (KeyError, TypeError):
        return None
