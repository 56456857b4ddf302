"""Sorting keys by their digits, in place: as fast on every processor, whatever vector instructions it has.

Three steps, each on what fits the next smaller memory. Arrays larger than the scratch are cut by their highest digit
where they lie (the American flag sort of McIlroy, Bostic and McIlroy, "Engineering radix sort", 1993). What fits the
scratch is scattered there into pieces of about a thousand keys, and each piece is sorted back from its lowest digit
up, in the first-level cache.

Only bits in which the keys of a piece differ are looked at. Where keys are spread evenly, the highest of these bits put
them in order but for a few neighbours, and an insertion pass does the rest; where they come in clusters, as the
neighbours of neighbouring keys do, all digits are used.
"""

from __future__ import annotations

import numpy as np

from storage.compiler.kernel import kernel

# A piece has about 2**PIECE_BITS keys: twice that much in the first-level cache.
PIECE_BITS = 10
# Room for the counts of all digits of a piece: 8 digits of 9 bits, 7 of 10, or 2 of 12.
COUNTS = 1 << 13
# Room for the ends of the pieces.
ENDS = 1 << 10
# Most keys of a scratch: their pieces have ENDS ends at most.
LARGEST_SCRATCH = 1 << 18
# Fewer keys than this are inserted one by one.
FEW = 64
# Most bits of the digit that cuts what is larger than the scratch.
MOST_CUT_BITS = 8
# Of PAIRS neighbours in a piece sorted by its highest bits at most so many in the wrong order: insertion is fast.
PAIRS = 128
FEW_WRONG = 16
# Wider digits, and how many keys are worth their counts.
WIDER_DIGITS = ((9, 1 << 10), (10, 1 << 12))
# Typed arguments: numba compiles a function once more for every literal that it is called with.
ONE, BYTE, EVEN = np.int64(1), np.int64(8), np.bool_(True)


@kernel
def _differing_bits(keys):
    """Mask of the bits in which some keys differ."""
    some = np.uint64(0)
    every = ~np.uint64(0)
    for i in range(keys.size):
        some |= keys[i]
        every &= keys[i]
    return some ^ every


@kernel(inline="always")
def _bit_length(number):
    bits = 0
    while number:
        number >>= np.uint64(1)
        bits += 1
    return bits


@kernel
def _place_digits(bits, width, shifts):
    """Shifts of the digits that cover the set bits, lowest first; returns how many digits that are."""
    digits = 0
    shift = 0
    while shift < 64 and bits >> np.uint64(shift):
        while not (bits >> np.uint64(shift)) & np.uint64(1):
            shift += 1
        shifts[digits] = shift
        digits += 1
        shift += width
    return digits


@kernel
def _count(keys, shifts, digits, width, counts):
    """How often each value of some digits occurs, three digits in a pass over the keys."""
    size = np.uint64(1) << np.uint64(width)
    mask = size - np.uint64(1)
    one = np.uint32(1)
    counts[: digits << width] = 0
    first = 0
    while first < digits:
        row = np.uint64(first) << np.uint64(width)
        shift = np.uint64(shifts[first])
        if digits - first >= 3:
            next_row, next_shift = row + size, np.uint64(shifts[first + 1])
            last_row, last_shift = next_row + size, np.uint64(shifts[first + 2])
            for i in range(keys.size):
                key = keys[i]
                counts[row + ((key >> shift) & mask)] += one
                counts[next_row + ((key >> next_shift) & mask)] += one
                counts[last_row + ((key >> last_shift) & mask)] += one
            first += 3
        elif digits - first == 2:
            next_row, next_shift = row + size, np.uint64(shifts[first + 1])
            for i in range(keys.size):
                key = keys[i]
                counts[row + ((key >> shift) & mask)] += one
                counts[next_row + ((key >> next_shift) & mask)] += one
            first += 2
        else:
            for i in range(keys.size):
                counts[row + ((keys[i] >> shift) & mask)] += one
            first += 1


@kernel
def _scatter(keys, out, shift, mask, row, counts):
    """Copy keys in the order of one digit; its counts become the ends of the values in ``out``."""
    place = np.uint32(0)
    for value in range(row, row + mask + np.uint64(1)):
        count = counts[value]
        counts[value] = place
        place += count
    for i in range(keys.size):
        key = keys[i]
        value = row + ((key >> shift) & mask)
        place = counts[value]
        out[place] = key
        counts[value] = place + np.uint32(1)


@kernel
def _distribute(keys, other, shifts, digits, width, counts):
    """Sort by some digits, lowest first, to and fro; returns whether the keys are in ``other`` at the end."""
    _count(keys, shifts, digits, width, counts)
    mask = (np.uint64(1) << np.uint64(width)) - np.uint64(1)
    moved = False
    for digit in range(digits):
        row = np.uint64(digit) << np.uint64(width)
        if moved:
            _scatter(other, keys, np.uint64(shifts[digit]), mask, row, counts)
        else:
            _scatter(keys, other, np.uint64(shifts[digit]), mask, row, counts)
        moved = not moved
    return moved


@kernel
def _insert(keys, out):
    """Sort keys that are nearly sorted from one array to another, which may be the same."""
    largest = np.uint64(0)
    for i in range(keys.size):
        key = keys[i]
        if key >= largest:
            out[i] = key
            largest = key
        else:
            place = i
            while place > 0 and out[place - 1] > key:
                out[place] = out[place - 1]
                place -= 1
            out[place] = key


