"""Standard output for data, standard error for notes; files that are written whole or not at all."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.failures import one_line
from storage.errors import InvalidInput, PipelineError

if TYPE_CHECKING:
    from rich.console import Console


def note(text: str) -> None:
    """Tell the user something on standard error. The work goes on if nobody listens any more."""
    try:
        click.echo(one_line(text), err=True)
    except OSError:
        return


def keep_libraries_quiet(verbose: bool) -> None:
    """A lost cluster is reported in one line; distributed would add its own tracebacks, which are for ``-v``."""
    if not verbose:
        logging.getLogger("distributed.client").addFilter(lambda record: False)


class _KernelNotes(logging.Handler):
    """Says once that kernels are compiled, and what the cache of kernels complains about."""

    def __init__(self) -> None:
        super().__init__()
        self.say: Callable[[str], None] = note
        self.said = False

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING:
            self.say(record.getMessage())
        elif not self.said:
            self.said = True
            self.say("compiling the kernels, which is done once for this version of the program")


_KERNEL_NOTES = _KernelNotes()


def tell_of_kernels() -> None:
    """Turn what the compiler of kernels logs into notes."""
    logger = logging.getLogger("frontier_pipeline.kernels")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    logger.addHandler(_KERNEL_NOTES)


@contextmanager
def notes_of_kernels(say: Callable[[str], None]) -> Iterator[None]:
    """While it lasts, a display says what there is to say of kernels."""
    _KERNEL_NOTES.say, _KERNEL_NOTES.said = say, False
    try:
        yield
    finally:
        _KERNEL_NOTES.say = note


class Forgiving:
    """A stream for a display, which is not worth a search: what cannot be written any more is left out.

    Parameters
    ----------
    stream : text stream
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write if somebody listens."""
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush if somebody listens."""
        with suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def console(stream: Any) -> Console:
    """A console of rich on a stream."""
    from rich.console import Console

    return Console(file=Forgiving(stream), highlight=False, markup=False, no_color=not colour_wanted())  # type: ignore[arg-type]


def print_json(document: Any) -> None:
    """Write a JSON document to standard output, on one line."""
    click.echo(json.dumps(document))


def is_fancy(stream: Any) -> bool:
    """Whether a stream is a terminal that can move its cursor."""
    return bool(stream.isatty()) and os.environ.get("TERM", "") not in ("", "dumb", "unknown")


def colour_wanted() -> bool:
    """Whether the user has nothing against colour (https://no-color.org)."""
    return not os.environ.get("NO_COLOR")


def check_output(path: Path | None) -> None:
    """Refuse a file that cannot be written, before anything is computed.

    Raises
    ------
    InvalidInput
    """
    if path is None or str(path) == "-":
        return
    if path.is_dir():
        raise InvalidInput(f"{path} is a directory", "give a file with --output")
    if not path.absolute().parent.is_dir():
        raise InvalidInput(f"there is no directory {path.absolute().parent}", "make it first")


def write_output(path: Path | None, data: bytes) -> None:
    """Write to a file, replacing it in one step, or to standard output if it is None or ``-``.

    Raises
    ------
    InvalidInput, PipelineError
    """
    if path is None or str(path) == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    check_output(path)
    try:
        if path.exists() and not path.is_file():
            # A pipe or a device is written to, not replaced.
            path.write_bytes(data)
            return
        # What a symbolic link leads to is replaced, not the link.
        final = Path(os.path.realpath(path))
        temporary = final.with_name(f"{final.name}.{os.getpid()}.partial")
        try:
            with open(temporary, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, final)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise PipelineError(f"{path} cannot be written ({error.strerror or error})") from error
