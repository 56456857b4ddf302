"""Sorted keys as bytes: gaps as variable-length integers, small fields apart, both through Blosc2.

A key is split into its *field bits* (low bits without magnitude, such as a blank and a move mask) and the rest. The
rest is stored as the difference to the key before, in groups of seven bits, low group first, the high bit of a byte
saying that another follows. The field bits are stored byte plane by byte plane. Fields that differ at random thus never
disturb the gaps, and the gaps of a dense level take little more than one byte. Arrays that are not sorted survive too
(differences are taken modulo 2**64), at up to ten bytes a value; a run of zeros at the end, such as the padding of the
last chunk of an array, takes no space at all.

Layout of a frame, little-endian::

    offset  size  content
         0     1  format of the frame, 1
         1     1  field bits
         2     2  0
         4     4  values before the zeros at the end
         8     4  bytes of the gaps
        12     4  bytes of the Blosc2 chunk that follows (0 if there are no values)
        16        Blosc2 chunk of: gaps, then ceil(field bits / 8) planes of one byte a value
"""

from __future__ import annotations

import os
import struct
import threading

import blosc2
import numpy as np
from numpy.typing import NDArray

from storage.compiler.kernel import kernel

FRAME_FORMAT = 1
HEADER = struct.Struct("<BBHIII")
LARGEST_GAP_BYTES = 10
MOST_FIELD_BITS = 32
# Bytes of the header of a Blosc2 chunk.
SMALLEST_CHUNK = 32
# What that header says of every chunk that is written here. Of its flags: the two that stand for the longer header; no
# delta; whether it is a plain copy, and whether its blocks are cut, which is nothing with values of one byte, may be.
_FLAGS, _FLAGS_THAT_MATTER, _COPIED = 0b101, 0b1101, 0b10
_ZSTD, _ZSTD_FORMAT = 5, 4

# Blosc2 keeps the interpreter locked while it works unless it is told otherwise.
blosc2.set_releasegil(True)
# All that there is to set, so that no default of the library, which a program may change, takes part.
_COMPRESSION = {
    "codec": blosc2.Codec.ZSTD,
    "codec_meta": 0,
    "clevel": 1,
    "use_dict": False,
    "typesize": 1,
    "blocksize": 0,
    "splitmode": blosc2.SplitMode.AUTO_SPLIT,
    "filters": [blosc2.Filter.NOFILTER],
    "filters_meta": [0],
    "nthreads": 1,
    "tuner": blosc2.Tuner.STUNE,
}
_scratch = threading.local()


@kernel
def _split(keys, field_bits, planes, out):
    """Write gaps and planes of ``keys``; returns the number of gap bytes."""
    shift = np.uint64(field_bits)
    previous = np.uint64(0)
    position = 0
    for key in keys:
        rest = key >> shift
        gap = rest - previous
        previous = rest
        while gap >= np.uint64(128):
            out[position] = np.uint8(gap | np.uint64(128))
            gap >>= np.uint64(7)
            position += 1
        out[position] = np.uint8(gap)
        position += 1
    gap_bytes = position
    for plane in range(planes):
        plane_shift = np.uint64(8 * plane)
        left = np.uint64(min(8, field_bits - 8 * plane))
        mask = (np.uint64(1) << left) - np.uint64(1)
        for i in range(keys.size):
            out[position + i] = np.uint8((keys[i] >> plane_shift) & mask)
        position += keys.size
    return gap_bytes


@kernel
def _join(data, gap_bytes, field_bits, planes, values, out):
    """Inverse of :func:`_split`; returns False if the gaps do not end where they should."""
    shift = np.uint64(field_bits)
    previous = np.uint64(0)
    position = 0
    for i in range(values):
        if position >= gap_bytes:
            return False
        byte = np.uint64(data[position])
        position += 1
        gap = byte & np.uint64(127)
        group = np.uint64(7)
        while byte >= np.uint64(128):
            if position >= gap_bytes or group >= np.uint64(64):
                return False
            byte = np.uint64(data[position])
            position += 1
            gap |= (byte & np.uint64(127)) << group
            group += np.uint64(7)
        previous += gap
        fields = np.uint64(0)
        for plane in range(planes):
            fields |= np.uint64(data[gap_bytes + plane * values + i]) << np.uint64(8 * plane)
        out[i] = (previous << shift) | fields
    return position == gap_bytes


def _is_plain(chunk: bytes | memoryview) -> bool:
    """Whether a Blosc2 chunk is compressed with zstd alone, by its header.

    Any other may be read in another way elsewhere, or make Blosc2 look for a plugin and load it. The header: versions
    (2 bytes), flags, bytes of a value, three sizes of 4 bytes, filters (6), codec and its setting, settings of the
    filters (6), nothing, further flags (c-blosc2, README_CHUNK_FORMAT.rst).
    """
    flags = chunk[2]
    return (
        flags & _FLAGS_THAT_MATTER == _FLAGS
        and (flags >> 5 == _ZSTD_FORMAT or (flags >> 5 == 0 and bool(flags & _COPIED)))
        and chunk[3] == 1
        and not any(chunk[16:22])
        and chunk[22] == _ZSTD
        and not any(chunk[23:32])
    )


