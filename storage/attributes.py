"""The attributes of a job, checked: whatever a file says, nothing else gets into the program."""

from __future__ import annotations

import re
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from storage.gaps import MOST_FIELD_BITS

DISTRIBUTION = "frontier-pipeline"


class SpaceAttributes(BaseModel):
    """What is searched."""

    model_config = ConfigDict(strict=True)

    name: str = Field(max_length=100)
    parameters: dict[str, int | str | float | bool | None]
    key_version: int
    field_bits: int = Field(ge=0, le=MOST_FIELD_BITS)
    mask_bits: int = Field(ge=0, le=MOST_FIELD_BITS)


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


def checked_attributes(attributes: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a job as they are stored.

    Raises
    ------
    ValueError
        With the first thing that is wrong, in one line.
    """
    try:
        JobAttributes.model_validate(attributes)
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    return attributes


def writer_of(attributes: dict[str, Any]) -> str | None:
    """The program and version that wrote a job, as far as it says so in a believable form."""
    try:
        version = attributes["provenance"]["versions"][DISTRIBUTION]
        return f"{DISTRIBUTION} {version}" if re.fullmatch(r"[0-9][0-9A-Za-z.+]{0,30}", version) else None
    except (KeyError, TypeError):
        return None
