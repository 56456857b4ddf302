"""Permutation groups: order, membership and ranks, by a chain of stabilisers (Schreier and Sims).

The group of level ``i`` fixes the points before ``i``; its *transversal* holds one element for each place to which it
can bring point ``i``. Every element is a product of one element of each transversal, in one way. Of all possible
transversals the one with the smallest image lists is taken, so that ranks depend on the group alone, and moves act on
few places of a rank (:mod:`pipeline.spaces.permutations.stages`).

A library (sympy) has such chains too; importing it takes longer than most of the searches that need one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

Elements = NDArray[np.uint8]

# Random elements make the chain complete before it is proven to be so, in nearly all groups.
SETTLED = 6
# Ranks are 64-bit integers. The order of a larger group is of interest for its message alone, unless it takes long.
LARGEST_ORDER = 2**63
QUICK_POINTS = 64


@dataclass
class Level:
    """The group that fixes all points before ``point``.

    Attributes
    ----------
    point : int
    orbit : ndarray of int64, shape (m,)
        Places where the group can bring the point, ascending.
    transversal, inverses : ndarray of uint8, shape (m, points)
        For each place of the orbit an element that brings the point there, and its inverse.
    index : ndarray of int64, shape (points,)
        Number of a place in the orbit, -1 if it is not there.
    """

    point: int
    orbit: NDArray[np.int64]
    transversal: Elements
    inverses: Elements
    index: NDArray[np.int64]

    @classmethod
    def of(cls, point: int, transversal: Elements) -> Level:
        """Put the elements of a transversal into order."""
        transversal = transversal[np.argsort(transversal[:, point])]
        orbit = transversal[:, point].astype(np.int64)
        index = np.full(transversal.shape[1], -1, dtype=np.int64)
        index[orbit] = np.arange(orbit.size)
        return cls(point, orbit, transversal, inverses_of(transversal), index)


def inverses_of(elements: Elements) -> Elements:
    """Inverse of each row."""
    result = np.empty_like(elements)
    np.put_along_axis(result, elements.astype(np.intp), np.arange(elements.shape[1], dtype=np.uint8)[None, :], axis=1)
    return result


def products(first: Elements, second: Elements) -> Elements:
    """Row by row, the permutation that takes ``i`` to ``first[second[i]]``."""
    return np.take_along_axis(first, second.astype(np.intp), axis=1)


class StabiliserChain:
    """The group that some permutations generate.

    Parameters
    ----------
    generators : ndarray of uint8, shape (m, points)
        Image lists.

    Attributes
    ----------
    points : int
    order : int
        Number of elements.
    exact : bool
        Whether the order is exact; that of a large group may be a lower bound, and then it has no ranks.
    levels : list of Level
        Those whose orbit has more than one place, by ascending point.
    """

    def __init__(self, generators: Elements) -> None:
        self.points = generators.shape[1]
        self._strong: list[list[Elements]] = [[] for _ in range(self.points)]
        self._all = [self._trivial(point) for point in range(self.points)]
        for generator in generators:
            self._extend(generator)
        if len(generators):
            self._guess(generators)
        self.exact = self.points <= QUICK_POINTS or self._found() < LARGEST_ORDER
        if self.exact:
            self._prove()
            self._choose_smallest()
        self.order = self._found()
        self.levels = [level for level in self._all if level.orbit.size > 1]

    def _trivial(self, point: int) -> Level:
        return Level.of(point, np.arange(self.points, dtype=np.uint8)[None, :])

    def _found(self) -> int:
        """How many elements the chain has so far."""
        return prod(level.orbit.size for level in self._all)

    @cached_property
    def radices(self) -> tuple[int, ...]:
        """Sizes of the orbits."""
        return tuple(level.orbit.size for level in self.levels)

    def _extend(self, element: Elements) -> bool:
        """Put an element into the chain, unless it is there; returns whether it was new."""
        residue = element
        for point, level in enumerate(self._all):
            number = level.index[residue[point]]
            if number < 0:
                self._add(residue, point)
                return True
            residue = level.inverses[number][residue]
        return False

    def _add(self, element: Elements, last: int) -> None:
        """Make an element that fixes the points before ``last`` a generator of the groups down to that level."""
        for point in range(last + 1):
            self._strong[point].append(element)
            level = self._all[point]
            reached = {int(place): level.transversal[number] for number, place in enumerate(level.orbit)}
            # Whatever was reached before is closed under the earlier generators.
            fresh = [place for place in (int(element[place]) for place in reached) if place not in reached]
            if not fresh:
                continue
            waiting = list(reached)
            while waiting:
                place = waiting.pop()
                for generator in self._strong[point]:
                    image = int(generator[place])
                    if image not in reached:
                        reached[image] = generator[reached[place]]
                        waiting.append(image)
            self._all[point] = Level.of(point, np.array(list(reached.values())))

    def _guess(self, generators: Elements) -> None:
        """Extend by random elements until several in a row are there already (product replacement)."""
        # The seed is fixed, and what is guessed is proven afterwards: the chain is the same whatever was drawn.
        random = np.random.default_rng(0)
        pool = [generators[number % len(generators)] for number in range(max(10, len(generators)))]
        element = pool[0]
        settled = -4 * len(pool)
        while settled < SETTLED:
            one, other = random.choice(len(pool), 2, replace=False)
            pool[one] = pool[one][pool[other]] if random.integers(2) else pool[other][pool[one]]
            element = element[pool[one]]
            settled = min(0, settled + 1) if self._extend(element) else settled + 1
            if self.points > QUICK_POINTS and self._found() >= LARGEST_ORDER:
                return

    def _prove(self) -> None:
        """Make sure that all products that must lie in a smaller group do (Schreier's lemma), or extend the chain."""
        point = self.points - 1
        while point >= 0:
            for residue in self._missing(point):
                if self._extend(residue):
                    # It fixes the points up to this one, so only deeper levels have to be looked at again.
                    point = self.points
                    break
            point -= 1

    def _missing(self, point: int) -> Iterator[Elements]:
        """Elements of the group of a level that the chain does not have."""
        level = self._all[point]
        for generator in self._strong[point]:
            moved = generator[level.transversal]
            schreier = products(level.inverses[level.index[moved[:, point]]], moved)
            yield from schreier[self._sift(schreier, point + 1) < 0]

    def _sift(self, elements: Elements, first: int) -> NDArray[np.int64]:
        """For elements that fix the points before ``first`` 0 if they are in the chain, otherwise -1."""
        result = np.zeros(len(elements), dtype=np.int64)
        rest = elements
        for point in range(first, self.points):
            level = self._all[point]
            number = level.index[rest[:, point]]
            result[number < 0] = -1
            if level.orbit.size > 1:
                rest = products(level.inverses[number], rest)
        return result

    def _choose_smallest(self) -> None:
        """Replace every element of a transversal by the smallest that does the same with the level's point."""
        for point in range(self.points - 2, -1, -1):
            chosen = self._all[point].transversal
            if len(chosen) == 1:
                continue
            for level in self._all[point + 1 :]:
                if level.orbit.size > 1:
                    number = np.argmin(chosen[:, level.orbit], axis=1)
                    chosen = products(chosen, level.transversal[number])
            self._all[point] = Level.of(point, chosen)

    def contain(self, elements: Elements) -> NDArray[np.bool_]:
        """Whether permutations are elements of the group.

        Parameters
        ----------
        elements : ndarray of uint8, shape (m, points)

        Returns
        -------
        ndarray of bool, shape (m,)
        """
        return np.asarray(self._sift(elements, 0) == 0)

    def ranks(self, elements: Elements, first: int = 0) -> NDArray[np.int64]:
        """Ranks of elements within the group of a level.

        Parameters
        ----------
        elements : ndarray of uint8, shape (m, points)
            Elements of the group of ``levels[first]``, whose order is less than 2^63.
        first : int

        Returns
        -------
        ndarray of int64, shape (m,)
            From 0; -1 for a permutation that is not of the group.
        """
        result = np.zeros(len(elements), dtype=np.int64)
        outside = np.zeros(len(elements), dtype=bool)
        rest = elements
        for level in self.levels[first:]:
            number = level.index[rest[:, level.point]]
            outside |= number < 0
            rest = products(level.inverses[number], rest)
            result = result * level.orbit.size + number
        outside |= (rest != np.arange(self.points, dtype=np.uint8)).any(axis=1)
        result[outside] = -1
        return result

    def elements(self, ranks: NDArray[np.int64], first: int = 0) -> Elements:
        """Elements with given ranks; the inverse of :meth:`ranks`."""
        rest = ranks
        result = np.tile(np.arange(self.points, dtype=np.uint8), (len(ranks), 1))
        for level in self.levels[first:][::-1]:
            result = products(level.transversal[rest % level.orbit.size], result)
            rest = rest // level.orbit.size
        return result
