"""Running the command line: in this process, and as a user does."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cli.main import command_line
from tests.helpers import commands
from tests.helpers.commands import Process

ESCAPE = re.compile(r"\x1b")


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("PIPELINE_") or name in ("NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name)


@pytest.fixture
def run() -> Callable[..., Result]:
    """Run a command in this process. What is unforeseen is raised, not reported."""

    def invoke(*arguments: str, code: int | None = 0, **options: Any) -> Result:
        result = CliRunner().invoke(command_line, list(arguments), prog_name="pipeline", **options)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert code is None or result.exit_code == code, (result.stdout, result.stderr)
        assert not ESCAPE.search(result.output)
        return result

    return invoke


@pytest.fixture
def fails(run: Callable[..., Result]) -> Callable[..., str]:
    """Run a command that must fail with a code and one line, which is returned."""

    def invoke(code: int, *arguments: str, **options: Any) -> str:
        result = run(*arguments, code=code, **options)
        assert result.stderr.startswith("error: ")
        assert result.stderr.count("\n") == 1
        return result.stderr

    return invoke


@pytest.fixture
def process() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a command in a process of its own."""

    def invoke(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        return commands.run(*arguments, text=True, **options)

    return invoke


@pytest.fixture
def start() -> Callable[..., subprocess.Popen[str]]:
    """Start a command in a process of its own."""

    def begin(*arguments: str, **options: Any) -> subprocess.Popen[str]:
        return Process(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)

    return begin
