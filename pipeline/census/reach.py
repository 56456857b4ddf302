"""Which cells of a window a walk can still reach, and whether that suffices to block all open bends.

Sets of cells are grown step by step through free cells. Cells may be visited repeatedly, so this is more than what a
self-avoiding walk can reach, and only its converse is used: what cannot be reached so cannot be reached at all.

In a window of radius 15 a set is four words, held in registers; in one of radius 31 it is a row of sixteen.
"""

from __future__ import annotations

import numpy as np

from pipeline.census.windows import LARGE_RADIUS, SMALL_RADIUS, bit_of
from storage.compiler.kernel import kernel


@kernel(inline="always", counts_references=False)
def _up(cells, free):
    """The free odd cells one step from even cells, in a window of radius 15."""
    one, row, rest = np.uint64(1), np.uint64(16), np.uint64(48)
    a, b, c, d = cells
    a |= a << one
    b |= b << one
    c |= c << one
    d |= d << one
    return (
        (a | (a << row)) & free[0],
        (b | (b << row) | (a >> rest)) & free[1],
        (c | (c << row) | (b >> rest)) & free[2],
        (d | (d << row) | (c >> rest)) & free[3],
    )


@kernel(inline="always", counts_references=False)
def _down(cells, free):
    """The free even cells one step from odd cells, in a window of radius 15."""
    one, row, rest = np.uint64(1), np.uint64(16), np.uint64(48)
    a, b, c, d = cells
    a |= a >> one
    b |= b >> one
    c |= c >> one
    d |= d >> one
    return (
        (a | (a >> row) | (b << rest)) & free[0],
        (b | (b >> row) | (c << rest)) & free[1],
        (c | (c >> row) | (d << rest)) & free[2],
        (d | (d >> row)) & free[3],
    )


@kernel(inline="always", counts_references=False)
def _join(one, other):
    return one[0] | other[0], one[1] | other[1], one[2] | other[2], one[3] | other[3]


@kernel(inline="always", counts_references=False)
def _common(one, other):
    return one[0] & other[0], one[1] & other[1], one[2] & other[2], one[3] & other[3]


@kernel(counts_references=False)
def _four(bitmap, first, second):
    return bitmap[first, second, 0], bitmap[first, second, 1], bitmap[first, second, 2], bitmap[first, second, 3]


@kernel(counts_references=False)
def _met_small(blocking, joints, row, count, even, odd):
    """Which of the bends have blocking cells in a set; a bit for each."""
    met = np.uint64(0)
    for number in range(count):
        joint = joints[row, number]
        a, b, c, d = _join(_common(even, _four(blocking, joint, 0)), _common(odd, _four(blocking, joint, 1)))
        met |= np.uint64((a | b | c | d) != np.uint64(0)) << np.uint64(number)
    return met


@kernel(counts_references=False)
def _reach_small(free, blocking, reached, bit, parity, steps, joints, row, count):
    """:func:`_reach` in a window of radius 15."""
    nothing = np.uint64(0)
    free_even = free[0, 0], free[0, 1], free[0, 2], free[0, 3]
    free_odd = free[1, 0], free[1, 1], free[1, 2], free[1, 3]
    place = np.uint64(1) << np.uint64(bit & 63)
    word = bit >> 6
    start = (
        place if word == 0 else nothing,
        place if word == 1 else nothing,
        place if word == 2 else nothing,
        place if word == 3 else nothing,
    )
    even = odd = (nothing, nothing, nothing, nothing)
    if parity:
        odd = start
    else:
        even = start
    for word in range(4):
        reached[0, word] = start[word]
    for t in range(1, steps + 1):
        if (parity + t) & 1:
            odd = _join(odd, _up(even, free_odd))
            reached[t, 0], reached[t, 1], reached[t, 2], reached[t, 3] = odd
        else:
            even = _join(even, _down(odd, free_even))
            reached[t, 0], reached[t, 1], reached[t, 2], reached[t, 3] = even
    return _met_small(blocking, joints, row, count, even, odd)


@kernel(counts_references=False)
def _reach_after_small(free, blocking, joint, reached, parity, steps, joints, row, count):
    """:func:`_reach_after` in a window of radius 15."""
    nothing = np.uint64(0)
    free_even = free[0, 0], free[0, 1], free[0, 2], free[0, 3]
    free_odd = free[1, 0], free[1, 1], free[1, 2], free[1, 3]
    blocking_even, blocking_odd = _four(blocking, joint, 0), _four(blocking, joint, 1)
    even = odd = (nothing, nothing, nothing, nothing)
    for t in range(1, steps + 1):
        now = reached[t, 0], reached[t, 1], reached[t, 2], reached[t, 3]
        if (parity + t) & 1:
            odd = _join(_join(odd, _common(now, blocking_odd)), _up(even, free_odd))
        else:
            even = _join(_join(even, _common(now, blocking_even)), _down(odd, free_even))
    return _met_small(blocking, joints, row, count, even, odd)


