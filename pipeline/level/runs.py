"""Merging sorted runs window by window: what is worked on stays in the processor's caches.

Runs lie one behind the other in one array. A window is the part of all runs below some key; sorting it is faster than
merging the runs key by key (the sort is vectorised), and sorting windows is faster than sorting the whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.level.duplicates import join_duplicates
from pipeline.level.sort import sort_keys
from pipeline.spaces.contract import Keys
from storage.compiler.kernel import kernel
from storage.errors import CorruptSpill
from storage.keys.spill_file import Piece
from storage.keys.spills import MemoryPiece


class Runs(NamedTuple):
    """Ascending runs ``keys[starts[i] : stops[i]]``."""

    keys: Keys
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]

    @property
    def total(self) -> int:
        """Number of keys in all runs."""
        return int((self.stops - self.starts).sum())


@kernel
def positions_below(keys, starts, stops, bound):
    """For each run the position of its first key that is at least ``bound``."""
    positions = np.empty(starts.size, dtype=np.int64)
    for run in range(starts.size):
        low, high = starts[run], stops[run]
        while low < high:
            middle = (low + high) >> 1
            if keys[middle] < bound:
                low = middle + 1
            else:
                high = middle
        positions[run] = low
    return positions


@kernel
def copy_runs(keys, starts, stops, out):
    """Copy all runs to ``out``, one behind the other."""
    filled = 0
    for run in range(starts.size):
        for position in range(starts[run], stops[run]):
            out[filled] = keys[position]
            filled += 1


def load_runs(pieces: Sequence[Piece], low: int | None, high: int | None, buffer: Keys) -> Runs:
    """Runs of the keys from ``low`` up to below ``high`` (None: no bound) of all pieces, in the buffer if need be."""
    starts = []
    stops = []
    filled = 0
    scratch = np.empty(0, dtype=np.uint64)
    for piece in pieces:
        if low is None and high is None:
            piece.read(buffer[filled : filled + piece.keys])
            size = piece.keys
        else:
            if scratch.size < piece.keys:
                scratch = np.empty(piece.keys, dtype=np.uint64)
            keys = scratch[: piece.keys]
            piece.read(keys)
            start = 0 if low is None else int(np.searchsorted(keys, np.uint64(low)))
            stop = keys.size if high is None else int(np.searchsorted(keys, np.uint64(high)))
            size = max(stop - start, 0)
            if filled + size > buffer.size:
                # Impossible with keys that ascend.
                raise CorruptSpill("the spills of a partition do not ascend", "remove them and resume the job", None)
            buffer[filled : filled + size] = keys[start : start + size]
        starts.append(filled)
        filled += size
        stops.append(filled)
    return Runs(buffer, np.array(starts, dtype=np.int64), np.array(stops, dtype=np.int64))


def runs_in_memory(pieces: Sequence[Piece]) -> Runs | None:
    """Runs of pieces that lie in one array already, without copying; None if they do not."""
    arena: Keys | None = None
    starts = []
    stops = []
    for piece in pieces:
        if not isinstance(piece, MemoryPiece) or (arena is not None and piece.arena is not arena):
            return None
        arena = piece.arena
        starts.append(piece.start)
        stops.append(piece.start + piece.keys)
    if arena is None:
        return None
    return Runs(arena, np.array(starts, dtype=np.int64), np.array(stops, dtype=np.int64))


def bounds_of(samples: Sequence[Keys], stride: int, most: int, mask_bits: int) -> list[int]:
    """Keys at which runs are cut so that the parts have about ``most / 2`` keys, and never more than ``most``.

    Parameters
    ----------
    samples : sequence of ndarray of uint64
        Every ``stride``-th key of each run. Between two neighbours of the sorted samples lie at most ``stride`` keys a
        run more than the samples say; ``stride`` is at most ``most / (4 * runs)``.
    stride, most : int
    mask_bits : int
        Keys that differ in these bits alone stay together.
    """
    points = np.sort(np.concatenate(samples))
    step = max(1, most // 2 // stride)
    mask = (1 << mask_bits) - 1
    return sorted({key & ~mask for key in points[step::step].tolist()})


def windows(runs: Runs, mask_bits: int, buffer: Keys) -> Iterator[tuple[Keys, int]]:
    """Keys of the runs in ascending windows, equal states joined.

    Yields
    ------
    keys : ndarray of uint64
        Valid until the next window.
    read : int
        Keys of the runs that it comes from.
    """
    starts = runs.starts
    bounds: list[int | None] = [None]
    if runs.total > buffer.size:
        stride = max(1, buffer.size // (4 * starts.size))
        samples = [runs.keys[start:stop:stride] for start, stop in zip(starts, runs.stops, strict=True)]
        bounds = [*bounds_of(samples, stride, buffer.size, mask_bits), None]
    for bound in bounds:
        stops = runs.stops
        if bound is not None:
            stops = positions_below(runs.keys, starts, runs.stops, np.uint64(bound))
        size = int((stops - starts).sum())
        if size > buffer.size:  # equal states that must not be parted
            buffer = np.empty(size, dtype=np.uint64)
        copy_runs(runs.keys, starts, stops, buffer)
        window = buffer[:size]
        sort_keys(window)
        yield window[: join_duplicates(window, mask_bits)], size
        starts = stops
