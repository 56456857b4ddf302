"""The command ``pipeline``: its subcommands are imported when they are used, so that help is instant."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from cli.failures import guarded
from cli.hints import check_environment
from cli.resuming import ARGUMENTS
from cli.start import ctrl_c_interrupts, leave
from cli.streams import tell_of_kernels

# Modules below cli.commands, in the order of the help text.
COMMANDS = {
    "run": "run",
    "list": "list_jobs",
    "inspect": "inspect",
    "export": "export",
    "compare": "compare",
    "remove": "remove",
    "path": "path",
    "hardest": "hardest",
    "verify": "verify",
    "census": "census",
    "estimate": "estimate",
    "bench": "bench",
    "moves": "moves",
    "draw": "draw",
    "puzzles": "puzzles",
    "new-puzzle": "new_puzzle",
    "check-puzzle": "check_puzzle",
}


class CommandGroup(click.Group):
    """Finds its commands by name and turns every failure into one line and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"cli.commands.{COMMANDS[cmd_name]}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None and command is not None and not {"-h", "--help"} & set(rest) and not ctx.resilient_parsing:
            check_environment(command, name, COMMANDS)
        return name, command, rest

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[ARGUMENTS] = list(args)
        return super().parse_args(ctx, args)

    def main(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> int:
        def act() -> Any:
            ctrl_c_interrupts()
            tell_of_kernels()
            _forget_impossible_sizes()
            return super(CommandGroup, self).main(
                args, prog_name, complete_var, standalone_mode=False, windows_expand_args=windows_expand_args, **extra
            )

        code = guarded(act)
        if standalone_mode:
            gc.freeze()  # at the end of the process even less
            leave(code)
        return code


@click.command(
    cls=CommandGroup,
    no_args_is_help=True,
    context_settings={
        "auto_envvar_prefix": "PIPELINE",
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
    },
    epilog="Every option can also be given in the environment: PIPELINE_RUN_MEMORY=2GiB is 'run --memory 2GiB'. "
    "Exit codes are listed in docs/exit-codes.md.",
)
@click.version_option(package_name="frontier-pipeline", prog_name="pipeline")
def command_line() -> None:
    """Count the states of a puzzle by breadth-first search, level by level, on disk."""


def _forget_impossible_sizes() -> None:
    """A terminal of no columns, which some services claim to have, would get to see nothing."""
    for name in ("COLUMNS", "LINES"):
        if not os.environ.get(name, "1").isdigit() or int(os.environ.get(name, "1")) < 1:
            del os.environ[name]


def _open_standard_streams() -> None:
    """Give closed standard streams to the null device, before a file of a job gets one of their numbers."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        continue
    os.close(descriptor)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 (to the end of the process)


def entry() -> None:
    """Run the command line on the arguments of this process, and exit."""
    _open_standard_streams()
    # Imports make a million objects that stay. Looking for garbage among them takes a quarter of a short run.
    gc.set_threshold(200_000, 20, 20)
    command_line.main()
