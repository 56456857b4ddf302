"""How far a census has come: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from cli.progress import LINE_SECONDS, REFRESH_PER_SECOND
from cli.sizes import duration, short
from cli.streams import colour_wanted, is_fancy, note
from pipeline.census.events import CensusObserver

if TYPE_CHECKING:
    from rich.progress import TaskID

# Loading kernels from numba's cache takes less.
COMPILING_SECONDS = 2.0
COMPILING = "compiling the kernels, which is done once; the time that is left is not known yet"

TITLES = {
    "stuck": "stuck shapes",
    "components": "their components",
    "exhaustive": "shapes",
    "bends": "shapes by bends",
    "delayed": "delayed shapes",
}


class QuietObserver(CensusObserver):
    """Passes messages on, unless they are not wanted, and keeps count; shows nothing of the progress."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._watch: threading.Timer | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._watch is not None:
            self._watch.cancel()

    def message(self, text: str) -> None:
        if not self._quiet:
            note(text)

    def phase_started(self, phase: str, tasks: int, finished: int) -> None:
        self._tasks, self._done, self._before = tasks, finished, finished
        self._nodes = self._found = 0

    def preparing(self, phase: str) -> None:
        self._watch = threading.Timer(COMPILING_SECONDS, self.compiling)
        self._watch.daemon = True
        self._watch.start()

    def prepared(self, phase: str) -> None:
        if self._watch is not None:
            self._watch.cancel()
            self._watch.join()

    def compiling(self) -> None:
        """Preparing takes so long that kernels must be being compiled; called from another thread."""

    def task_done(self, phase: str, result: dict[str, Any]) -> None:
        self._done += 1
        self._nodes += result.get("nodes", 0)
        self._found += len(result.get("stuck" if phase == "exhaustive" else "shapes", ()))


class LineObserver(QuietObserver):
    """A line every ten seconds, as far as tasks end so often."""

    def phase_started(self, phase: str, tasks: int, finished: int) -> None:
        super().phase_started(phase, tasks, finished)
        self._started = self._said = time.monotonic()

    def prepared(self, phase: str) -> None:
        super().prepared(phase)
        self._started = self._said = time.monotonic()

    def compiling(self) -> None:
        note(COMPILING)

    def task_done(self, phase: str, result: dict[str, Any]) -> None:
        super().task_done(phase, result)
        now = time.monotonic()
        if now - self._said >= LINE_SECONDS and self._done < self._tasks:
            self._said = now
            facts = f"{short(self._nodes)} walks looked at, {self._found} stuck so far, " if self._nodes else ""
            left = (now - self._started) * (self._tasks - self._done) / (self._done - self._before)
            note(f"{TITLES[phase]}: {100 * self._done / self._tasks:.0f}%, {facts}{duration(left)} left")


class LiveObserver(QuietObserver):
    """A progress bar."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        super().__init__()
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[facts]}"),
            TimeRemainingColumn(elapsed_when_finished=True),
            console=Console(file=sys.stderr, highlight=False, no_color=not colour_wanted()),
            refresh_per_second=REFRESH_PER_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        self._progress.stop()

    def message(self, text: str) -> None:
        self._progress.console.print(text, markup=False, soft_wrap=True)

    def phase_started(self, phase: str, tasks: int, finished: int) -> None:
        super().phase_started(phase, tasks, finished)
        if self._task is not None:
            self._progress.remove_task(self._task)
        # The clock starts when the kernels are ready.
        self._task = self._progress.add_task(TITLES[phase], start=False, total=tasks, completed=finished, facts="")

    def prepared(self, phase: str) -> None:
        assert self._task is not None
        super().prepared(phase)
        self._progress.update(self._task, facts="")
        self._progress.start_task(self._task)

    def compiling(self) -> None:
        assert self._task is not None
        self._progress.update(self._task, facts="compiling the kernels, once")

    def task_done(self, phase: str, result: dict[str, Any]) -> None:
        assert self._task is not None
        super().task_done(phase, result)
        facts = f"{short(self._nodes)} walks, {self._found} stuck" if self._nodes else ""
        self._progress.update(self._task, advance=1, facts=facts)


def census_observer(progress: bool, quiet: bool) -> QuietObserver:
    """The observer that suits the user's wishes and terminal."""
    if quiet or not progress:
        return QuietObserver(quiet)
    return LiveObserver() if is_fancy(sys.stderr) else LineObserver()
