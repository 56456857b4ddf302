"""Commands that take states, which may begin with a minus sign."""

from __future__ import annotations

import re
from typing import Any

import click


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
