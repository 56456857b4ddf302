"""Which source a puzzle is made of: a job is not resumed by a puzzle that has changed since."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

BUILT_IN = "pipeline.spaces."


def source_of_space(kind: type) -> str | None:
    """Digest of the source that a class of state spaces is made of.

    Returns
    -------
    str or None
        None for those of the program itself, whose keys have versions, and where there is no source.
    """
    if kind.__module__.startswith(BUILT_IN):
        return None
    module = sys.modules.get(kind.__module__)
    file = getattr(module, "__file__", None)
    if file is None:
        try:
            return _digest([inspect.getsource(kind).encode()])
        except (OSError, TypeError):
            return None
    path = Path(file)
    files = sorted(path.parent.rglob("*.py")) if getattr(module, "__package__", None) else [path]
    return _digest([_content(each) for each in files])


def source_of_function(function: Callable[..., Any]) -> str:
    """Digest of what a function is made of: its source, what it closes over, and its defaults."""
    try:
        source = inspect.getsource(function).encode()
    except (OSError, TypeError):
        source = function.__code__.co_code + repr(function.__code__.co_consts).encode()
    code = function.__code__
    globals_used = {name: function.__globals__.get(name) for name in code.co_names}
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    plain = [value for value in [*globals_used.values(), *cells] if isinstance(value, (int, float, str, tuple))]
    return _digest([source, repr(plain).encode(), repr(function.__defaults__).encode()])


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        # A dangling link, such as an editor's lock.
        return b""


def _digest(parts: list[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()[:16]
