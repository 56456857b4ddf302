"""JSON documents that carry their own checksum: the metadata of groups and arrays, and plans.

A flipped bit may leave a document that still parses, with another count in it. So each document holds the SHA-256 of
all the rest of it, as ``checksum`` among its attributes. It covers the content, not the layout: keys sorted, no spaces.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from storage.files.durable import write_json
from storage.files.reading import read_json

CHECKSUM = "checksum"

Document = dict[str, Any]


def _checksum_of(document: Document) -> str:
    bare = {**document, "attributes": {key: value for key, value in document["attributes"].items() if key != CHECKSUM}}
    text = json.dumps(bare, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def seal(document: Document) -> Document:
    """The document with its checksum."""
    return {**document, "attributes": {**document["attributes"], CHECKSUM: _checksum_of(document)}}


def group_document(attributes: dict[str, Any]) -> Document:
    """Metadata of a Zarr group."""
    return {"attributes": attributes, "zarr_format": 3, "node_type": "group"}


def write_document(path: Path, document: Document, sealed: bool = True) -> None:
    """Write a document atomically and durably, with its checksum unless the format of the job has none."""
    write_json(path, seal(document) if sealed else document)


def read_document(path: Path, sealed: bool) -> Document:
    """Read a document and compare it with its checksum.

    Parameters
    ----------
    path : Path
    sealed : bool
        Whether there must be a checksum; if there is one, it must be right in any case.

    Returns
    -------
    dict
        Its attributes are without the checksum.

    Raises
    ------
    OSError
    ValueError
        If it is damaged.
    """
    document = read_json(path)
    if not isinstance(document, dict) or not isinstance(document.get("attributes", {}), dict):
        raise ValueError("it is no metadata of a group or an array")
    attributes = document.setdefault("attributes", {})
    if CHECKSUM in attributes:
        if attributes[CHECKSUM] != _checksum_of(document):
            raise ValueError("its checksum is wrong")
        del attributes[CHECKSUM]
    elif sealed:
        raise ValueError("it has no checksum")
    return document


def read_group(path: Path, sealed: bool) -> Document:
    """Read the metadata of a group, as :func:`read_document` does."""
    document = read_document(path, sealed)
    if (document.get("zarr_format"), document.get("node_type")) != (3, "group"):
        raise ValueError("it is no metadata of a group")
    return document
