"""Keys, neighbours, spills and bytes of levels that were not made yet, from those that were."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.estimate.lines import Line
from pipeline.level.forecast import TELLING_KEYS, UNKNOWN_KEY_BYTES
from pipeline.spaces.contract import Detection, StateSpace
from storage.records import Manifest

# Levels at the end of a search that a line is drawn through.
TELLING_LEVELS = 4
# Pieces of a level are a little sparser than the level.
SPARSE = 1.05
# Of the bytes of a key that a level with twice as many keys saves, far from those that were measured: 2 to 5 % on large
# levels of boards, next to nothing of snakes. Small levels promise more than large ones keep.
LARGE_LEVEL = 1 << 16
MOST_SAVED = 0.05
MOST_SAVED_OF_SMALL = 0.02
# Doublings of the keys for which what was measured is continued as it is, if it is not more than this.
NEAR = 3.0
MOST_SAVED_NEAR = 0.25


@dataclass(frozen=True)
class LevelRates:
    """A level to come.

    Attributes
    ----------
    keys, generated, spilled : float
        Keys stored, neighbours generated, and keys that are left of them for the merge.
    array_bytes, spill_bytes : float
        Of a key in the arrays, and in spills on the disk.
    """

    keys: float
    generated: float
    spilled: float
    array_bytes: float
    spill_bytes: float


class Rates:
    """Rates of a search, to be continued.

    Parameters
    ----------
    space : StateSpace
    manifests : sequence of Manifest
        Of the levels that were made, from depth 0 on, none of them empty.
    """

    def __init__(self, space: StateSpace, manifests: Sequence[Manifest]) -> None:
        telling = _telling(manifests)
        last = manifests[-1]
        self.states_per_key = last.states / last.keys
        self._most_neighbours = space.max_neighbours
        self._exhaustive = space.detection is Detection.LEVELS or last.exhaustive
        if not telling:
            self._bytes: _KeyBytes | None = None
            self._generated = Line(0.0, float(space.max_neighbours), 0.0)
            self._spilled, self._spill_bytes = 1.0, None
            return
        self._bytes = _KeyBytes(telling)
        frontiers = {manifest.depth + 1: manifest.keys for manifest in manifests}

        def neighbours(manifest: Manifest) -> float:
            return manifest.generated / (frontiers[manifest.depth] if self._exhaustive else manifest.keys)

        self._generated = Line.through([(manifest.depth, neighbours(manifest)) for manifest in telling])
        self._spilled = telling[-1].spilled / telling[-1].generated
        on_disk = [manifest for manifest in telling if manifest.peak_spill_bytes and manifest.spilled]
        self._spill_bytes = on_disk[-1].peak_spill_bytes / on_disk[-1].spilled if on_disk else None

    def level(self, depth: int, states: int, frontier: float) -> LevelRates:
        """A level with so many states, made from a frontier of so many keys."""
        keys = states / self.states_per_key
        array_bytes = UNKNOWN_KEY_BYTES if self._bytes is None else self._bytes.of(keys)
        each = max(0.0, self._generated.at(depth))
        generated = (frontier if self._exhaustive else keys) * each
        generated = min(max(generated, keys), frontier * self._most_neighbours)
        spilled = min(max(generated * self._spilled, keys), max(generated, keys))
        spill_bytes = array_bytes * SPARSE if self._spill_bytes is None else self._spill_bytes
        return LevelRates(keys, generated, spilled, array_bytes, spill_bytes)

    def repetition(self) -> float:
        """Keys spilled for each neighbour generated."""
        return self._spilled


def _telling(manifests: Sequence[Manifest]) -> list[Manifest]:
    """The levels that say what the next ones will be like: large ones, or the last two if there are not two of them."""
    generated = [manifest for manifest in manifests[1:] if manifest.generated]
    large = [manifest for manifest in generated if manifest.keys >= TELLING_KEYS]
    return large[-TELLING_LEVELS:] if len(large) > 1 else generated[-2:]


class _KeyBytes:
    """Bytes of a key in the arrays of a level: less, the denser the keys are."""

    def __init__(self, levels: Sequence[Manifest]) -> None:
        line = Line.through([(math.log2(level.keys), math.log(level.bytes / level.keys)) for level in levels])
        far = MOST_SAVED if levels[0].keys >= LARGE_LEVEL else MOST_SAVED_OF_SMALL
        self._start, self._height = line.start, line.height
        # Where denser keys seem to take more, chance has the say.
        self._near = min(0.0, max(line.slope, -MOST_SAVED_NEAR))
        self._far = max(self._near, -far)

    def of(self, keys: float) -> float:
        """Bytes of a key of a level with so many."""
        doublings = math.log2(max(keys, 1.0)) - self._start
        near = max(-NEAR, min(NEAR, doublings))
        return math.exp(self._height + self._near * near + self._far * (doublings - near))
