"""What a move does to the rank of a group element, as a few table look-ups.

An element is ``u[0] u[1] ... u[k]``, one factor from each transversal of the chain. A move multiplies from the left,
and ``w u[q] = u[w(q)] w'``: it brings the first factor to another one of the same transversal, and the element
``w' = u[w(q)]^-1 w u[q]`` of the next group is multiplied to the rest in the same way. The multipliers that occur at a
level are few, as a rule (those of a prefix reversal are prefix reversals of fewer places), so that the whole is a
machine with few states that reads the digits of a rank and writes those of another one.

Several levels together make a stage. A rank is the number of the stage's digits, most significant stage first; the
last stage, of few elements, has no state behind it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.spaces.permutations.chain import Elements, Level, StabiliserChain, products

# Entries of all tables; eight bytes each, four in the last stage.
MAX_ENTRIES = 6 << 20
# A row of the last stage stays in the first-level cache, all rows in the second.
LAST_ROW = 5040
LAST_ENTRIES = 1 << 19
MAX_STAGES = 6


class Stages(NamedTuple):
    """The tables of a group's moves.

    Attributes
    ----------
    radices : ndarray of int64, shape (stages,)
        How many values each stage's digit has.
    digits, states : ndarray of uint32
        New digit, and multiplier of the next stage, for each stage but the last: all tables in one array, each of shape
        (radix, multipliers).
    offsets, multipliers : ndarray of int64, shape (stages,)
        Where a stage's table begins, and how many multipliers it has.
    last : ndarray of uint16, shape (multipliers, radix)
        New digit of the last stage.
    """

    radices: NDArray[np.int64]
    digits: NDArray[np.uint32]
    states: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    multipliers: NDArray[np.int64]
    last: NDArray[np.uint16]


@dataclass(frozen=True)
class _Step:
    """One level: for each multiplier and place of the orbit (rows by columns) the new place and next multiplier."""

    digits: NDArray[np.int64]
    states: NDArray[np.int64]


def make_stages(chain: StabiliserChain, moves: Elements) -> Stages | None:
    """Tables of moves, or None if they would be too large.

    Parameters
    ----------
    chain : StabiliserChain
        Of a group of less than 2^63 elements, not trivial.
    moves : ndarray of uint8, shape (m, points)
        Elements that are multiplied from the left.
    """
    multipliers = [len(moves)]
    steps: list[_Step] = []
    current = moves
    for number, level in enumerate(chain.levels):
        if len(current) * level.orbit.size > MAX_ENTRIES:
            return None
        step, current = _step(chain, number, level, current)
        steps.append(step)
        multipliers.append(len(current))
    cuts = _choose_cuts(chain.radices, multipliers)
    return None if cuts is None else _tables(chain.radices, multipliers, steps, cuts)


def _step(chain: StabiliserChain, number: int, level: Level, multipliers: Elements) -> tuple[_Step, Elements]:
    size = level.orbit.size
    moved = multipliers[:, level.transversal].reshape(-1, chain.points)
    digits = level.index[moved[:, level.point]]
    rest = products(level.inverses[digits], moved)
    if number + 1 == len(chain.levels):
        states, following = np.zeros(len(rest), dtype=np.int64), rest[:1]
    else:
        ranks = chain.ranks(rest, number + 1)
        _, places, states = np.unique(ranks, return_index=True, return_inverse=True)
        following = rest[places]
    return _Step(digits.reshape(-1, size), states.reshape(-1, size)), following


def _choose_cuts(radices: tuple[int, ...], multipliers: list[int]) -> list[int] | None:
    """Levels at which the stages begin: as few stages as possible, and the smallest tables among those.

    Returns
    -------
    list of int or None
        From 0; None if no choice is small enough.
    """
    levels = len(radices)

    def entries(first: int, end: int) -> int:
        return multipliers[first] * prod(radices[first:end])

    best: dict[int, tuple[int, int, list[int]]] = {}
    for first in range(levels):
        last = prod(radices[first:])
        if last <= 1 << 16 and (entries(first, levels) <= LAST_ENTRIES or last <= LAST_ROW):
            best[first] = (1, entries(first, levels), [first])
    for first in range(levels - 1, -1, -1):
        for end in range(first + 1, levels):
            if end not in best:
                continue
            count, size, cuts = best[end]
            candidate = (count + 1, size + entries(first, end), [first, *cuts])
            fits = candidate[1] <= MAX_ENTRIES and candidate[0] <= MAX_STAGES
            if fits and (first not in best or candidate[:2] < best[first][:2]):
                best[first] = candidate
    if 0 in best and best[0][1] <= MAX_ENTRIES:
        return best[0][2]
    return None


def _tables(radices: tuple[int, ...], multipliers: list[int], steps: list[_Step], cuts: list[int]) -> Stages:
    ends = [*cuts[1:], len(radices)]
    digits: list[NDArray[np.uint32]] = []
    states: list[NDArray[np.uint32]] = []
    offsets = []
    for first, end in zip(cuts, ends, strict=True):
        stage = _joined(steps[first:end])
        offsets.append(sum(part.size for part in digits))
        digits.append(stage.digits.T.astype(np.uint32).ravel())
        states.append(stage.states.T.astype(np.uint32).ravel())
    last = digits.pop().reshape(-1, multipliers[cuts[-1]]).T.astype(np.uint16)
    states.pop()
    empty = [np.zeros(0, dtype=np.uint32)]
    return Stages(
        radices=np.array([prod(radices[first:end]) for first, end in zip(cuts, ends, strict=True)], dtype=np.int64),
        digits=np.concatenate(digits or empty),
        states=np.concatenate(states or empty),
        offsets=np.array(offsets, dtype=np.int64),
        multipliers=np.array([multipliers[cut] for cut in cuts], dtype=np.int64),
        last=np.ascontiguousarray(last),
    )


def _joined(steps: list[_Step]) -> _Step:
    """Several levels as one, whose digit is theirs in mixed radix."""
    whole = steps[0]
    for step in steps[1:]:
        size = step.digits.shape[1]
        digits = whole.digits[:, :, None] * size + step.digits[whole.states]
        states = step.states[whole.states]
        rows = len(whole.digits)
        whole = _Step(digits.reshape(rows, -1), states.reshape(rows, -1))
    return whole
