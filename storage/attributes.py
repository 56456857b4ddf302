"""The attributes of a job, checked: whatever a file says, nothing else gets into the program."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from storage.keys.gaps import MOST_FIELD_BITS as MOST_FIELD_BITS

DISTRIBUTION = "frontier-pipeline"
CODEC = "pipeline.sorted-keys"
MOST_SAMPLES = 1 << 16


# No count of anything comes near this; what is larger is damage, and must not become the size of an allocation.
Count = Annotated[int, Field(ge=0, le=2**62)]
Hexadecimal = Annotated[str, Field(pattern=r"^0x[0-9a-f]{16}$")]


class SpaceAttributes(BaseModel):
    """What is searched."""

    model_config = ConfigDict(strict=True)

    name: str = Field(max_length=100)
    parameters: dict[str, int | str | float | bool | None]
    key_version: int
    field_bits: int = Field(ge=0, le=MOST_FIELD_BITS)
    mask_bits: int = Field(ge=0, le=MOST_FIELD_BITS)
    # Digest of the source of a puzzle that is no part of the program.
    source: str | None = Field(default=None, max_length=100)


class Provenance(BaseModel):
    """What wrote a job first."""

    model_config = ConfigDict(strict=True)

    versions: dict[str, str] = {}
    command: str = "unknown"
    started: str = "unknown"


class JobAttributes(BaseModel):
    """The attributes of a job's root group."""

    model_config = ConfigDict(strict=True)

    format_version: int = Field(ge=1)
    space: SpaceAttributes
    provenance: Provenance = Provenance()


class JournalAttributes(BaseModel):
    """The attributes of a journal."""

    model_config = ConfigDict(strict=True)

    journal_version: int = Field(ge=1)
    description: dict[str, int | str]
    provenance: Provenance = Provenance()


class PartitionAttributes(BaseModel):
    """What a manifest, or an array itself, says of a partition."""

    model_config = ConfigDict(strict=True)

    # A name becomes a path.
    name: str = Field(pattern=r"^[0-9]{5,6}$")
    keys: Count
    states: Count
    first: Hexadecimal
    last: Hexadecimal
    digest: Hexadecimal
    bytes: Count


class LevelSummary(BaseModel):
    """What the ledger says of a level."""

    model_config = ConfigDict(strict=True, extra="forbid")

    depth: Count
    keys: Count
    states: Count
    digest: Hexadecimal
    bytes: Count
    generated: Count = 0
    spilled: Count = 0
    forward: Count = 0
    exhaustive: bool = False
    seconds: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    peak_spill_bytes: Count = 0


class LedgerAttributes(BaseModel):
    """The attributes of the group of levels: the ledger."""

    model_config = ConfigDict(strict=True, extra="forbid")

    job: JobAttributes
    committed: list[LevelSummary]


class LevelAttributes(LevelSummary):
    """The attributes of a level: its manifest."""

    partitions: list[PartitionAttributes]
    arrays_kept: bool = True

    @model_validator(mode="after")
    def _partitions_differ(self) -> LevelAttributes:
        if len({partition.name for partition in self.partitions}) < len(self.partitions):
            raise ValueError("two partitions have the same name")
        return self


class ArrayAttributes(PartitionAttributes):
    """The attributes of a partition's array."""

    sample: Annotated[list[Hexadecimal], Field(max_length=MOST_SAMPLES)]
    checksums: list[Annotated[str, Field(pattern=r"^[0-9a-f]{8}$")]] | None = None
    digests: list[Hexadecimal] | None = None


class _Named(BaseModel):
    """An entry of an array's metadata that has a name and a configuration."""

    name: str
    configuration: dict[str, Any] = {}


class ArrayDocument(BaseModel):
    """The metadata of a partition's array, as Zarr writes them; nothing in them is looked up or loaded."""

    model_config = ConfigDict(strict=True)

    zarr_format: Literal[3]
    node_type: Literal["array"]
    shape: Annotated[list[Count], Field(min_length=1, max_length=1)]
    data_type: Literal["uint64"]
    chunk_grid: _Named
    chunk_key_encoding: _Named
    codecs: list[_Named]
    attributes: ArrayAttributes

    @model_validator(mode="after")
    def _codecs_are_ours(self) -> ArrayDocument:
        names = [codec.name for codec in self.codecs]
        if names != [CODEC, "crc32c"]:
            raise ValueError(f"its codecs are {', '.join(names)}")
        if (self.chunk_grid.name, self.chunk_key_encoding.name) != ("regular", "default"):
            raise ValueError("its chunks are named or cut in another way")
        return self


def checked(model: type[BaseModel], attributes: Any) -> None:
    """Compare attributes with what they must be.

    Raises
    ------
    ValueError
        With the first thing that is wrong, in one line.
    """
    try:
        model.model_validate(attributes)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ValueError(f"{place}: {first['msg']}" if place else first["msg"]) from None


def writer_of(attributes: dict[str, Any]) -> str | None:
    """The program and version that wrote a job, as far as it says so in a believable form."""
    try:
        version = attributes["provenance"]["versions"][DISTRIBUTION]
        return f"{DISTRIBUTION} {version}" if re.fullmatch(r"[0-9][0-9A-Za-z.+]{0,30}", version) else None
    except (KeyError, TypeError):
        return None
