"""Frames of keys: any array comes back, and damage is noticed."""

from __future__ import annotations

import tracemalloc

import blosc2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from storage.keys.gaps import FRAME_FORMAT, HEADER, decode, encode

Keys = NDArray[np.uint64]

anything = arrays(np.uint64, st.integers(0, 200), elements=st.integers(0, 2**64 - 1) | st.integers(0, 300))
ascending = anything.map(np.unique)
with_zeros = st.tuples(anything, st.integers(0, 50)).map(lambda pair: np.append(pair[0], np.zeros(pair[1], np.uint64)))
field_bits = st.integers(0, 32)
# Every refusal says what is wrong with the frame.
NAMED = r"frame|gaps"


def decoded(frame: bytes, size: int) -> Keys:
    """Keys of a frame, in memory that held something else before."""
    out = np.full(size, 0xDEADBEEF, dtype=np.uint64)
    decode(frame, out)
    return out


@given(anything | ascending | with_zeros, field_bits)
def test_round_trip(keys: Keys, bits: int) -> None:
    frame = encode(keys, bits)
    out = np.full(keys.size, 7, dtype=np.uint64)
    stored = decode(memoryview(frame), out)
    assert out.tolist() == keys.tolist()
    assert stored == len(np.trim_zeros(keys, "b"))


@given(anything, field_bits, st.integers(0, 100))
def test_zeros_at_the_end_take_no_space(keys: Keys, bits: int, zeros: int) -> None:
    padded = np.append(keys, np.zeros(zeros, dtype=np.uint64))
    assert encode(padded, bits) == encode(keys, bits)
    assert decoded(encode(keys, bits), padded.size).tolist() == padded.tolist()


@pytest.mark.parametrize("bits", [0, 4, 9, 32])
def test_largest_values(bits: int) -> None:
    keys = np.array([2**64 - 1, 0, 2**63, 1, 2**64 - 1], dtype=np.uint64)
    assert decoded(encode(keys, bits), 5).tolist() == keys.tolist()


def test_large_arrays() -> None:
    generator = np.random.default_rng(1)
    for bits in (0, 9, 17):
        keys = np.sort(generator.integers(0, 2**40, 300_000, dtype=np.uint64))
        assert np.array_equal(decoded(encode(keys, bits), keys.size), keys)
        generator.shuffle(keys)
        assert np.array_equal(decoded(encode(keys, bits), keys.size), keys)


def test_dense_keys_take_little_more_than_a_byte() -> None:
    keys = np.unique(np.random.default_rng(2).integers(0, 2**24, 2**20, dtype=np.uint64))
    assert len(encode(keys, 0)) < 1.1 * keys.size


def test_a_part_of_a_larger_array() -> None:
    """Arrays that are not contiguous survive too."""
    keys = np.arange(100, dtype=np.uint64)
    assert decoded(encode(keys[::3], 0), 34).tolist() == keys[::3].tolist()


@pytest.fixture(params=[0, 4, 9, 20])
def frame(request: pytest.FixtureRequest) -> bytes:
    """A frame of 60 keys."""
    keys = np.random.default_rng(3).integers(0, 2**50, 60, dtype=np.uint64)
    return encode(np.sort(keys), request.param)


def test_truncation_at_every_length(frame: bytes) -> None:
    for size in range(len(frame)):
        with pytest.raises(ValueError, match=NAMED):
            decoded(frame[:size], 60)


def test_bytes_behind_the_end(frame: bytes) -> None:
    with pytest.raises(ValueError, match="where its header says"):
        decoded(frame + b"\0", 60)


