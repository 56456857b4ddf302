"""Tables with a place for every state that a space can have: where states lie densely, nothing needs to be sorted.

A place is one bit, or four where keys carry a move mask, and empty if all of them are 0. Setting a place twice is
finding a state twice; reading the places in order is sorting. Every worker has a table of its own, so that no two write
to the same word; they are read together.
"""

from __future__ import annotations

from queue import SimpleQueue

import numpy as np
from numpy.typing import NDArray

from pipeline.spaces.contract import Keys, Places
from storage.compiler.kernel import kernel
from storage.errors import InvalidInput

# Splitters lie at multiples of so many places, so that no word belongs to two partitions.
WORD_BITS = 64
MOST_MASK_BITS = 4
# Words that are looked at to know about how many keys a table holds.
COUNTED_WORDS = 1 << 16
# Words that are read together.
BLOCK_WORDS = 256


@kernel
def mark_places(keys, table, count, shift, low_bits, mask_bits):
    """Set the places of keys.

    Parameters
    ----------
    keys : ndarray of uint64, shape (n,)
    table : ndarray of uint64
    count, shift, low_bits : uint64
        See :class:`~pipeline.spaces.contract.Places`.
    mask_bits : uint64
        0, or 1 to 4 with none of the masks empty.

    Returns
    -------
    int
        Position of the first key that has no place, -1 if all have one.
    """
    one = np.uint64(1)
    low = (one << low_bits) - one
    mask = (one << mask_bits) - one
    unused = ((one << shift) - one) & ~((one << (mask_bits + low_bits)) - one)
    for i in range(keys.size):
        key = keys[i]
        place = ((key >> shift) << low_bits) | ((key >> mask_bits) & low)
        if place >= count or key & unused:
            return i
        if mask_bits == 0:
            table[place >> np.uint64(6)] |= one << (place & np.uint64(63))
        else:
            moves = key & mask
            if moves == 0:
                return i
            table[place >> np.uint64(4)] |= moves << ((place & np.uint64(15)) << np.uint64(2))
    return -1


@kernel
def clear_places(keys, tables, shift, low_bits, mask_bits):
    """Empty the places of keys in all tables; every key has one."""
    one = np.uint64(1)
    low = (one << low_bits) - one
    for i in range(keys.size):
        key = keys[i]
        place = ((key >> shift) << low_bits) | ((key >> mask_bits) & low)
        if mask_bits == 0:
            word = place >> np.uint64(6)
            kept = ~(one << (place & np.uint64(63)))
        else:
            word = place >> np.uint64(4)
            kept = ~(np.uint64(15) << ((place & np.uint64(15)) << np.uint64(2)))
        for table in range(tables.shape[0]):
            tables[table, word] &= kept


@kernel(inline="always")
def _bit_count(bits):
    """Set bits of a word, in the form that compilers turn into one instruction where there is one."""
    bits = bits - ((bits >> np.uint64(1)) & np.uint64(0x5555555555555555))
    bits = (bits & np.uint64(0x3333333333333333)) + ((bits >> np.uint64(2)) & np.uint64(0x3333333333333333))
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (bits * np.uint64(0x0101010101010101)) >> np.uint64(56)


@kernel
def count_places(tables, first, last, step, mask_bits):
    """How many keys some words of all tables together hold, looking at one word in ``step`` of them."""
    found = np.uint64(0)
    for word in range(first, last, step):
        bits = tables[0, word]
        for other in range(1, tables.shape[0]):
            bits |= tables[other, word]
        if mask_bits != 0:
            bits |= bits >> np.uint64(2)
            bits = (bits | bits >> np.uint64(1)) & np.uint64(0x1111111111111111)
        found += _bit_count(bits)
    return found * np.uint64(step)


@kernel
def _gather(tables, first, gathered):
    """What all tables together have in as many words as ``gathered`` holds; False if that is nothing."""
    some = np.uint64(0)
    row = tables[0, first : first + gathered.size]
    for i in range(gathered.size):
        gathered[i] = row[i]
        some |= row[i]
    for other in range(1, tables.shape[0]):
        row = tables[other, first : first + gathered.size]
        for i in range(gathered.size):
            gathered[i] |= row[i]
            some |= row[i]
    return some != 0


