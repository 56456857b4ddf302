"""What numba has compiled, kept in files for the processes to come.

numba's own cache is keyed by the file of a function, so that it does not see a change of what the function takes from
other files; it believes files that a loss of power has cut; and it gives up where it finds no place. Here a file is
named after all that it was made from, carries a checksum, and is only ever a shortcut.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import config
from numba.core.compiler import CompileResult
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from storage.compiler.stamp import stamp_of

LOGGER = logging.getLogger("frontier_pipeline.kernels")
APPLICATION = "frontier-pipeline"
SUFFIX = ".kernel"
CHECKSUM_BYTES = 32
STAMP_DIGITS = 16


class KernelCache:
    """Cache of one kernel, in the shape that numba's dispatchers ask for.

    A file is ``<module>.<function>.<interpreter>-<stamp>-<machine and types>.kernel``: the checksum of the rest, then
    what numba pickles.

    Parameters
    ----------
    dispatcher : numba dispatcher
    """

    def __init__(self, dispatcher: Any) -> None:
        function = dispatcher.py_func
        self._dispatcher = dispatcher
        self.name = f"{function.__module__}.{function.__qualname__}".replace("<locals>", "_")
        self._source = Path(function.__code__.co_filename)

    @property
    def cache_path(self) -> str | None:
        """Directory of the files; None if there is no place for them."""
        directory = _directory_for(self._source.parent)
        return str(directory) if directory is not None else None

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The kernel compiled for types of arguments; None if it has to be compiled."""
        # What kernels that make arrays call. Numba's own cache has the whole of numba imported and registered first,
        # which takes longer than everything else here, and which only the compiler needs; it asks for it itself.
        rtsys.initialize(target_context)
        path = self._path(signature, target_context.codegen())
        made = self._read(path, target_context) if path is not None else None
        if made is None:
            LOGGER.info("compiling %s", self.name)
        return made

    def save_overload(self, signature: Any, made: CompileResult) -> None:
        """Keep a kernel, instead of those of the same name that were made from something else."""
        path = self._path(signature, made.codegen)
        if path is None or made.lifted or made.library.has_dynamic_globals:
            return
        payload = dumps(made._reduce())
        with suppress(OSError):  # a full disk, for example: it is compiled again next time
            _write(path, hashlib.sha256(payload).digest() + payload)
            stem, stamp, _ = path.name.rsplit("-", 2)
            for other in path.parent.glob(f"{stem}-*{SUFFIX}"):
                if not other.name.startswith(f"{stem}-{stamp}-"):
                    other.unlink(missing_ok=True)

    def enable(self) -> None:
        """It always is."""

    def disable(self) -> None:
        """It never is."""

    def flush(self) -> None:
        """Nothing is kept back."""

    def _path(self, signature: Any, codegen: Any) -> Path | None:
        directory = _directory_for(self._source.parent)
        if directory is None:
            return None
        settings = (config.OPT, config.BOUNDSCHECK, config.LOOP_VECTORIZE, config.SLP_VECTORIZE, config.ENABLE_AVX)
        versions = numba.__version__, np.__version__, sys.version_info[:3]
        key = repr((str(signature), codegen.magic_tuple(), [str(value) for value in settings], versions))
        stamp = stamp_of(self._dispatcher)[:STAMP_DIGITS]
        machine = hashlib.sha256(key.encode()).hexdigest()[:STAMP_DIGITS]
        return directory / f"{self.name}.{sys.implementation.cache_tag}-{stamp}-{machine}{SUFFIX}"

    def _read(self, path: Path, target_context: Any) -> Any:
        try:
            data = path.read_bytes()
        except OSError:
            return None
        payload = data[CHECKSUM_BYTES:]
        try:
            if not payload or hashlib.sha256(payload).digest() != data[:CHECKSUM_BYTES]:
                raise ValueError("the checksum differs")
            return CompileResult._rebuild(target_context, *pickle.loads(payload))
        except Exception as error:
            with suppress(OSError):
                path.unlink()
            LOGGER.warning("the compiled kernel %s is damaged (%s) and is compiled again", path, error)
            return None


def _write(path: Path, data: bytes) -> None:
    """Write a file whole or not at all; a loss of power may leave it damaged, which the checksum shows."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.", suffix=".partial")
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


@cache
def _directory_for(source: Path) -> Path | None:
    """The first place for the kernels of a directory of source that exists or can be made, and written to."""
    for directory in _places(source):
        try:
            directory.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=directory).close()
        except (OSError, RuntimeError):
            continue
        return directory
    _say_that_there_is_no_place()
    return None


def _places(source: Path) -> Iterator[Path]:
    """Where kernels may be kept: where the user says, else beside the source, else in the user's cache."""
    # Installations share these directories, each with one of its own.
    own = Path(APPLICATION) / hashlib.sha256(os.fsencode(source.absolute())).hexdigest()[:STAMP_DIGITS]
    if config.CACHE_DIR:
        yield Path(config.CACHE_DIR) / own
    if source.is_dir():
        yield source / "__pycache__"
    home = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    if home.is_absolute():
        yield home / own


@cache
def _say_that_there_is_no_place() -> None:
    LOGGER.warning(
        "there is no place to keep compiled kernels, so each process compiles them anew, which takes some time; let "
        "the environment variable NUMBA_CACHE_DIR name a directory that can be written to"
    )
