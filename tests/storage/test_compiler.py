"""Compiled kernels: kept, never taken for others, and compiled again if what is kept is damaged."""

from __future__ import annotations

import importlib
import logging
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numba
import numpy as np
import pytest

from storage.compiler.cache import KernelCache, _directory_for, _say_that_there_is_no_place
from storage.compiler.kernel import checked_while_compiling, compiler_is_left_alone, kernel
from storage.compiler.stamp import stamp_of
from storage.errors import InvalidInput
from storage.keys.digest import digest_of

KEYS = """
from storage.compiler.kernel import kernel

@kernel(inline="always")
def step(key):
    return key + 1

@kernel
def twice(key):
    return 2 * key
"""
SWING = "REACH = 100\nTABLE = (1, 2, 3)\n"
EXPANSION = """
from storage.compiler.kernel import kernel
from copied.keys import step, twice
from copied.swing import REACH, TABLE

@kernel
def expand(key):
    return step(key) + twice(key) + REACH + TABLE[1]
"""


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], ModuleType]]:
    """A package of kernels that take things from each other; call it to import it as a new process would."""
    package = tmp_path / "copied"
    package.mkdir()
    for name, text in (("__init__", ""), ("keys", KEYS), ("swing", SWING), ("expansion", EXPANSION)):
        (package / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # two edits in one second would pass unnoticed

    def forget() -> None:
        for name in [name for name in sys.modules if name.split(".")[0] == "copied"]:
            del sys.modules[name]

    def load() -> ModuleType:
        forget()
        importlib.invalidate_caches()
        return importlib.import_module("copied.expansion")

    yield load
    forget()


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def _kept(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "copied" / "__pycache__").glob("*.kernel"))


def _compiled(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Names of the kernels that have been compiled since this was asked last."""
    found = [record.args[0].rsplit(".", 1)[1] for record in caplog.records if record.levelno == logging.INFO]
    caplog.clear()
    return sorted(found)


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> pytest.LogCaptureFixture:
    """What the compiler says."""
    logger = logging.getLogger("frontier_pipeline.kernels")
    monkeypatch.setattr(logger, "propagate", True)
    caplog.set_level(logging.INFO, logger.name)
    return caplog


def test_what_an_edit_changes_is_compiled_again(
    copied: Callable[[], ModuleType], tmp_path: Path, log: pytest.LogCaptureFixture
) -> None:
    """An inlined kernel, a kernel that is called, a number and a tuple, each in another file than who uses it."""
    assert copied().expand(5) == 6 + 10 + 100 + 2
    assert _compiled(log) == ["expand", "twice"]
    assert copied().expand(5) == 118
    assert _compiled(log) == []
    number = len(_kept(tmp_path))
    edits = [
        ("keys", "key + 1", "key + 2", 119, ["expand"]),
        ("keys", "2 * key", "3 * key", 124, ["expand", "twice"]),
        ("swing", "REACH = 100", "REACH = 200", 224, ["expand"]),
        ("swing", "(1, 2, 3)", "(1, 7, 3)", 229, ["expand"]),
        ("expansion", "return step", "return 1000 + step", 1229, ["expand"]),
    ]
    for module, old, new, result, compiled in edits:
        _edit(tmp_path / "copied" / f"{module}.py", old, new)
        assert copied().expand(5) == result
        assert _compiled(log) == compiled
        # What was made from the old source is gone.
        assert len(_kept(tmp_path)) == number
        assert copied().expand(5) == result
        assert _compiled(log) == []


@pytest.mark.parametrize("content", [b"", b"x", "cut", "flipped", "another's"])
def test_a_damaged_file_is_made_again(
    content: bytes | str, copied: Callable[[], ModuleType], tmp_path: Path, log: pytest.LogCaptureFixture
) -> None:
    assert copied().expand(5) == 118
    (path,) = (path for path in _kept(tmp_path) if ".expand." in path.name)
    (other,) = (path for path in _kept(tmp_path) if ".twice." in path.name)
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    damaged = {"cut": whole[:-100], "flipped": bytes(flipped), "another's": b"\0" * 32 + other.read_bytes()[32:]}
    path.write_bytes(content if isinstance(content, bytes) else damaged[content])
    log.clear()
    assert copied().expand(5) == 118
    assert [record.levelname for record in log.records] == ["WARNING", "INFO"]
    assert "is damaged" in log.records[0].getMessage()
    assert str(path) in log.records[0].getMessage()
    log.clear()
    assert copied().expand(5) == 118
    assert log.records == []


def test_a_file_that_numba_cannot_read_is_made_again(
    copied: Callable[[], ModuleType], tmp_path: Path, log: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert copied().expand(5) == 118

    def fail(*_: object) -> None:
        raise EOFError

    with monkeypatch.context() as patch:
        patch.setattr("storage.compiler.cache.CompileResult._rebuild", fail)
        assert copied().expand(5) == 118
    assert "is damaged" in log.text
    log.clear()
    assert copied().expand(5) == 118
    assert log.records == []


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No directory beside the source, one in the user's cache."""
    (tmp_path / "copied").mkdir(exist_ok=True)
    (tmp_path / "copied" / "__pycache__").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    _directory_for.cache_clear()
    return tmp_path / "cache"


def test_the_users_cache_serves_where_the_source_cannot_be_written(
    copied: Callable[[], ModuleType], places: Path, log: pytest.LogCaptureFixture
) -> None:
    assert copied().expand(5) == 118
    assert {path.suffix for path in places.rglob("*") if path.is_file()} == {".kernel"}
    log.clear()
    assert copied().expand(5) == 118
    assert log.records == []


def test_without_any_place_kernels_are_compiled_all_the_same(
    copied: Callable[[], ModuleType], places: Path, log: pytest.LogCaptureFixture
) -> None:
    places.touch()
    _say_that_there_is_no_place.cache_clear()
    for _ in range(2):
        assert copied().expand(5) == 118
    assert [record.getMessage() for record in log.records if record.levelname == "WARNING"] == [
        "there is no place to keep compiled kernels, so each process compiles them anew, which takes some time; let "
        "the environment variable NUMBA_CACHE_DIR name a directory that can be written to"
    ]


def test_the_user_names_the_place(
    copied: Callable[[], ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "mine"))
    _directory_for.cache_clear()
    assert copied().expand(5) == 118
    assert len(list((tmp_path / "mine").rglob("*.kernel"))) == 2
    assert _kept(tmp_path) == []


def test_nothing_else_is_touched_in_the_directory(copied: Callable[[], ModuleType], tmp_path: Path) -> None:
    """Least of all what belongs to a kernel whose name begins alike."""
    directory = tmp_path / "copied" / "__pycache__"
    directory.mkdir()
    (directory / "copied.expansion.expand_more.cpython-311-0-0.kernel").write_bytes(b"x")
    (directory / "expansion.cpython-311.pyc").write_bytes(b"x")
    copied().expand(5)
    _edit(tmp_path / "copied" / "keys.py", "key + 1", "key + 2")
    copied().expand(5)
    assert (directory / "copied.expansion.expand_more.cpython-311-0-0.kernel").exists()
    assert (directory / "expansion.cpython-311.pyc").exists()


def test_a_wait_can_be_ended_and_the_kernel_is_there_later() -> None:
    @kernel
    def slow(keys):
        total = 0
        for key in keys:
            total += key
        return total

    def end() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError), checked_while_compiling(end):
        slow(np.arange(4))
    assert slow(np.arange(4)) == 6
    assert not compiler_is_left_alone()