@kernel
def take_places(tables, first, last, out, shift, low_bits, mask_bits):
    """Write the keys that some words of all tables together hold in ascending order, and empty the words.

    ``out`` has at least 64 places.

    Returns
    -------
    word, written : int
        The first word that is left because ``out`` has no room for all that the next ones may hold, or ``last``; and
        keys written.
    """
    one = np.uint64(1)
    zero = np.uint64(0)
    low = (one << low_bits) - one
    most = 64 if mask_bits == 0 else 16
    block = min(BLOCK_WORDS, out.size // most)
    scratch = np.empty(block, dtype=np.uint64)
    written = 0
    while first < last:
        words = min(block, last - first)
        if written + words * most > out.size:
            break
        gathered = scratch[:words]
        if _gather(tables, first, gathered):
            tables[:, first : first + words] = 0
            for word in range(words):
                bits = gathered[word]
                if mask_bits == 0:
                    base = np.uint64(first + word) << np.uint64(6)
                    while bits:
                        place = base + _bit_count((bits & (zero - bits)) - one)
                        bits &= bits - one
                        out[written] = ((place >> low_bits) << shift) | (place & low)
                        written += 1
                else:
                    base = np.uint64(first + word) << np.uint64(4)
                    while bits:
                        here = _bit_count((bits & (zero - bits)) - one) & ~np.uint64(3)
                        moves = (bits >> here) & np.uint64(15)
                        bits ^= moves << here
                        place = base + (here >> np.uint64(2))
                        out[written] = ((place >> low_bits) << shift) | ((place & low) << mask_bits) | moves
                        written += 1
        first += words
    return first, written


def place_bits(mask_bits: int) -> int | None:
    """Bits of a place, or None if the mask is too wide for a table."""
    if mask_bits > MOST_MASK_BITS:
        return None
    return MOST_MASK_BITS if mask_bits else 1


def table_words(places: Places, mask_bits: int) -> int | None:
    """Words of 64 bits that a table takes, or None if there is none for such keys."""
    bits = place_bits(mask_bits)
    return None if bits is None else -(-places.count * bits // WORD_BITS)


def aligned(key: int, places: Places, mask_bits: int) -> int:
    """The largest key, at most the given one, that may begin a partition: its place begins a word."""
    place = places.place_of(key, mask_bits)
    return places.key_at(place - place % WORD_BITS, mask_bits)


class PlaceTables:
    """A table for each worker, all of them empty at first.

    Parameters
    ----------
    places : Places
    mask_bits : int
    tables : int
        As many as there are tasks at a time.
    """

    def __init__(self, places: Places, mask_bits: int, tables: int) -> None:
        words = table_words(places, mask_bits)
        assert words is not None
        self.places = places
        self.mask_bits = mask_bits
        self.words = words
        self._tables: NDArray[np.uint64] = np.zeros((tables, words), dtype=np.uint64)
        self._free: SimpleQueue[int] = SimpleQueue()
        for number in range(tables):
            self._free.put(number)
        self._shape = np.uint64(places.shift), np.uint64(places.low_bits), np.uint64(mask_bits)

    def borrow(self) -> int:
        """Number of a table that no other task writes to; waits for one if need be."""
        return self._free.get()

    def give_back(self, table: int) -> None:
        """Let others write to the table."""
        self._free.put(table)

    def mark(self, table: int, keys: Keys) -> None:
        """Set the places of keys in one of the tables.

        Raises
        ------
        InvalidInput
            If the space gave a key that has no place, or no move mask.
        """
        wrong = int(mark_places(keys, self._tables[table], np.uint64(self.places.count), *self._shape))
        if wrong >= 0:
            raise InvalidInput(
                f"the state space made the key {int(keys[wrong]):#x}, which is not among those that it said it has",
                "correct its places",
            )

    def word_of(self, key: int) -> int:
        """The word that begins with the place of a key."""
        bits = place_bits(self.mask_bits)
        assert bits is not None
        word, rest = divmod(self.places.place_of(key, self.mask_bits) * bits, WORD_BITS)
        assert rest == 0
        return word

    def keys_of(self, first: int, last: int) -> tuple[int, int]:
        """Smallest and largest key that the words from ``first`` to ``last`` may hold."""
        bits = place_bits(self.mask_bits)
        assert bits is not None
        in_word = WORD_BITS // bits
        low = self.places.key_at(first * in_word, self.mask_bits)
        high = self.places.key_at(last * in_word - 1, self.mask_bits)
        return low, high | ((1 << self.mask_bits) - 1)

    def count(self, first: int, last: int) -> int:
        """About how many keys some words hold; exact if they are few."""
        step = max(1, (last - first) // COUNTED_WORDS)
        return int(count_places(self._tables, first, last, step, self._shape[2]))

    def empty(self, first: int, last: int) -> None:
        """Forget what all tables have in some words."""
        self._tables[:, first:last] = 0

    def clear(self, keys: Keys) -> None:
        """Empty the places of keys."""
        clear_places(keys, self._tables, *self._shape)

    def take(self, first: int, last: int, out: Keys) -> tuple[int, int]:
        """Write the keys of some words to ``out``, ascending, and empty these words.

        Returns
        -------
        word, written : int
            The word to go on with, and keys written.
        """
        word, written = take_places(self._tables, first, last, out, *self._shape)
        return int(word), int(written)
