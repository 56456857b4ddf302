"""A graph that is given by a function: the state space behind :meth:`pipeline.Search.of`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np
from numba.core import ir, types

from pipeline.spaces.contract import Expansion, Keys, StateSpace
from pipeline.spaces.parameters import NoParameters
from pipeline.spaces.source import source_of_function
from storage.errors import InvalidInput, PuzzleError

# Keys of scalar functions are signed: Python's integers and these make no float64.
KEY_BOUND = 1 << 63
ALL_DONE, NEGATIVE, TOO_MANY = 0, 1, 2


class FunctionSpace(StateSpace):
    """The graph of a function.

    Parameters
    ----------
    neighbours : callable
        ``(key, out) -> count`` for one key, a signed 64-bit integer: it writes the neighbours to ``out`` and returns
        how many there are; it is compiled with numba. With ``vectorised``, ``keys -> (neighbours, counts)``, see
        :meth:`StateSpace.neighbour_keys`.
    roots : sequence of int
    name : str
    max_neighbours : int
    vectorised : bool
    **claims
        Of :class:`StateSpace`: ``undirected``, ``bipartite``, ``key_count``, ``size``.

    Raises
    ------
    PuzzleError
        If numba cannot compile the function, or it computes a neighbour in floating point.
    """

    Parameters = NoParameters

    def __init__(
        self,
        neighbours: Callable[..., Any],
        roots: Sequence[int],
        name: str,
        max_neighbours: int,
        vectorised: bool = False,
        **claims: Any,
    ) -> None:
        self.parameters = NoParameters()
        self.name = name  # type: ignore[misc]
        self.max_neighbours = max_neighbours
        self._function = getattr(neighbours, "py_func", neighbours)
        self._vectorised = vectorised
        self._roots = _checked_roots(name, roots, 2**64 if vectorised else KEY_BOUND)
        self._driver: Any = None
        for claim, value in claims.items():
            setattr(self, claim, value)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_driver": None}

    def roots(self) -> Keys:
        return self._roots

    def source(self) -> str | None:
        return source_of_function(self._function)

    def neighbour_keys(self, keys: Keys) -> Any:
        return self._function(keys)

    def expand(self, keys: Keys, out: Keys, exhaustive: bool) -> Expansion:
        if self._vectorised:
            return super().expand(keys, out, exhaustive)
        if self._driver is None:
            self._driver = _driver_of(self.name, self._function)
        signed = keys.view(np.int64)
        consumed, written, end = self._driver(signed, out.view(np.int64), self.max_neighbours)
        if end == NEGATIVE:
            raise PuzzleError(
                f"a neighbour of {int(signed[consumed])} is {int(out[written].view(np.int64))}",
                "keys are 0 to 2**63 - 1",
            )
        if end == TOO_MANY:
            raise PuzzleError(
                f"the function says that {int(signed[consumed])} has {written} neighbours, and "
                f"{self.max_neighbours} are claimed"
            )
        return Expansion(consumed, written)


def _checked_roots(name: str, roots: Sequence[int], bound: int) -> Keys:
    """Roots in ascending order, each once."""
    try:
        numbers = sorted({int(root) for root in roots if int(root) == root})
    except (TypeError, ValueError):
        raise InvalidInput(f"the roots of {name} are {roots!r}", "give a list of keys, such as [0]") from None
    if not numbers or len(numbers) < len(set(roots)):
        raise InvalidInput(f"the roots of {name} are {list(roots)}", "give whole numbers, one at least")
    if numbers[0] < 0 or numbers[-1] >= bound:
        raise InvalidInput(f"{name} has the root {numbers[-1] if numbers[0] >= 0 else numbers[0]}", f"0 to {bound - 1}")
    return np.array(numbers, dtype=np.uint64)


def _driver_of(name: str, function: Callable[..., Any]) -> Any:
    """A compiled loop over keys that calls a function, which is compiled too."""
    # Writes behind the end of out become an exception instead of whatever they hit.
    compiled = numba.njit(nogil=True, boundscheck=True)(function)
    signature = (types.int64, types.int64[::1])
    try:
        compiled.compile(signature)
    except numba.core.errors.NumbaError as error:
        reason = " ".join(
            next((line for line in str(error).split("\n") if line.strip() and "pipeline" not in line), "?").split()
        )
        raise PuzzleError(
            f"the function of {name} cannot be compiled with numba ({reason})",
            "it takes a key and an array, and uses what numba knows; or give vectorised=True",
        ) from error
    _refuse_floats(name, compiled.overloads[signature])

    @numba.njit(nogil=True)
    def drive(keys, out, most):  # type: ignore[no-untyped-def]
        written = np.int64(0)
        for i in range(keys.size):
            if written + most > out.size:
                return i, written, ALL_DONE
            here = out[written : written + most]
            count = np.int64(compiled(keys[i], here))
            if count < 0 or count > most:
                return i, count, TOO_MANY
            for j in range(count):
                if here[j] < 0:
                    return i, written + j, NEGATIVE
            written += count
        return keys.size, written, ALL_DONE

    return drive


def _refuse_floats(name: str, compiled: Any) -> None:
    """Look whether a neighbour or the count is a floating-point number, which has 53 bits."""
    for statement, types_of in compiled.type_annotation.calltypes.items():
        if isinstance(statement, (ir.SetItem, ir.StaticSetItem)) and isinstance(types_of.args[-1], types.Float):
            raise PuzzleError(
                f"the function of {name} computes a neighbour in floating point (line {statement.loc.line})",
                "use // for division, and no unsigned integers of numpy: with signed ones they make float64",
            )
    if isinstance(compiled.signature.return_type, types.Float):
        raise PuzzleError(f"the function of {name} returns a floating-point number", "it returns how many it wrote")