def test_a_kernel_called_by_functions_of_others() -> None:
    """Compiled by the thread that compiles the other function, which holds numba's lock."""

    @numba.njit
    def others(keys):
        return digest_of(keys)

    keys = np.arange(5, dtype=np.uint64)
    assert others(keys) == digest_of(keys)


def test_errors_of_the_compiler_arrive() -> None:
    @kernel
    def wrong(keys):
        return keys.nothing_of_the_kind

    with pytest.raises(numba.TypingError):
        wrong(np.arange(3))


def test_kernels_are_compiled_or_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the compiler the arithmetic is another one."""
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    with pytest.raises(InvalidInput, match="NUMBA_DISABLE_JIT"):
        kernel(abs)


def test_what_a_stamp_cannot_follow_is_refused() -> None:
    state = object()

    @kernel
    def vague(key):
        return key if state is None else key + 1

    with pytest.raises(TypeError, match="vague names state"):
        stamp_of(vague)


def test_a_full_disk_only_costs_the_next_process(
    copied: Callable[[], ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert copied().expand(5) == 118
    assert [path for path in (tmp_path / "copied" / "__pycache__").iterdir() if path.suffix != ".pyc"] == []


def test_the_directory_may_go_while_the_process_runs(copied: Callable[[], ModuleType], tmp_path: Path) -> None:
    module = copied()
    assert isinstance(module.expand._cache, KernelCache)
    assert module.expand._cache.cache_path == str(tmp_path / "copied" / "__pycache__")
    shutil.rmtree(tmp_path / "copied" / "__pycache__")
    assert module.expand(5) == 118


def test_no_kernel_uses_the_cache_of_numba() -> None:
    root = Path(__file__).parents[2]
    for folder in ("pipeline", "storage"):
        for path in (root / folder).rglob("*.py"):
            # Functions that are given from Python are compiled without a cache.
            without_cache = path.parent.name == "compiler" or path.name == "functions.py"
            assert "njit" not in path.read_text() or without_cache, path
