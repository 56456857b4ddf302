"""Examples in docstrings and docs run in an empty directory."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def empty_directory_for_examples(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Change to a directory of its own before an example runs."""
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.chdir(tmp_path)