def _forget_settings() -> None:
    """Take what would change the settings of Blosc2 out of the environment of this process.

    The library reads ``BLOSC_COMPRESSOR`` and its kin at every call, and prefers them to what the program asks for.
    """
    for name in os.environ:
        if name.startswith("BLOSC_"):
            os.environ.pop(name, None)


@kernel
def _without_zeros_at_end(keys):
    size = keys.size
    while size > 0 and keys[size - 1] == np.uint64(0):
        size -= 1
    return size


def _scratch_bytes(size: int) -> NDArray[np.uint8]:
    """Memory of this thread, kept from call to call: new pages cost more than the coding does."""
    buffer: NDArray[np.uint8] | None = getattr(_scratch, "buffer", None)
    if buffer is None or buffer.size < size:
        buffer = np.empty(size, dtype=np.uint8)
        _scratch.buffer = buffer
    return buffer


def release_scratch() -> None:
    """Let go of the memory that threads keep; called while none of them codes."""
    global _scratch
    _scratch = threading.local()


def encode(keys: NDArray[np.uint64], field_bits: int) -> bytes:
    """Frame of an array of keys.

    Parameters
    ----------
    keys : ndarray of uint64, shape (n,)
        Ascending for a short frame; any content is restored exactly.
    field_bits : int
        0 to 32.

    Returns
    -------
    bytes

    Raises
    ------
    RuntimeError
        If Blosc2 makes something else of them than was asked for.
    """
    values = int(_without_zeros_at_end(keys))
    if values == 0:
        return HEADER.pack(FRAME_FORMAT, field_bits, 0, 0, 0, 0)
    keys = keys[:values]
    planes = (field_bits + 7) // 8
    scratch = _scratch_bytes(values * (LARGEST_GAP_BYTES + planes))
    gap_bytes = int(_split(keys, field_bits, planes, scratch))
    _forget_settings()
    chunk: bytes = blosc2.compress2(scratch[: gap_bytes + planes * values], **_COMPRESSION)
    if not _is_plain(chunk):
        raise RuntimeError("Blosc2 compresses in another way than it was asked to")
    return HEADER.pack(FRAME_FORMAT, field_bits, 0, values, gap_bytes, len(chunk)) + chunk


def decode(frame: bytes | memoryview, out: NDArray[np.uint64]) -> int:
    """Restore the keys of a frame.

    Parameters
    ----------
    frame : bytes-like
        From :func:`encode`.
    out : ndarray of uint64, shape (n,)
        Written; zeros behind the stored values.

    Returns
    -------
    int
        Number of values that the frame stores.

    Raises
    ------
    ValueError
        If the frame is damaged, of another format, or holds more than ``n`` values.
    """
    if len(frame) < HEADER.size:
        raise ValueError("frame ends within its header")
    frame_format, field_bits, unused, values, gap_bytes, size = HEADER.unpack_from(frame)
    if frame_format != FRAME_FORMAT:
        raise ValueError(f"frame of format {frame_format}, this program reads format {FRAME_FORMAT}")
    if len(frame) != HEADER.size + size:
        raise ValueError(f"frame of {len(frame)} bytes where its header says {HEADER.size + size}")
    if field_bits > MOST_FIELD_BITS or unused or (not values and (gap_bytes or size)):
        raise ValueError("frame whose header has no meaning")
    if values > out.size:
        raise ValueError(f"frame with {values} values where at most {out.size} are expected")
    if values:
        planes = (field_bits + 7) // 8
        if not values <= gap_bytes <= LARGEST_GAP_BYTES * values:
            raise ValueError(f"frame with {gap_bytes} bytes of gaps for {values} values")
        expected = gap_bytes + planes * values
        chunk = memoryview(frame)[HEADER.size :]
        # Blosc2 does not mind a destination of another size, and leaves the rest of it as it is.
        if size < SMALLEST_CHUNK or blosc2.get_cbuffer_sizes(chunk)[:2] != (expected, size):
            raise ValueError("frame whose chunk has another size than its header says")
        if not _is_plain(chunk):
            raise ValueError("frame whose chunk was compressed in another way than with zstd alone")
        scratch = _scratch_bytes(expected)[:expected]
        try:
            blosc2.decompress2(chunk, dst=scratch, nthreads=1)
        except (RuntimeError, ValueError, TypeError) as error:
            raise ValueError(f"Blosc2 cannot decompress the frame ({error})") from error
        if not _join(scratch, gap_bytes, field_bits, planes, values, out):
            raise ValueError("gaps do not end where the header says")
    out[values:] = 0
    return int(values)