@kernel
def _nearly_sorted(keys):
    wrong = 0
    for i in range(1, keys.size, max(1, keys.size // PAIRS)):
        wrong += keys[i] < keys[i - 1]
    return wrong <= FEW_WRONG


@kernel
def _sort_piece(keys, out, even, shifts, counts):
    """Sort a piece to ``out``; returns whether its keys were spread evenly, as ``even`` expects."""
    bits = _differing_bits(keys)
    if keys.size <= FEW or bits == 0:
        _insert(keys, out)
        return even
    length = _bit_length(bits)
    # Three bits more than places: most keys have a value of their own.
    wanted = _bit_length(np.uint64(keys.size)) + 3
    digits = 1 if wanted <= 8 else 2
    width = (wanted + digits - 1) // digits
    if even and length > digits * width + 4:
        for digit in range(digits):
            shifts[digit] = length - (digits - digit) * width
        if _distribute(keys, out, shifts, digits, width, counts):
            if _nearly_sorted(out):
                _insert(out, out)
                return True
            keys[:] = out
        elif _nearly_sorted(keys):
            _insert(keys, out)
            return True
    # Wider digits where that saves one, if there are keys enough to be worth the counts.
    width = BYTE
    digits = _place_digits(bits, width, shifts)
    for wider, least in WIDER_DIGITS:
        if keys.size >= least:
            fewer = _place_digits(bits, wider, shifts)
            if fewer < digits:
                width, digits = wider, fewer
    _place_digits(bits, width, shifts)
    if not _distribute(keys, out, shifts, digits, width, counts):
        out[:] = keys
    return False


@kernel
def _sort_small(keys, scratch, shifts, counts, ends):
    """Sort an array that fits the scratch."""
    other = scratch[: keys.size]
    bits = _differing_bits(keys)
    length = _bit_length(bits)
    cut = min(_bit_length(np.uint64(keys.size)) - PIECE_BITS, length)
    if cut <= 0:
        other[:] = keys
        _sort_piece(other, keys, EVEN, shifts, counts)
        return
    shifts[0] = length - cut
    _count(keys, shifts, ONE, cut, ends)
    _scatter(keys, other, np.uint64(length - cut), (np.uint64(1) << np.uint64(cut)) - np.uint64(1), np.uint64(0), ends)
    start = np.int64(0)
    even = True
    for piece in range(1 << cut):
        stop = np.int64(ends[piece])
        if start < stop:
            # Clusters are rarely alone; now and then another look.
            even = _sort_piece(other[start:stop], keys[start:stop], even or piece % 16 == 0, shifts, counts)
        start = stop


@kernel
def _cut(keys, shift, values, ends):
    """Order keys by one digit with so many values where they lie; ``ends`` receives the end of each value."""
    mask = np.uint64(values - 1)
    heads = np.zeros(values, dtype=np.int64)
    for i in range(keys.size):
        heads[(keys[i] >> shift) & mask] += 1
    place = 0
    for value in range(values):
        place += heads[value]
        heads[value] = place - heads[value]
        ends[value] = place
    for value in range(values):
        while heads[value] < ends[value]:
            key = keys[heads[value]]
            here = (key >> shift) & mask
            while here != np.uint64(value):
                place = heads[here]
                heads[here] = place + 1
                key, keys[place] = keys[place], key
                here = (key >> shift) & mask
            keys[heads[value]] = key
            heads[value] += 1


@kernel
def radix_sort(keys, scratch, counts, ends):
    """Sort keys in place.

    Parameters
    ----------
    keys : ndarray of uint64, shape (n,)
    scratch : ndarray of uint64, shape (m,)
        At least 1 and at most ``LARGEST_SCRATCH`` places.
    counts : ndarray of uint32, shape (COUNTS,)
    ends : ndarray of uint32, shape (ENDS,)
    """
    shifts = np.empty(8, dtype=np.int64)
    cuts = np.empty(1 << MOST_CUT_BITS, dtype=np.int64)
    # Parts that are still too large; they do not overlap, so there are never more.
    starts = np.empty(keys.size // scratch.size + 1, dtype=np.int64)
    stops = np.empty(keys.size // scratch.size + 1, dtype=np.int64)
    starts[0], stops[0] = 0, keys.size
    left = 1
    if keys.size <= scratch.size:
        left = 0
        _sort_small(keys, scratch, shifts, counts, ends)
    while left:
        left -= 1
        first = starts[left]
        part = keys[first : stops[left]]
        length = _bit_length(_differing_bits(part))
        if length == 0:
            continue
        # No more parts than it takes: each is written to at a place of its own.
        bits = min(_bit_length(np.uint64(part.size // scratch.size)) + 1, MOST_CUT_BITS, length)
        values = 1 << bits
        _cut(part, np.uint64(length - bits), values, cuts)
        start = np.int64(0)
        for value in range(values):
            stop = cuts[value]
            if stop - start > scratch.size:
                starts[left], stops[left] = first + start, first + stop
                left += 1
            elif stop - start > 1 and length > bits:
                _sort_small(part[start:stop], scratch, shifts, counts, ends)
            start = stop
