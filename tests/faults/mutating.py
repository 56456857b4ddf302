"""Damage with a purpose: random changes of documents, bytes and files that an attacker or an accident might make."""

from __future__ import annotations

import json
import os
import struct
import zlib
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import google_crc32c

from storage.keys.gaps import HEADER
from storage.keys.spill_file import INDEX_TYPE, TRAILER

NUMBERS = [0, 1, -1, 2, 7, 255, 256, 2**31 - 1, 2**31, 2**32, 2**40, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30]
TEXTS = [
    "",
    "0",
    "..",
    "../../outside/file",
    "../../../../outside",
    "/etc/passwd",
    "/dev/zero",
    "00000/../../../outside",
    "bomb",
    "bomb:Bomb",
    "numcodecs.pickles",
    "pickle",
    "zstd",
    "bytes",
    "numcodecs.zlib",
    "snake",
    "sliding",
    "fifteen",
    "\x1b[31mred\x1b[0m",
    "two\nlines",
    "nul\x00byte",
    "\ud800",
    "²",
    "٣",
    "1e999",
    "0x10",
    "0x" + "f" * 16,
    "0x" + "f" * 17,
    "-0x1",
    "9" * 5000,
    "x" * 20_000,
    "%s%n{0}",
    "é" * 300,
]
ODDITIES = [None, True, False, [], {}, [[]], {"a": {"b": []}}, 0.5, -0.0, 1e308, [0] * 1000, {"": ""}]


def any_value(random: Random) -> Any:
    """Something that is rarely what is expected."""
    return deepcopy(random.choice(random.choice([NUMBERS, TEXTS, ODDITIES])))


