"""A digest of everything that a kernel is compiled from: its code, and what it takes from outside of itself.

numba turns other kernels that a kernel calls, and global numbers and arrays that it names, into parts of it. All of
these are followed here, so that a kernel that was compiled from something else is never taken for it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from sys import modules
from types import CodeType, ModuleType
from typing import Any

import numba
import numpy as np
from numba.core.dispatcher import Dispatcher

# What these give is known by its name; their versions are part of the key of the cache.
KNOWN_PACKAGES = {"builtins", "llvmlite", "math", "numba", "numpy", "operator", "_operator"}
PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic)


def stamp_of(dispatcher: Any) -> str:
    """Digest of a kernel, as hexadecimal digits.

    Raises
    ------
    TypeError
        If the kernel names an object of which it cannot be said what numba makes of it.
    """
    digest = hashlib.sha256()
    for piece in _pieces_of_kernel(dispatcher, set()):
        digest.update(piece.encode() if isinstance(piece, str) else piece)
        digest.update(b"\0")
    return digest.hexdigest()


def _pieces_of_kernel(dispatcher: Any, seen: set[int]) -> Iterator[str | bytes]:
    function = dispatcher.py_func
    yield f"kernel {function.__module__}.{function.__qualname__}"
    if id(dispatcher) in seen:
        return
    seen.add(id(dispatcher))
    yield repr(sorted((name, str(value)) for name, value in dispatcher.targetoptions.items()))
    yield repr(function.__defaults__)
    names: set[str] = set()
    yield from _pieces_of_code(function.__code__, names)
    for name in sorted(names & function.__globals__.keys()):
        yield f"global {name}"
        yield from _pieces_of_value(function.__globals__[name], name, function, seen)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield f"closure {name}"
        yield from _pieces_of_value(cell.cell_contents, name, function, seen)


def _pieces_of_code(code: CodeType, names: set[str]) -> Iterator[str | bytes]:
    """What a function does; the names that it mentions are collected."""
    names.update(code.co_names)
    yield code.co_code
    yield repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_flags))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _pieces_of_code(constant, names)
        elif isinstance(constant, frozenset):
            yield repr(sorted(map(repr, constant)))
        else:
            yield repr(constant)


def _pieces_of_value(value: Any, name: str, function: Any, seen: set[int]) -> Iterator[str | bytes]:
    if isinstance(value, Dispatcher):
        yield from _pieces_of_kernel(value, seen)
    elif isinstance(value, PLAIN):
        yield f"{type(value).__name__} {value!r}"
    elif isinstance(value, (tuple, list)):
        yield f"{type(value).__name__} of {len(value)}"
        for entry in value:
            yield from _pieces_of_value(entry, name, function, seen)
    elif isinstance(value, np.ndarray):
        yield f"array {value.dtype.str} {value.shape}"
        yield value.tobytes()
    elif isinstance(value, (np.dtype, numba.types.Type)):
        yield str(value)
    else:
        yield from _pieces_of_name(value, name, function)


def _pieces_of_name(value: Any, name: str, function: Any) -> Iterator[str | bytes]:
    """A module, class or plain function: by its name, and its file if its package is not one of the known ones."""
    module = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    if not isinstance(module, str):
        raise TypeError(
            f"the kernel {function.__qualname__} names {name}, of which it cannot be told whether it has changed "
            f"({type(value).__name__}); make it a number, a tuple, an array or a kernel"
        )
    yield f"{module} {getattr(value, '__qualname__', name)}"
    if module.split(".")[0] not in KNOWN_PACKAGES:
        yield _content_of(getattr(modules.get(module), "__file__", None))


@cache
def _content_of(file: str | None) -> bytes:
    try:
        return hashlib.sha256(Path(file).read_bytes()).digest() if file is not None else b""
    except OSError:
        return b""
