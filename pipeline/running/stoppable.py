"""A run that can be stopped, by a signal handler too, and goes on when it is run again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pipeline.running.executors import Executor
from pipeline.running.memory import available_workers
from pipeline.running.schedulers import make_executor
from pipeline.running.settings import Tls
from storage.compiler.kernel import checked_while_compiling


class StoppableRun:
    """Base of what runs tasks on an executor: searches and censuses."""

    def __init__(self) -> None:
        self._executor: Executor | None = None
        self._stop_wanted = False

    @contextmanager
    def _executing(self, scheduler: str, workers: int | None, tls: Tls | None) -> Iterator[Executor]:
        """An executor that :meth:`stop` reaches; ``workers`` are one for each processor unless given."""
        try:
            with make_executor(scheduler, workers or available_workers(), tls) as executor:
                self._executor = executor
                if self._stop_wanted:
                    executor.stop.set()
                with checked_while_compiling(executor.check):
                    yield executor
        finally:
            self._executor = None
            self._stop_wanted = False

    def stop(self) -> None:
        """Ask for an end at the next safe point; may be called from a signal handler.

        What is not running stops when it is run next.
        """
        self._stop_wanted = True
        if self._executor is not None:
            self._executor.stop.set()
