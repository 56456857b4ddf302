"""How far a run has come: live on a terminal, in lines now and then elsewhere. Rates and the time left are rich's."""

from __future__ import annotations

import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Self

from cli.sizes import duration
from cli.streams import colour_wanted, console, is_fancy, note

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress, Task

LINE_SECONDS = 10.0
LOOK_SECONDS = 1.0
REFRESH_PER_SECOND = 4
WINDOW_SECONDS = 10.0
BAR_WIDTH = 30


class Watched(ABC):
    """What a display looks at now and then; whoever changes it is never kept waiting."""

    @abstractmethod
    def counts(self) -> tuple[int, int]:
        """How much is done of what has begun, and how much of what else there is a rate of."""

    @abstractmethod
    def facts(self, rate: float) -> list[str]:
        """What there is to say of it, in pieces; ``rate`` is that of the second count, for a second."""

    def means(self) -> list[str]:
        """What it takes, in pieces."""
        return []


class Display:
    """Shows nothing but messages, and not even these if they are not wanted. A context manager around the run.

    Parameters
    ----------
    watched : Watched
    quiet : bool
    """

    def __init__(self, watched: Watched, quiet: bool = False) -> None:
        self._watched = watched
        self._quiet = quiet

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def message(self, text: str) -> None:
        """Write a line that stays."""
        if not self._quiet:
            note(text)

    def begin(self, title: str, total: int) -> None:
        """A part of the run begins, of which some may be done already."""

    def warn(self, text: str) -> None:
        """Show a sentence as long as the run goes on."""


class _Measuring(Display):
    """What is common to the displays that show something: two tasks of rich, of which one is there for its rate."""

    def __init__(self, watched: Watched) -> None:
        super().__init__(watched)
        self._begun = False
        self._warning = ""
        # It asks at once what it will show.
        self._progress = self._make_progress()
        for visible in (True, False):
            self._progress.add_task("", total=None, visible=visible)
        self._tasks = self._progress.tasks

    def _make_progress(self) -> Progress:
        from rich.progress import Progress

        return Progress(console=console(sys.stderr), auto_refresh=False, speed_estimate_period=WINDOW_SECONDS)

    def begin(self, title: str, total: int) -> None:
        # What is done already does not count for the speed. No lock is held: rich draws at once, and asks for counts.
        done, other = self._watched.counts()
        shown, rated = self._tasks
        self._progress.reset(rated.id, completed=other)
        self._progress.reset(shown.id, total=total, completed=done, description=title)
        self._begun = True

    def warn(self, text: str) -> None:
        self._warning = text

    def _look(self) -> Task | None:
        """Take the counts over; returns the task that is shown."""
        if not self._begun:
            return None
        for task, count in zip(self._tasks, self._watched.counts(), strict=True):
            self._progress.update(task.id, completed=count)
        return self._tasks[0]

    def _facts(self) -> list[str]:
        return self._watched.facts(self._tasks[1].speed or 0.0)


def percent(task: Task) -> str:
    """Part that is done; there may be nothing to do at all."""
    return f"{task.percentage if task.total else 100:.0f}%"


def time_left(task: Task) -> str:
    """Time left in this part of the run."""
    left = task.time_remaining if task.total else 0
    return f"{duration(left)} left" if left is not None else "time left not known yet"


class LineDisplay(_Measuring):
    """A line every ten seconds."""

    def __enter__(self) -> Self:
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._tell, name="progress", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _tell(self) -> None:
        looks = max(1, round(LINE_SECONDS / LOOK_SECONDS))
        turn = 0
        while not self._ended.wait(LINE_SECONDS / looks):
            turn += 1
            task = self._look()
            if turn % looks == 0:
                note(", ".join(self._line(task)))

    def _line(self, task: Task | None) -> list[str]:
        if task is None:
            return ["starting", *self._watched.means()]
        return [f"{task.description} {percent(task)}", *self._facts(), time_left(task), *self._watched.means()]


class LiveDisplay(_Measuring):
    """A bar and a few lines on the terminal that are drawn again and again."""

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def message(self, text: str) -> None:
        self._progress.console.print(text, markup=False, soft_wrap=True)

    def _make_progress(self) -> Progress:
        from rich.progress import BarColumn, Progress, TextColumn

        display = self

        class Lines(Progress):
            """The bar, and below it what else there is to say."""

            def get_renderables(self) -> Iterable[RenderableType]:
                yield from display._renderables()

        bold = "bold" if colour_wanted() else "none"
        return Lines(
            TextColumn("{task.description}", style=bold),
            TextColumn("{task.fields[percent]}"),
            BarColumn(BAR_WIDTH),
            TextColumn("{task.fields[left]}"),
            console=console(sys.stderr),
            refresh_per_second=REFRESH_PER_SECOND,
            speed_estimate_period=WINDOW_SECONDS,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def _renderables(self) -> Iterable[RenderableType]:
        from rich.text import Text

        def line(pieces: list[str]) -> Text:
            return Text("  " + " · ".join(pieces), no_wrap=True, overflow="ellipsis")

        task = self._look()
        if task is None:
            yield Text("starting")
            return
        task.fields.update(percent=percent(task), left=time_left(task))
        yield self._progress.make_tasks_table([task])
        for pieces in (self._facts(), self._watched.means(), [self._warning] if self._warning else []):
            if pieces:
                yield line(pieces)


def display_for(watched: Watched, progress: bool, quiet: bool) -> Display:
    """The display that suits the user's wishes and terminal."""
    if quiet or not progress:
        return Display(watched, quiet)
    return LiveDisplay(watched) if is_fancy(sys.stderr) else LineDisplay(watched)