def test_flipped_bits_of_the_header(frame: bytes) -> None:
    """All are noticed but for field bits that leave the sizes as they are; the checksums around frames see those."""
    bits = frame[1]
    for place in range(HEADER.size):
        for bit in range(8):
            damaged = bytearray(frame)
            damaged[place] ^= 1 << bit
            changed = damaged[1]
            if place == 1 and changed <= 32 and -(-changed // 8) == -(-bits // 8):
                decoded(bytes(damaged), 60)
                continue
            with pytest.raises(ValueError, match=NAMED):
                decoded(bytes(damaged), 60)


def test_flipped_bits_of_the_content_never_crash(frame: bytes) -> None:
    for place in range(HEADER.size, len(frame)):
        damaged = bytearray(frame)
        damaged[place] ^= 0x10
        try:
            decoded(bytes(damaged), 60)
        except ValueError:
            continue


def test_a_frame_with_more_values_than_expected(frame: bytes) -> None:
    with pytest.raises(ValueError, match="60 values where at most 59"):
        decoded(frame, 59)


@given(st.binary(max_size=200))
def test_noise_is_refused(noise: bytes) -> None:
    out = np.zeros(20, dtype=np.uint64)
    try:
        assert decode(noise, out) == 0
    except ValueError:
        return
    assert noise[0] == 1


def test_an_empty_frame_with_a_tail_is_refused() -> None:
    empty = encode(np.zeros(5, dtype=np.uint64), 3)
    assert len(empty) == HEADER.size
    assert decoded(empty, 5).tolist() == [0] * 5
    with pytest.raises(ValueError, match="header has no meaning"):
        decoded(HEADER.pack(1, 3, 0, 0, 4, 0), 5)


# Every header of a chunk that may be read: the flags of one that is compressed and of a copy, blocks cut or not.
READABLE_FLAGS = {0b10010101, 0b10000101, 0b10010111, 0b10000111, 0b00010111, 0b00000111}


@pytest.mark.parametrize("size", [10, 5000])
def test_every_byte_of_the_header_of_a_chunk(size: int) -> None:
    """What is not plain zstd is refused before Blosc2 sees it; a short chunk is a copy, a long one is compressed."""
    frame = encode(np.arange(1, size + 1, dtype=np.uint64), 9)
    assert frame[HEADER.size + 2] in READABLE_FLAGS
    for place in (2, 3, *range(16, 32)):
        for value in set(range(256)) - {frame[HEADER.size + place]}:
            if place == 2 and value in READABLE_FLAGS:
                continue
            changed = bytearray(frame)
            changed[HEADER.size + place] = value
            with pytest.raises(ValueError, match=r"zstd alone|Blosc2 cannot|another size"):
                decoded(bytes(changed), size)


@pytest.mark.parametrize(
    "settings",
    [
        {"codec": blosc2.Codec.LZ4, "filters": [blosc2.Filter.SHUFFLE], "filters_meta": [0], "typesize": 8},
        {"codec": blosc2.Codec.ZLIB, "filters": [blosc2.Filter.BITSHUFFLE], "filters_meta": [0], "typesize": 8},
        {"codec": blosc2.Codec.ZSTD, "filters": [blosc2.Filter.DELTA], "filters_meta": [0], "typesize": 1},
        {"codec": blosc2.Codec.LZ4HC, "filters": [blosc2.Filter.NOFILTER], "filters_meta": [0], "typesize": 1},
        {"codec": blosc2.Codec.BLOSCLZ, "filters": [blosc2.Filter.NOFILTER], "filters_meta": [0], "typesize": 1},
        {"codec": blosc2.Codec.ZSTD, "filters": [blosc2.Filter.NOFILTER], "filters_meta": [0], "typesize": 4},
    ],
)
def test_chunks_that_were_compressed_in_another_way(settings: dict[str, object]) -> None:
    """They hold the right bytes, and are refused all the same."""
    gaps = np.ones(5000, dtype=np.uint8)
    chunk = blosc2.compress2(gaps, clevel=1, nthreads=1, **settings)
    assert np.array_equal(np.frombuffer(blosc2.decompress2(chunk), dtype=np.uint8), gaps)
    with pytest.raises(ValueError, match="zstd alone"):
        decoded(HEADER.pack(FRAME_FORMAT, 0, 0, gaps.size, gaps.size, len(chunk)) + chunk, gaps.size)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BLOSC_COMPRESSOR", "lz4"),
        ("BLOSC_COMPRESSOR", "nonsense"),
        ("BLOSC_CLEVEL", "9"),
        ("BLOSC_SHUFFLE", "BITSHUFFLE"),
        ("BLOSC_DELTA", "1"),
        ("BLOSC_TYPESIZE", "8"),
        ("BLOSC_SPLITMODE", "ALWAYS"),
        ("BLOSC_BLOCKSIZE", "128"),
        ("BLOSC_NTHREADS", "4"),
        ("BLOSC_NOLOCK", "1"),
        ("BLOSC_WHAT_COMES_NEXT", "1"),
    ],
)
def test_the_environment_does_not_reach_the_keys(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = np.cumsum(np.random.default_rng(4).integers(1, 300, 100_000, dtype=np.uint64))
    before = encode(keys, 9)
    monkeypatch.setenv(name, value)
    assert encode(keys, 9) == before
    monkeypatch.setenv(name, value)
    assert np.array_equal(decoded(before, keys.size), keys)


@pytest.mark.parametrize(("bits", "gap_bytes"), [(0, 2**31 - 100), (32, 2**30), (0, 51), (9, 4)])
def test_a_small_frame_that_would_unpack_to_gigabytes(bits: int, gap_bytes: int) -> None:
    """Its header and that of its chunk agree; no five values take so much, or so little."""
    size = gap_bytes + -(-bits // 8) * 5
    chunk = bytearray(blosc2.compress2(np.zeros(1000, dtype=np.uint8), clevel=1, typesize=1, nthreads=1))
    chunk[4:8] = size.to_bytes(4, "little")
    frame = HEADER.pack(FRAME_FORMAT, bits, 0, 5, gap_bytes, len(chunk)) + bytes(chunk)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="bytes of gaps"):
            decoded(frame, 5)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()
