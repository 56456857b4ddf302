"""What a user may have meant: names of options and of environment variables that are nearly right."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from difflib import get_close_matches

import click

from storage.errors import InvalidInput

# Variables of all commands, beside PIPELINE_COMMAND_OPTION.
COMMON_VARIABLES = {"PIPELINE_JOBS_DIR"}
NO_BOOLEAN = re.compile(r"is not a valid boolean.*", re.DOTALL)
# Programs of others may have variables that begin alike.
CLOSE = 0.85


def message_of(error: click.ClickException) -> str:
    """What is wrong with a command line, in words that help."""
    if isinstance(error, click.NoSuchOption) and error.ctx is not None:
        options = error.ctx.command.get_params(error.ctx)
        names = [name for option in options for name in (*option.opts, *option.secondary_opts) if name[:2] == "--"]
        error = click.NoSuchOption(error.option_name, possibilities=closest(error.option_name, names), ctx=error.ctx)
    text = error.format_message().rstrip(".")
    return NO_BOOLEAN.sub("is neither true nor false; write 1 or 0", text)


def closest(name: str, names: Iterable[str]) -> list[str]:
    """Options that a user may have meant, compared without their dashes: those are alike in all."""
    bare = {option.lstrip("-"): option for option in names}
    return [bare[found] for found in get_close_matches(name.lstrip("-"), bare, 1)]


def check_environment(command: click.Command, name: str, commands: Iterable[str]) -> None:
    """Refuse variables of this command that it does not know, and those that are nearly ones of any command.

    Raises
    ------
    InvalidInput
        With what may be meant.
    """
    prefix = _prefix(name)
    known = {prefix + option.name.upper() for option in command.params if option.name} | COMMON_VARIABLES
    prefixes = {_prefix(other) for other in commands}
    for variable in sorted(os.environ):
        if not variable.startswith("PIPELINE_") or variable in known:
            continue
        if variable.startswith(prefix):
            close = get_close_matches(variable, known, 1)
            remedy = f"did you mean {close[0]}?" if close else f"see 'pipeline {name} --help' for the options"
            raise InvalidInput(f"the environment variable {variable} is none of 'pipeline {name}'", remedy)
        if not any(variable.startswith(other) for other in prefixes):
            close = get_close_matches(variable, known, 1, CLOSE)
            if close:
                raise InvalidInput(f"the environment variable {variable} has no meaning", f"did you mean {close[0]}?")


def _prefix(command: str) -> str:
    return f"PIPELINE_{command.upper().replace('-', '_')}_"
