"""``@kernel``: a function over arrays that numba compiles when it is first called, and that is kept from then on.

Compiling takes seconds, during which an interpreter cannot answer a signal: the compiler runs in a thread of its own,
and whoever calls the kernel waits for it in a way that can be interrupted.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, cast, overload

import numba
from numba.core import config
from numba.core.compiler_lock import global_compiler_lock

from storage.compiler.cache import KernelCache
from storage.errors import InvalidInput

# numba decides the types, call by call.
Function = Callable[..., Any]

# What is compiled, and what the cache has to tell; the command line says it in its own way.
LOGGER = logging.getLogger("frontier_pipeline.kernels")
LOOK_SECONDS = 0.1


class _Here(threading.local):
    """What is so in one thread: whether it is the compiler's, and what is looked at while it waits for the compiler."""

    def __init__(self) -> None:
        self.compiles = False
        self.checks: list[Callable[[], None]] = []


_here = _Here()
_abandoned: list[threading.Thread] = []


@overload
def kernel(function: Function, /) -> Function: ...
@overload
def kernel(*, inline: str = ..., counts_references: bool = ...) -> Callable[[Function], Function]: ...
def kernel(function: Any = None, /, *, inline: str = "never", counts_references: bool = True) -> Any:
    """Compile a function when it is called; without the interpreter lock, and once for all processes to come.

    Parameters
    ----------
    function : callable
        Takes arrays and numbers.
    inline : {"never", "always"}
        Whether numba puts its body into the kernels that call it.
    counts_references : bool
        False for kernels that make no arrays: numba need not count references to those that it is given. The counting
        is atomic, at every call that is given an array. The flag is numba's own, for its helpers.

    Examples
    --------
    >>> import numpy as np
    >>> @kernel
    ... def largest(keys):
    ...     found = np.uint64(0)
    ...     for i in range(keys.size):
    ...         found = max(found, keys[i])
    ...     return found
    >>> int(largest(np.array([3, 7, 5], dtype=np.uint64)))
    7

    Raises
    ------
    InvalidInput
        If numba is told not to compile.
    """
    if function is None:
        return partial(kernel, inline=inline, counts_references=counts_references)
    options: dict[str, Any] = {"nogil": True, "inline": inline}
    if not counts_references:
        options["_nrt"] = False
    if config.DISABLE_JIT:
        # numba would hand back the plain function, and Python's numbers do not wrap at 64 bits.
        raise InvalidInput(
            "the kernels have to be compiled, and NUMBA_DISABLE_JIT is set", "take it out of the environment"
        )
    dispatcher = numba.njit(**options)(function)
    dispatcher._cache = KernelCache(dispatcher)
    dispatcher.compile = partial(_compile, dispatcher)
    return dispatcher


@contextmanager
def checked_while_compiling(check: Callable[[], None]) -> Iterator[None]:
    """Have ``check`` called now and then while this thread waits for a kernel; what it raises ends the wait.

    The compiler itself cannot be stopped; it goes on in its thread, see :func:`compiler_is_left_alone`.
    """
    _here.checks.append(check)
    try:
        yield
    finally:
        _here.checks.remove(check)


def compiler_is_left_alone() -> bool:
    """Whether the compiler is at work for somebody who does not wait any longer.

    The interpreter cannot be taken down beneath it: such a process has to end by ``os._exit``.
    """
    return any(thread.is_alive() for thread in _abandoned)


def _compile(dispatcher: Any, signature: Any) -> Any:
    """Compile or load a kernel for types of arguments, and wait for it."""
    compile_here = type(dispatcher).compile
    # A kernel that another one calls is compiled in the course of that one, by the thread that holds numba's lock.
    if _here.compiles or global_compiler_lock.is_locked():
        return compile_here(dispatcher, signature)
    outcome: list[Any] = []

    def work() -> None:
        _here.compiles = True
        try:
            outcome.extend((compile_here(dispatcher, signature), None))
        except BaseException as error:
            outcome.extend((None, error))

    thread = threading.Thread(target=work, name="compiler", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(LOOK_SECONDS)
            for check in _here.checks:
                check()
    except BaseException:
        _abandoned.append(thread)
        raise
    made, error = outcome
    if error is not None:
        raise cast(BaseException, error)
    return made