def _places(document: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Every container in a document with every key of it."""
    keys = list(document) if isinstance(document, dict) else range(len(document)) if isinstance(document, list) else []
    for key in keys:
        found.append((document, key))
        _places(document[key], found)
    return found


def mutate_document(random: Random, document: Any) -> Any:
    """A document with a few changes of its structure or its values."""
    document = deepcopy(document)
    for _ in range(random.choice([1, 1, 1, 2, 4])):
        places = _places(document, [])
        if not places:
            return any_value(random)
        container, key = random.choice(places)
        value = container[key]
        action = random.randrange(9)
        if action == 0:
            del container[key]
        elif action == 1 and isinstance(container, list):
            container.extend([deepcopy(value)] * random.choice([1, 2, 50]))
        elif action == 2 and isinstance(container, list):
            random.shuffle(container)
        elif action == 3 and isinstance(container, dict):
            container[random.choice([*TEXTS, *(str(other[1]) for other in places)])] = value
        elif action == 4:
            other, other_key = random.choice(places)
            container[key] = deepcopy(other[other_key])
        elif action == 5 and isinstance(value, int):
            container[key] = value + random.choice([1, -1, 2**20, 2**62, -(2**63)])
        elif action == 6 and isinstance(value, str) and value.startswith("0x"):
            container[key] = f"{random.getrandbits(64):#018x}"
        else:
            container[key] = any_value(random)
    return document


def mutate_text(random: Random, text: str) -> bytes:
    """The text of a document with changes that a parser has to bear."""
    action = random.randrange(10)
    if action == 0:
        deep = random.choice([50, 2000, 100_000])
        return (random.choice(["[", '{"a":']) * deep).encode()
    if action == 1:
        return text.replace(
            random.choice("0123456789"), random.choice(["NaN", "Infinity", "-Infinity", "1e999"])
        ).encode()
    if action == 2:
        return text.replace("{", '{"attributes": 3, ', 1).encode()
    if action == 3:
        return random.choice([b"", b"null", b"[]", b"{}", b"3", b'"x"', b"\xff\xfe", b"\xef\xbb\xbf" + text.encode()])
    if action == 4:
        return text.replace(random.choice("0123456789"), "9" * 5000, 1).encode()
    return mutate_bytes(random, text.encode())


def mutate_bytes(random: Random, data: bytes) -> bytes:
    """Bytes with a few changes."""
    changed = bytearray(data)
    for _ in range(random.choice([1, 1, 2, 5])):
        size = len(changed)
        place = random.randrange(size) if size else 0
        action = random.randrange(7)
        if action == 0 and size:
            changed[place] ^= 1 << random.randrange(8)
        elif action == 1:
            del changed[place:]
        elif action == 2:
            changed[place:place] = random.randbytes(random.choice([1, 4, 100]))
        elif action == 3 and size >= 8:
            place = min(place, size - 8)
            changed[place : place + 4] = struct.pack("<I", random.choice([0, 1, 2**31 - 1, 2**31, 2**32 - 1]))
        elif action == 4:
            del changed[place : place + random.choice([1, 8, 64])]
        elif action == 5 and size:
            changed[place] = random.choice([0, 1, 0x7F, 0x80, 0xFF])
        else:
            changed += random.choice([b"\x00", b"\n", bytes(changed[:100]), bytes(5000)])
    return bytes(changed)


def mutate_frame(random: Random, frame: bytes) -> bytes:
    """A frame of keys with changes in its header, the header of its Blosc2 chunk, or the rest."""
    changed = bytearray(frame)
    action = random.randrange(4)
    if action == 0:
        fields = list(HEADER.unpack_from(changed))
        place = random.randrange(len(fields))
        width = [8, 8, 16, 32, 32, 32][place]
        fields[place] = (
            random.choice([0, 1, fields[place] + 1, fields[place] * 2, 2**31, 2**32 - 1, 9, 32, 33]) % 2**width
        )
        HEADER.pack_into(changed, 0, *fields)
    elif action == 1 and len(changed) >= HEADER.size + 32:
        for _ in range(random.choice([1, 1, 3])):
            changed[HEADER.size + random.randrange(32)] = random.choice(
                [0, 1, 2, 4, 5, 16, 32, 33, 48, 127, 160, 224, 255]
            )
    elif action == 2 and len(changed) >= HEADER.size + 32:
        place = HEADER.size + random.choice([4, 8, 12])
        changed[place : place + 4] = struct.pack("<i", random.choice([0, 1, -1, 2**31 - 1, -(2**31), 2**30, 32, 33]))
    else:
        return mutate_bytes(random, frame)
    return bytes(changed)


def mutate_chunk(random: Random, data: bytes) -> bytes:
    """A chunk of an array with a changed frame; its checksum is right as a rule."""
    if random.random() < 0.2:
        return mutate_bytes(random, data)
    frame = mutate_frame(random, data[:-4])
    return frame + google_crc32c.value(frame).to_bytes(4, "little")


def mutate_spill(random: Random, data: bytes) -> bytes:
    """A spill file with changes in its frames, index, note or trailer; checksums are right as a rule."""
    if random.random() < 0.2 or len(data) < TRAILER.size:
        return mutate_bytes(random, data)
    entries, note_size, _, magic = TRAILER.unpack(data[-TRAILER.size :])
    start = len(data) - TRAILER.size - note_size - entries * INDEX_TYPE.itemsize
    body, index = data[:start], bytearray(data[start : start + entries * INDEX_TYPE.itemsize])
    note = data[start + entries * INDEX_TYPE.itemsize : -TRAILER.size]
    action = random.randrange(5)
    if action == 0 and index:
        entry = random.randrange(entries)
        offset, size = struct.unpack_from("<QI", index, entry * INDEX_TYPE.itemsize + 8)
        frame = mutate_frame(random, body[offset : offset + size])
        body = body[:offset] + frame + body[offset + size :]
        struct.pack_into("<I", index, entry * INDEX_TYPE.itemsize + 20, zlib.crc32(body[offset : offset + size]))
    elif action == 1 and index:
        place = random.randrange(len(index) // 4) * 4
        struct.pack_into("<I", index, place, random.choice([0, 1, 3, 2**18, 2**18 + 1, 2**31, 2**32 - 1]))
    elif action == 2 and note.startswith(b"{") and note.endswith(b"}"):
        note = json.dumps(mutate_document(random, json.loads(note))).encode()
    elif action == 3:
        note = mutate_text(random, note.decode(errors="replace"))
    else:
        numbers = [entries, note_size]
        numbers[random.randrange(2)] = random.choice([0, 1, entries + 1, 2**31, 2**32 - 1])
        end = bytes(index) + note
        return body + end + TRAILER.pack(*numbers, zlib.crc32(end), magic)
    end = bytes(index) + note
    return body + end + TRAILER.pack(len(index) // INDEX_TYPE.itemsize, len(note), zlib.crc32(end), magic)


def replace_file(random: Random, path: Path, outside: Path) -> None:
    """Put something else in the place of a file or a directory: a link, a pipe, a directory, a vast hole, nothing."""
    whole = outside / "whole"
    moved = outside / "moved"
    kind = random.randrange(8)
    if kind == 0:
        # What the link leads to is exactly what belongs here.
        path.rename(moved)
        path.symlink_to(moved)
        return
    if path.is_dir():
        path.rename(moved)
    else:
        path.unlink()
    if kind == 1:
        path.symlink_to(random.choice([whole, outside, Path("/dev/zero"), Path("/etc"), path, Path("nowhere")]))
    elif kind == 2:
        os.mkfifo(path)
    elif kind == 3:
        path.mkdir()
    elif kind == 4:
        with open(path, "wb") as file:
            file.truncate(random.choice([2**33, 2**40]))
    elif kind == 5:
        path.symlink_to(os.path.relpath(outside, path.parent))
    elif kind == 6:
        path.write_bytes(whole.read_bytes())
