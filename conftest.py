"""Examples run in an empty directory. Kernels are compiled before several processes want them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.kernels import compile_all


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Before the workers of pytest-xdist start, if there are any."""
    if getattr(session.config.option, "numprocesses", None) and not hasattr(session.config, "workerinput"):
        compile_all()


@pytest.fixture(autouse=True)
def empty_directory_for_examples(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Change to a directory of its own before an example runs."""
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.chdir(tmp_path)
