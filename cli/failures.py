"""What a failure looks like from outside: one line on standard error, and an exit code."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import click
from click.core import ParameterSource

from cli.hints import message_of
from cli.start import INTERRUPTED
from storage.errors import InvalidInput, OutOfBudget, PipelineError

FAILED = 1
LONGEST_MESSAGE = 1000


class Ended(Exception):
    """The command has said what there is to say and ends with an exit code other than 0.

    Parameters
    ----------
    exit_code : int
    """

    def __init__(self, exit_code: int) -> None:
        super().__init__(exit_code)
        self.exit_code = exit_code


def one_line(text: str) -> str:
    """The text without line breaks, and with control characters (of file names, say) made visible."""
    joined = " ".join(text.split())
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in joined)


def report(message: str) -> None:
    """Write an error to standard error; of one that repeats very long input, the beginning and the end."""
    line = one_line(message)
    if len(line) > LONGEST_MESSAGE:
        line = f"{line[: LONGEST_MESSAGE // 2]} ... {line[-LONGEST_MESSAGE // 2 :]}"
    with suppress(OSError):
        click.echo(f"error: {line}", err=True)


def guarded(action: Callable[[], Any]) -> int:
    """Run an action; returns its exit code, having reported what went wrong."""
    try:
        _tolerate_any_text()
        try:
            result = action()
            sys.stdout.flush()
        except SystemExit as end:
            if end.code in (0, None):  # the script for the completion of a shell is written
                return 0
            # click leaves this way when a pipe is closed.
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE)) from None
    except PipelineError as error:
        report(str(error))
        return _flushed(error.exit_code)
    except Ended as end:
        return _flushed(end.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return InvalidInput.exit_code
    except click.ClickException as error:
        report(message_of(error) + _hint(error))
        return error.exit_code
    except (KeyboardInterrupt, click.Abort) as error:
        if isinstance(error.__cause__, EOFError):  # click takes this for a Ctrl-D
            raise error.__cause__ from None
        report("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever reads our output has seen enough.
        _let_go_of_output()
        return FAILED
    except OSError as error:
        place = error.filename if error.filename is not None else "reading or writing failed"
        report(f"{place}: {error.strerror or error}")
        _let_go_of_output()
        return FAILED
    except MemoryError:
        report("the memory of the machine does not suffice; give less with --memory")
        return OutOfBudget.exit_code
    return result if isinstance(result, int) else 0


def _hint(error: click.ClickException) -> str:
    """Where a usage error comes from, or where to read on."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is None:
        return ""
    name = error.param.name if isinstance(error, click.BadParameter) and error.param is not None else None
    if name is not None and context.get_parameter_source(name) is ParameterSource.ENVIRONMENT:
        return f" (from the environment variable {context.auto_envvar_prefix}_{name.upper()})"
    return f" (see '{context.command_path} --help')"


def _flushed(code: int) -> int:
    try:
        sys.stdout.flush()
    except OSError:
        _let_go_of_output()
    return code


def _tolerate_any_text() -> None:
    """Show what the terminal's encoding lacks as a question mark."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def _let_go_of_output() -> None:
    """Keep the interpreter from complaining when it flushes what can no longer be written."""
    with suppress(OSError, ValueError, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.__stdout__.fileno())  # type: ignore[union-attr]
        os.close(null)
