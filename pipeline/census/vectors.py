"""Bitmaps of windows as vectors of the processor: growing sets of cells, all words at a time.

Compiled from scalars, these loops run out of registers and take three to four times as long. So they are written in
LLVM's own terms, which have vectors of any number of words, whatever the processor has. Each function here is a loop
over steps or bitmaps, to be called from a kernel; :mod:`~pipeline.census.reach` says what it is for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from pipeline.census.windows import LARGE_RADIUS, SMALL_RADIUS

WORD = ir.IntType(64)
ALIGNMENT = 8  # of the words, as numpy promises


class _Code:
    """Writes instructions on bitmaps.

    Parameters
    ----------
    context, builder
        Of numba's code generation.
    radius : int
        Of the window: 15 or 31.
    """

    def __init__(self, context: Any, builder: Any, radius: int) -> None:
        self._context = context
        self.builder = builder
        self._row_bits = radius + 1
        self._words = self._row_bits**2 // 64
        self._kind = ir.VectorType(WORD, self._words)
        self.nothing = self._every(0)

    def _every(self, value: int) -> ir.Constant:
        return ir.Constant(self._kind, [value] * self._words)

    def words(self, kind: Any, array: Any) -> Any:
        """Where the words of an array start."""
        return self._context.make_array(kind)(self._context, self.builder, array).data

    def row_of(self, kind: Any, array: Any, row: Any) -> Any:
        """Where a row of an array of two dimensions starts."""
        view = self._context.make_array(kind)(self._context, self.builder, array)
        return self.builder.gep(view.data, [self.builder.mul(row, self.builder.extract_value(view.shape, 1))])

    def load(self, words: Any, number: Any) -> Any:
        """The bitmap with a number in an array of bitmaps."""
        place = self.builder.gep(words, [self.builder.mul(number, ir.Constant(number.type, self._words))])
        return self.builder.load(self.builder.bitcast(place, self._kind.as_pointer()), align=ALIGNMENT)

    def store(self, bitmap: Any, words: Any, number: Any) -> None:
        """Put a bitmap into an array of bitmaps."""
        place = self.builder.gep(words, [self.builder.mul(number, ir.Constant(number.type, self._words))])
        self.builder.store(bitmap, self.builder.bitcast(place, self._kind.as_pointer()), align=ALIGNMENT)

    def variable(self, bitmap: Any) -> Any:
        """A bitmap that changes, and what it is first."""
        place = cgutils.alloca_once(self.builder, self._kind)
        self.builder.store(bitmap, place)
        return place

    def cell(self, bit: Any) -> Any:
        """The bitmap of one cell."""
        numbers = ir.Constant(self._kind, list(range(self._words)))
        word = self._spread(self.builder.lshr(bit, ir.Constant(WORD, 6)))
        one = self._spread(self.builder.shl(ir.Constant(WORD, 1), self.builder.and_(bit, ir.Constant(WORD, 63))))
        return self.builder.select(self.builder.icmp_unsigned("==", numbers, word), one, self.nothing)

    def _spread(self, word: Any) -> Any:
        """A word in all places."""
        first = self.builder.insert_element(self.nothing, word, ir.Constant(ir.IntType(32), 0))
        return self.builder.shuffle_vector(first, self.nothing, self._places([0] * self._words))

    @staticmethod
    def _places(numbers: list[int]) -> ir.Constant:
        return ir.Constant(ir.VectorType(ir.IntType(32), len(numbers)), numbers)

    def grown(self, cells: Any, free: Any, to_odd: bool) -> Any:
        """The free cells one step from some: from even ones by 0, 1, a row or a row and 1 up, from odd ones down."""
        build = self.builder
        there, back = (build.shl, build.lshr) if to_odd else (build.lshr, build.shl)
        beside = build.or_(cells, there(cells, self._every(1)))
        carried = back(beside, self._every(64 - self._row_bits))
        order = [self._words, *range(self._words - 1)] if to_odd else [*range(1, self._words), self._words]
        carried = build.shuffle_vector(carried, self.nothing, self._places(order))
        return build.and_(build.or_(build.or_(beside, there(beside, self._every(self._row_bits))), carried), free)

    def any_of(self, bitmap: Any) -> Any:
        """Whether there is a cell in a bitmap."""
        words = self._words
        while words > 4:
            words //= 2
            halves = [self._places(list(range(first, first + words))) for first in (0, words)]
            bitmap = self.builder.or_(*(self.builder.shuffle_vector(bitmap, bitmap, half) for half in halves))
        kind = ir.IntType(64 * words)
        return self.builder.icmp_unsigned("!=", self.builder.bitcast(bitmap, kind), ir.Constant(kind, 0))

    def each_step(self, parity: Any, steps: Any, step: Callable[[Any, bool], None]) -> None:
        """Write ``step(t, to_odd)`` for t from 1 to ``steps``; step t leads to odd cells if parity + t is odd."""
        build = self.builder
        one = ir.Constant(WORD, 1)
        with cgutils.for_range_slice(build, one, build.add(steps, one), one) as (number, _):
            is_odd = build.trunc(build.add(parity, number), ir.IntType(1))
            with build.if_else(is_odd) as (odd, even):
                with odd:
                    step(number, True)
                with even:
                    step(number, False)

    def met(self, blocking: Any, joints: Any, count: Any, sets: Sequence[tuple[Any, Any]]) -> list[Any]:
        """For each of some sets, given as even and odd cells: a bit for each bend that has blocking cells in it."""
        build = self.builder
        found = [cgutils.alloca_once_value(build, ir.Constant(WORD, 0)) for _ in sets]
        with cgutils.for_range(build, count) as loop:
            row = build.shl(build.load(build.gep(joints, [loop.index])), ir.Constant(WORD, 1))
            blocking_even = self.load(blocking, row)
            blocking_odd = self.load(blocking, build.or_(row, ir.Constant(WORD, 1)))
            for place, (even, odd) in zip(found, sets, strict=True):
                common = build.or_(build.and_(even, blocking_even), build.and_(odd, blocking_odd))
                bit = build.shl(build.zext(self.any_of(common), WORD), loop.index)
                build.store(build.or_(build.load(place), bit), place)
        return [build.load(place) for place in found]


class _Flood:
    """A set of cells that grows, as two bitmaps that change."""

    def __init__(self, code: _Code, even: Any = None, odd: Any = None) -> None:
        self._code = code
        self._even = code.variable(even if even is not None else code.nothing)
        self._odd = code.variable(odd if odd is not None else code.nothing)

    def grow(self, free: tuple[Any, Any], to_odd: bool, more: Any = None) -> Any:
        """Add the free cells one step on, and some more; returns what there is of the parity that was added to."""
        build = self._code.builder
        here, there = (self._odd, self._even) if to_odd else (self._even, self._odd)
        cells = build.or_(build.load(here), self._code.grown(build.load(there), free[to_odd], to_odd))
        if more is not None:
            cells = build.or_(cells, more)
        build.store(cells, here)
        return cells

    def cells(self) -> tuple[Any, Any]:
        """The even and the odd ones."""
        return self._code.builder.load(self._even), self._code.builder.load(self._odd)


def _make_reach(radius: int) -> Any:
    """The function for a window of a radius."""

    @intrinsic
    def intrinsic_of(
        typing: Any,
        free: Any,
        blocking: Any,
        reached: Any,
        ends: Any,
        hits: Any,
        bit: Any,
        parity: Any,
        steps: Any,
        joints: Any,
        row: Any,
        count: Any,
    ) -> Any:
        """:func:`~pipeline.census.reach.reach` in a window of one radius, ``bit`` being that of the cell."""
        whole = types.int64
        signature = types.uint64(free, blocking, reached, ends, hits, whole, whole, whole, joints, whole, whole)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            code = _Code(context, builder, radius)
            free, blocking, reached, ends, hits = (
                code.words(kind, array) for kind, array in zip(signature.args[:5], arguments[:5], strict=True)
            )
            bit, parity, steps, joints, row, count = arguments[5:]
            numbers = [ir.Constant(WORD, number) for number in range(4)]
            zero, one = numbers[:2]
            room = code.load(free, zero), code.load(free, one)
            places = code.row_of(signature.args[8], joints, row)
            last = builder.select(builder.icmp_signed(">", count, zero), builder.sub(count, one), zero)
            start = code.cell(bit)
            starts_odd = builder.trunc(parity, ir.IntType(1))
            all_ways = _Flood(
                code, builder.select(starts_odd, code.nothing, start), builder.select(starts_odd, start, code.nothing)
            )
            code.store(start, reached, zero)
            behind = []
            for number in (zero, last):
                first = builder.shl(builder.load(builder.gep(places, [number])), one)
                cells = code.load(blocking, first), code.load(blocking, builder.or_(first, one))
                behind.append((_Flood(code), cells))

            def step(number: Any, to_odd: bool) -> None:
                cells = all_ways.grow(room, to_odd)
                code.store(cells, reached, number)
                for flood, visits in behind:
                    flood.grow(room, to_odd, builder.and_(cells, visits[to_odd]))

            code.each_step(parity, steps, step)
            sets = [flood.cells() for flood, _ in behind]
            for number, cells in zip(numbers, [*sets[0], *sets[1]], strict=True):
                code.store(cells, ends, number)
            met, *after = code.met(blocking, places, count, [all_ways.cells(), *sets])
            builder.store(after[0], hits)
            builder.store(after[1], builder.gep(hits, [last]))
            return met

        return signature, generate

    return intrinsic_of


def _make_reach_after(radius: int) -> Any:
    """The function for a window of a radius."""

    @intrinsic
    def intrinsic_of(
        typing: Any,
        free: Any,
        blocking: Any,
        joint: Any,
        reached: Any,
        parity: Any,
        steps: Any,
        joints: Any,
        row: Any,
        count: Any,
    ) -> Any:
        """:func:`~pipeline.census.reach.reach_after` in a window of one radius."""
        whole = types.int64
        signature = types.uint64(free, blocking, whole, reached, whole, whole, joints, whole, whole)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            code = _Code(context, builder, radius)
            free, blocking = (code.words(signature.args[place], arguments[place]) for place in (0, 1))
            reached = code.words(signature.args[3], arguments[3])
            joint = arguments[2]
            parity, steps, joints, row, count = arguments[4:]
            zero, one = ir.Constant(WORD, 0), ir.Constant(WORD, 1)
            room = code.load(free, zero), code.load(free, one)
            first = builder.shl(joint, one)
            visits = code.load(blocking, first), code.load(blocking, builder.or_(first, one))
            flood = _Flood(code)

            def step(number: Any, to_odd: bool) -> None:
                flood.grow(room, to_odd, builder.and_(code.load(reached, number), visits[to_odd]))

            code.each_step(parity, steps, step)
            places = code.row_of(signature.args[6], joints, row)
            return code.met(blocking, places, count, [flood.cells()])[0]

        return signature, generate

    return intrinsic_of


reach_small, reach_large = _make_reach(SMALL_RADIUS), _make_reach(LARGE_RADIUS)
reach_after_small, reach_after_large = _make_reach_after(SMALL_RADIUS), _make_reach_after(LARGE_RADIUS)


@intrinsic
def join_pair(typing: Any, joined: Any, bitmaps: Any, number: Any) -> Any:
    """Add the even and the odd bitmap, of radius 15, at a place in an array of such pairs to those in ``joined``."""
    signature = types.void(joined, bitmaps, types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = _Code(context, builder, SMALL_RADIUS)
        here, there = (code.words(signature.args[place], arguments[place]) for place in (0, 1))
        for half in range(2):
            place = ir.Constant(WORD, half)
            other = builder.or_(builder.shl(arguments[2], ir.Constant(WORD, 1)), place)
            code.store(builder.or_(code.load(here, place), code.load(there, other)), here, place)
        return context.get_dummy_value()

    return signature, generate
