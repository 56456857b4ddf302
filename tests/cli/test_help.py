"""Help: complete, and answered without the libraries that take long to import."""

from __future__ import annotations

import subprocess
import sys

import pytest

from cli.main import COMMANDS

PROBE = """
import sys
from click.testing import CliRunner
from cli.main import COMMANDS, command_line
for arguments in [["--help"], ["--version"], *([name, "--help"] for name in COMMANDS)]:
    assert CliRunner().invoke(command_line, arguments).exit_code == 0, arguments
slow = {"numba", "numpy", "zarr", "dask", "distributed", "pydantic", "rich"} & set(sys.modules)
assert not slow, slow
"""


def test_help_imports_nothing_slow():
    subprocess.run([sys.executable, "-c", PROBE], check=True, timeout=60)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_explained(run, name):
    text = run(name, "--help").stdout
    assert text.startswith(f"Usage: pipeline {name} ")
    assert run(name, "-h").stdout == text


def test_commands_are_listed_in_order(run):
    text = run("--help").stdout
    places = [text.index(f"\n  {name} ") for name in COMMANDS]
    assert places == sorted(places)


def test_without_a_command_help_is_shown_as_an_error(run):
    result = run(code=2)
    assert result.stdout == ""
    assert "Commands:" in result.stderr


def test_module_and_script_are_the_same(process):
    result = process("list", "--help")
    assert result.returncode == 0
    assert result.stdout.startswith("Usage: python -m cli list")