@kernel(counts_references=False)
def _grow_large(cells, t, free, to_odd):
    """Row t: the free cells one step from row t - 1, and row t - 2, in a window of radius 31."""
    one, row = np.uint64(1), np.uint64(32)
    beside = np.uint64(0)
    if to_odd:
        for word in range(16):
            here = cells[t - 1, word]
            here |= here << one
            cells[t, word] = (here | (here << row) | (beside >> row)) & free[1, word]
            beside = here
    else:
        for word in range(15, -1, -1):
            here = cells[t - 1, word]
            here |= here >> one
            cells[t, word] = (here | (here >> row) | (beside << row)) & free[0, word]
            beside = here
    if t >= 2:
        for word in range(16):
            cells[t, word] |= cells[t - 2, word]


@kernel(counts_references=False)
def _met_large(blocking, joints, row, count, cells, parity, steps):
    """Which of the bends have blocking cells in the last two rows; a bit for each."""
    met = np.uint64(0)
    last = (parity + steps) & 1
    for number in range(count):
        joint = joints[row, number]
        common = np.uint64(0)
        for word in range(16):
            common |= cells[steps, word] & blocking[joint, last, word]
            common |= cells[steps - 1, word] & blocking[joint, 1 - last, word]
        met |= np.uint64(common != np.uint64(0)) << np.uint64(number)
    return met


@kernel(counts_references=False)
def _reach_large(free, blocking, reached, bit, parity, steps, joints, row, count):
    """:func:`_reach` in a window of radius 31."""
    for word in range(16):
        reached[0, word] = 0
    reached[0, bit >> 6] = np.uint64(1) << np.uint64(bit & 63)
    for t in range(1, steps + 1):
        _grow_large(reached, t, free, (parity + t) & 1 == 1)
    return _met_large(blocking, joints, row, count, reached, parity, steps)


@kernel(counts_references=False)
def _reach_after_large(free, blocking, joint, reached, after, parity, steps, joints, row, count):
    """:func:`_reach_after` in a window of radius 31."""
    for word in range(16):
        after[0, word] = 0
    for t in range(1, steps + 1):
        now = (parity + t) & 1
        _grow_large(after, t, free, now == 1)
        for word in range(16):
            after[t, word] |= reached[t, word] & blocking[joint, now, word]
    return _met_large(blocking, joints, row, count, after, parity, steps)


@kernel(counts_references=False)
def _reach_after(free, blocking, joint, reached, after, parity, steps, joints, row, count):
    """As :func:`reach`, of the ways that visit the blocking cells of a bend first."""
    if free.shape[1] == 4:
        return _reach_after_small(free, blocking, joint, reached, parity, steps, joints, row, count)
    return _reach_after_large(free, blocking, joint, reached, after, parity, steps, joints, row, count)


@kernel(counts_references=False)
def reach(free, blocking, reached, x, y, steps, joints, row, count):
    """Find what a walk can reach, and which open bends have blocking cells there.

    Parameters
    ----------
    free, blocking, reached : ndarray
        Of a :class:`~pipeline.census.windows.Window`. Row t of ``reached`` gets the cells of one parity that can be
        reached in t steps, or fewer by an even number.
    x, y : int64
        Where the walk stands, from the centre of the window.
    steps : int64
        Edges that are left; the cells within so many steps must be in the window.
    joints : ndarray of int64
        The open bends in one of its rows.
    row, count : int64
        Which row, and how many they are.

    Returns
    -------
    uint64
        A bit for each open bend.
    """
    bit = bit_of(x, y, SMALL_RADIUS if free.shape[1] == 4 else LARGE_RADIUS)
    if free.shape[1] == 4:
        return _reach_small(free, blocking, reached, bit, (x + y) & 1, steps, joints, row, count)
    return _reach_large(free, blocking, reached, bit, (x + y) & 1, steps, joints, row, count)


@kernel(counts_references=False)
def reaches(blocking, reached, joint, x, y, steps):
    """Whether one more bend has blocking cells among those that :func:`reach` found, ``steps`` being over 0."""
    last = (x + y + steps) & 1
    common = np.uint64(0)
    for word in range(reached.shape[1]):
        common |= reached[steps, word] & blocking[joint, last, word]
        common |= reached[steps - 1, word] & blocking[joint, 1 - last, word]
    return common != 0


@kernel(counts_references=False)
def pairs_fit(free, blocking, reached, after, hits, x, y, steps, joints, row, count):
    """Whether of two open bends always one can be blocked after the other; parameters as :func:`reach`.

    Only pairs with the oldest or the newest bend are looked at; the others cut hardly anything.
    """
    parity = (x + y) & 1
    known = np.uint64(0)
    one = np.uint64(1)
    fit = True
    for end in range(2):
        first = 0 if end == 0 else count - 1
        if not (known >> np.uint64(first)) & one:
            known |= one << np.uint64(first)
            hits[first] = _reach_after(
                free, blocking, joints[row, first], reached, after, parity, steps, joints, row, count
            )
        for second in range(count - 1, -1, -1):
            if (hits[first] >> np.uint64(second)) & one:
                continue
            if not (known >> np.uint64(second)) & one:
                known |= one << np.uint64(second)
                hits[second] = _reach_after(
                    free, blocking, joints[row, second], reached, after, parity, steps, joints, row, count
                )
            if not (hits[second] >> np.uint64(first)) & one:
                fit = False
                break
        if not fit:
            break
    return fit
