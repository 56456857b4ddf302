"""Finding states in the levels of a job."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pipeline.level.duplicates import mark_members
from pipeline.spaces.contract import Keys, State, StateSpace
from storage.errors import JobError
from storage.jobs.job import Job
from storage.jobs.level import Level

# Fewer keys than this are looked up one by one: each takes a chunk, not all chunks between the first and the last.
FEW_KEYS = 16


class Lookup:
    """The levels of a job, opened once.

    Parameters
    ----------
    space : StateSpace
    job : Job

    Attributes
    ----------
    deepest : int
        Depth of the deepest level that holds states; -1 if no level is done.
    complete : bool
        Whether all that can be reached is there.
    """

    def __init__(self, space: StateSpace, job: Job) -> None:
        self.space = space
        self.job = job
        manifests = job.manifests()
        self.deepest = max((manifest.depth for manifest in manifests if manifest.keys), default=-1)
        self.complete = bool(manifests) and not manifests[-1].keys
        self._levels = [job.level(manifest.depth) for manifest in manifests if manifest.keys]
        self._mask = (1 << space.layout.mask_bits) - 1

    def level(self, depth: int) -> Level:
        """A level whose states are on disk.

        Raises
        ------
        JobError
            If its states were deleted.
        """
        level = self._levels[depth]
        if not level.manifest.arrays_kept:
            missing = [found.manifest.depth for found in self._levels if not found.manifest.arrays_kept]
            places = f"depths {missing[0]} to {missing[-1]}" if len(missing) > 1 else f"depth {missing[0]}"
            raise JobError(
                f"the states of {places} of {self.job.path} were deleted by --keep frontier",
                "a path needs all levels: search again with --keep all",
            )
        return level

    def holds(self, depth: int, key: int) -> bool:
        """Whether the level of a depth has a key, whatever its move mask."""
        for _ in self.level(depth).read_range(key & ~self._mask, key | self._mask):
            return True
        return False

    def members(self, depth: int, keys: Keys) -> NDArray[np.bool_]:
        """Which of some keys the level of a depth has, whatever their move masks.

        Parameters
        ----------
        depth : int
        keys : ndarray of uint64, shape (n,)
            Ascending, one key a state.

        Returns
        -------
        ndarray of bool, shape (n,)
        """
        found = np.zeros(keys.size, dtype=np.bool_)
        if keys.size <= FEW_KEYS:
            found[:] = [self.holds(depth, key) for key in keys.tolist()]
        else:
            for block in self.level(depth).read_range(int(keys[0]) & ~self._mask, int(keys[-1]) | self._mask):
                mark_members(keys, block, self.space.layout.mask_bits, found)
        return found

    def depth_of(self, state: State) -> int | None:
        """Depth of a state (or one that is equivalent); None if it is in no level.

        Raises
        ------
        InvalidInput
            If the state cannot be of this space.
        JobError
            If it is in no level on disk, and the states of some were deleted.
        """
        key = self.space.key_of(state)
        kept = [depth for depth in self._likely() if self._levels[depth].manifest.arrays_kept]
        for depth in kept:
            if self.holds(depth, key):
                return depth
        for depth in range(len(self._levels)):
            self.level(depth)
        return None

    def _likely(self) -> Iterator[int]:
        """The depths, those of the largest levels first."""
        yield from sorted(range(len(self._levels)), key=lambda depth: -self._levels[depth].manifest.keys)
