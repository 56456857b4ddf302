"""``--config FILE``: a TOML file with defaults for the options of a command."""

from __future__ import annotations

import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from storage.errors import InvalidInput

PARAMETERS = "cli.config.parameters"
MOST_BYTES = 1 << 20
NOT_IN_FILES = {"help", "config", "parameter"}


def read_config(path: Path) -> dict[str, Any]:
    """Contents of a TOML file.

    Raises
    ------
    InvalidInput
    """
    try:
        with open(path, "rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise InvalidInput(f"{path} has more than {MOST_BYTES} bytes, too many for a configuration")
        return tomllib.loads(content.decode())
    except OSError as error:
        raise InvalidInput(f"the configuration {path} cannot be read ({error.strerror or error})") from error
    except RecursionError as error:
        raise InvalidInput(f"the configuration {path} is nested too deeply") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"the configuration {path} is not TOML: {error}") from error


def load_config(ctx: click.Context, param: click.Parameter, path: Path | None) -> Path | None:
    """Callback of the option: make the file's keys the defaults of the options, and keep its parameters.

    Raises
    ------
    InvalidInput
        With the name of the key and the file.
    """
    if path is None:
        return None
    document = read_config(path)
    parameters = document.pop("parameters", {})
    if not isinstance(parameters, dict):
        raise InvalidInput(f"'parameters' in {path} is not a table", "write it as [parameters]")
    ctx.meta[PARAMETERS] = {key: _parameter(key, value, path) for key, value in parameters.items()}
    options = {
        name.removeprefix("--"): option
        for option in ctx.command.params
        if option.name not in NOT_IN_FILES
        for name in option.opts
        if name.startswith("--")
    }
    defaults: dict[str, Any] = {}
    for key, value in document.items():
        option = options.get(key.replace("_", "-"))
        if option is None or option.name is None:
            close = get_close_matches(key.replace("_", "-"), options, 1)
            remedy = f"did you mean {close[0]!r}?" if close else f"the keys are {', '.join(options)} and [parameters]"
            raise InvalidInput(f"there is no key {key!r} in a configuration ({path})", remedy)
        defaults[option.name] = _checked(ctx, option, key, value, path)
    ctx.default_map = {**(ctx.default_map or {}), **defaults}
    return path


def _checked(ctx: click.Context, option: click.Parameter, key: str, value: Any, path: Path) -> Any:
    """The value, if the option takes it."""
    flag = isinstance(option, click.Option) and option.is_flag
    if flag != isinstance(value, bool) or not isinstance(value, (bool, int, str)):
        kind = "true or false" if flag else "a number or a text"
        raise InvalidInput(f"{key} in {path} is {value!r}; it takes {kind}")
    try:
        option.type_cast_value(ctx, value)
    except click.BadParameter as error:
        raise InvalidInput(f"{key} in {path}: {error.message}") from error
    return value


def _parameter(key: str, value: Any, path: Path) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise InvalidInput(f"the parameter {key} in {path} is {value!r}; it takes a number or a text")
    return str(value)


def config_option(function: Any) -> Any:
    """``--config FILE``."""
    return click.option(
        "--config",
        type=click.Path(path_type=Path),
        metavar="FILE",
        is_eager=True,
        callback=load_config,
        help="Take options from a TOML file; those on the command line and in the environment come first.",
    )(function)
