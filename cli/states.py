"""States as arguments, which may begin with a minus sign, or as lines of standard input."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import click

from cli.streams import note
from storage.errors import InvalidInput


class StateCommand(click.Command):
    """Takes an argument such as ``-3,2`` for a state, and other unknown options for what they are."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.context_settings = {**self.context_settings, "ignore_unknown_options": True}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        before_dashes = args[: args.index("--")] if "--" in args else list(args)
        rest = super().parse_args(ctx, args)
        states = ctx.params.get("states") or ctx.params.get("state") or ()
        for state in states:
            if state.startswith("-") and state in before_dashes and not re.match(r"-[0-9., ]", state):
                raise click.NoSuchOption(state.split("=")[0], ctx=ctx)
        return rest


def given_states(states: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each state, and how to name it in an error."""
    if states:
        for number, state in enumerate(states, start=1):
            yield (f"state {number}: " if len(states) > 1 else ""), state
        return
    stream = sys.stdin.buffer
    if stream.isatty():
        note("reading states from standard input, one a line")
    for number, line in enumerate(stream, start=1):
        try:
            text = line.decode().strip()
        except UnicodeDecodeError as error:
            raise InvalidInput(f"line {number}: byte {error.start + 1} is not UTF-8 text") from error
        if text:
            yield f"line {number}: ", text
