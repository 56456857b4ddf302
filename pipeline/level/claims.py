"""Claims of a state space, compared with its neighbours on a sample of each level.

Which levels have to be read to find what is new rests on what a puzzle says of its graph
(:mod:`pipeline.spaces.contract` and ``docs/proofs.md``). A sample cannot prove it; ``verify --deep`` looks at all of a
level. A claim that is false for many states, as wrong claims are, does not get past the first levels.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from pipeline.spaces.contract import Detection, Keys, StateSpace
from pipeline.spaces.guards import blaming, expand_checked
from storage.errors import FalseClaim, InvalidInput
from storage.jobs.level import Level

# Keys of a level whose neighbours' neighbours are looked at, and whose states are asked for theirs one by one.
SAMPLED_KEYS = 8
SAMPLED_STATES = 1
# Larger levels are sampled; of smaller ones all neighbours are compared with the level.
WHOLE_KEYS = 1 << 12
# Behind the places where neighbours are written; what is there must stay.
GUARD_PLACES = 16
GUARD = np.uint64(0xA5A5_5A5A_C3C3_3C3C)


class Claims:
    """Looks at samples of the levels of a search.

    Parameters
    ----------
    space : StateSpace
    """

    def __init__(self, space: StateSpace) -> None:
        self._space = space
        self._shift = np.uint64(space.layout.mask_bits)

    def check(self, frontier: Level, sample: Keys) -> None:
        """Compare the claims with a sample of a level that is about to be expanded.

        Parameters
        ----------
        frontier : Level
        sample : ndarray of uint64, shape (n,)
            Some of its keys.

        Raises
        ------
        FalseClaim
            With two states that disprove it.
        PuzzleError
        """
        if self._space.leaves_out:
            return
        depth = frontier.manifest.depth
        for key in sample[:: -(-sample.size // SAMPLED_KEYS)].tolist() if sample.size else ():
            self._check_key(key, depth)
        for key in sample[: SAMPLED_STATES if depth else sample.size].tolist():
            self._check_state(key)
        if self._space.bipartite and frontier.manifest.keys <= WHOLE_KEYS:
            self._check_parity(frontier)

    def neighbours(self, keys: Keys, exhaustive: bool = True) -> Keys:
        """All neighbours of a few keys.

        Raises
        ------
        FalseClaim
            If the space changes the keys, writes where it may not, or leaves keys out though there is room.
        """
        space = self._space
        room = keys.size * space.max_neighbours
        out = np.full(room + GUARD_PLACES, GUARD, dtype=np.uint64)
        given = keys.copy()
        step = expand_checked(space, given, out[:room], exhaustive)
        if not np.array_equal(given, keys):
            raise FalseClaim(f"the puzzle {space.name} changes the keys that it is given to expand")
        if (out[room:] != GUARD).any():
            raise FalseClaim(
                f"the puzzle {space.name} writes behind the end of the neighbours: a key has more than "
                f"max_neighbours = {space.max_neighbours} of them, such as {self._name(int(keys[0]))}"
            )
        if step.consumed < keys.size:
            raise FalseClaim(f"the puzzle {space.name} expands {step.consumed} of {keys.size} keys, with room for all")
        return out[: step.written]

    def _check_key(self, key: int, depth: int) -> None:
        space = self._space
        keys = np.array([key], dtype=np.uint64)
        own = np.uint64(key) >> self._shift
        written = self.neighbours(keys)
        self._check_range(key, written)
        if not space.undirected:
            return
        for neighbour in np.unique(written >> self._shift).tolist():
            if space.bipartite and neighbour == own:
                raise FalseClaim(
                    f"the puzzle {space.name} claims to be bipartite, and {self._name(key)} is its own neighbour",
                    "leave the claim out",
                )
            behind = self.neighbours(np.array([neighbour << int(self._shift)], dtype=np.uint64))
            if not (behind >> self._shift == own).any():
                raise FalseClaim(
                    f"the puzzle {space.name} claims to be undirected; a move leads from {self._name(key)} to "
                    f"{self._name(neighbour << int(self._shift))} and none leads back (depth {depth})",
                    "say undirected = False",
                )
        if space.detection is Detection.MASKS:
            self._check_masks(key, written)
        elif space.detection is Detection.ONE_SIDED:
            self._check_sides(key)

    def _check_range(self, key: int, written: Keys) -> None:
        places = self._space.places
        if places is None or not written.size:
            return
        mask_bits = self._space.layout.mask_bits
        for neighbour in written.tolist():
            bare = neighbour >> mask_bits << mask_bits
            place = places.place_of(bare, mask_bits)
            if place >= places.count or places.key_at(place, mask_bits) != bare:
                raise FalseClaim(
                    f"the puzzle {self._space.name} claims that its keys have places below {places.count}; the "
                    f"neighbour {self._name(neighbour)} of {self._name(key)} has none"
                )

    def _check_masks(self, key: int, written: Keys) -> None:
        """No neighbour, expanded with the mask that it was given, leads back."""
        own = np.uint64(key) >> self._shift
        for neighbour in written.tolist():
            onward = self.neighbours(np.array([neighbour], dtype=np.uint64), exhaustive=False)
            if (onward >> self._shift == own).any():
                raise FalseClaim(
                    f"the puzzle {self._space.name} claims detection MASKS, and from the neighbour "
                    f"{self._name(neighbour)} of {self._name(key)} its mask lets a move lead back"
                )

    def _check_sides(self, key: int) -> None:
        """The reverse of a move of one class is of the other class."""
        sides = self._sides(key)
        for side in (0, 1):
            for neighbour in sorted(sides[side]):
                if key not in self._sides(neighbour)[1 - side]:
                    raise FalseClaim(
                        f"the puzzle {self._space.name} claims detection ONE_SIDED, and the move from "
                        f"{self._name(key)} to {self._name(neighbour)} is of the same class as the one that leads back"
                    )

    def _sides(self, key: int) -> tuple[Counter[int], Counter[int]]:
        """Neighbours by the moves that one-sided expansion generates, and by those that it leaves out."""
        keys = np.array([key], dtype=np.uint64)
        forward = Counter(self.neighbours(keys, exhaustive=False).tolist())
        return forward, Counter(self.neighbours(keys).tolist()) - forward

    def _check_state(self, key: int) -> None:
        """What the space says of single states agrees with its kernel."""
        space = self._space
        bare = key >> int(self._shift) << int(self._shift)
        with blaming(space.name, f"while it described the key {key}"):
            try:
                state = space.state_of(bare)
            except NotImplementedError:
                return
            except InvalidInput as error:
                raise FalseClaim(
                    f"the puzzle {space.name} has no state for its own key {key} ({error.message})"
                ) from error
            again = space.key_of(state)
            if again != bare:
                raise FalseClaim(
                    f"the puzzle {space.name} gives the state of the key {bare} the key {again}: one key a state"
                )
            one_by_one = {space.key_of(neighbour) for neighbour in space.neighbours(state)}
        written = self.neighbours(np.array([key], dtype=np.uint64))
        at_once = {neighbour << int(self._shift) for neighbour in (written >> self._shift).tolist()}
        if at_once != one_by_one:
            other = min(at_once ^ one_by_one)
            which = "expand alone writes" if other in at_once else "neighbours alone has"
            raise FalseClaim(f"the puzzle {space.name}: {which} {self._name(other)}, a neighbour of {self._name(key)}")

    def _check_parity(self, frontier: Level) -> None:
        """No two states of a level are neighbours."""
        blocks = [block for partition in frontier.manifest.partitions for block in frontier.read(partition)]
        if not blocks:
            return
        keys = np.concatenate(blocks)
        written = self.neighbours(keys) >> self._shift
        inside = written[np.isin(written, keys >> self._shift)]
        if not inside.size:
            return
        one = int(inside[0])
        for key in keys.tolist():
            if (self.neighbours(np.array([key], dtype=np.uint64)) >> self._shift == one).any():
                raise FalseClaim(
                    f"the puzzle {self._space.name} claims to be bipartite, and {self._name(key)} and "
                    f"{self._name(one << int(self._shift))}, both at depth {frontier.manifest.depth}, are neighbours",
                    "leave the claim out",
                )

    def _name(self, key: int) -> str:
        """A state as people write it, as far as the space can."""
        bare = key >> int(self._shift) << int(self._shift)
        try:
            return f"{self._space.format(self._space.state_of(bare))} (key {key})"
        except Exception:
            return f"the key {key}"
