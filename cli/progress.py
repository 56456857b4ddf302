"""How far a search has come: live on a terminal, in occasional lines elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import suppress
from math import inf
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from cli.measuring import Meter
from cli.sizes import duration, short
from cli.streams import colour_wanted, console, is_fancy, note
from pipeline.running.events import Observer, PassProgress
from pipeline.running.memory import available_memory, resident_bytes
from storage.files.durable import bytes_below
from storage.jobs.job import Job
from storage.records import Manifest
from storage.sizes import size

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

LINE_SECONDS = 10.0
SLOW_LEVEL_SECONDS = 1.0
REFRESH_PER_SECOND = 4
BAR_WIDTH = 30


class ProgressObserver(Observer):
    """Reads the counters of the pass now and then; the workers, who change them, are never kept waiting.

    Use it as a context manager around the search.

    Parameters
    ----------
    job : Path
    memory : int or None
        The budget, for display; None is the default one.
    report_from : float
        Seconds that a level must take to be reported.
    quiet : bool
        Whether to leave messages out too.

    Attributes
    ----------
    stopping : bool
        Set when the user asked for a stop.
    """

    def __init__(self, job: Path, memory: int | None, *, report_from: float, quiet: bool = False) -> None:
        self.stopping = False
        self._job = job
        self._memory = memory if memory is not None else available_memory() // 2
        self._report_from = report_from
        self._quiet = quiet
        self._meter = Meter()
        self._states = 0
        self._disk = (0.0, 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return

    def message(self, text: str) -> None:
        if not self._quiet:
            self.say(text)

    def say(self, text: str) -> None:
        """Write a line."""
        note(text)

    def pass_started(self, progress: PassProgress) -> None:
        if self._meter.progress is None:
            # What was there before this run counts too.
            self._states = sum(manifest.states for manifest in Job.open(self._job).manifests())
        self._meter.start(progress)

    def level_committed(self, manifest: Manifest) -> None:
        self._meter.end()
        self._states += manifest.states
        if manifest.seconds >= self._report_from:
            self.say(
                f"level {manifest.depth}: {manifest.states} states in {duration(manifest.seconds)}, "
                f"{size(manifest.bytes)} on disk"
            )

    def _facts(self) -> list[str]:
        """What there is to say about the moment, in pieces."""
        meter = self._meter
        progress = meter.progress
        if progress is None:
            return ["starting"]
        counters = progress.counters
        left = meter.seconds_left()
        facts = [
            f"level {progress.depth}",
            f"{progress.name} {meter.percent():.0f}%",
            f"{short(counters.keys)} of {short(progress.total)} {'states' if progress.name == 'expand' else 'keys'}",
        ]
        if progress.name == "expand":
            facts.append(f"{short(counters.generated)} generated ({short(meter.rate())}/s)")
            facts.append(f"{short(counters.spilled)} spilled")
        else:
            facts.append(f"{short(counters.stored)} new stored ({short(meter.rate())} keys/s read)")
        facts.append(f"{duration(left)} left in the level" if left is not None else "time left not known yet")
        return facts

    def _means(self) -> list[str]:
        """Disk and memory in use."""
        memory = f"{size(resident_bytes())} of {size(self._memory)} memory in use"
        return [f"{size(self._bytes_on_disk())} on disk", memory]

    def _bytes_on_disk(self) -> int:
        """Bytes of the job; the more files there are, the more rarely they are counted."""
        due, count = self._disk
        now = time.monotonic()
        if now >= due:
            count = bytes_below(self._job)
            cost = time.monotonic() - now
            self._disk = (now + max(2.0, 50 * cost), count)
        return count


class LineObserver(ProgressObserver):
    """A line every ten seconds."""

    def __enter__(self) -> Self:
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._tell, name="progress", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _tell(self) -> None:
        while not self._ended.wait(LINE_SECONDS):
            with suppress(OSError):
                note(", ".join([*self._facts(), *self._means()]))


class LiveObserver(ProgressObserver):
    """A few lines on the terminal that are drawn again and again."""

    def __enter__(self) -> Self:
        from rich.live import Live

        self._live: Live = Live(
            console=console(sys.stderr),
            get_renderable=self._render,
            refresh_per_second=REFRESH_PER_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def say(self, text: str) -> None:
        self._live.console.print(text, markup=False, soft_wrap=True)

    def _render(self) -> RenderableType:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        facts = self._facts()
        if self._meter.progress is None:
            return Text("starting")

        def line(*pieces: str) -> Text:
            return Text("  " + " · ".join(pieces), no_wrap=True, overflow="ellipsis")

        head = Table.grid(padding=(0, 2))
        bar = ProgressBar(total=100, completed=self._meter.percent(), width=BAR_WIDTH)
        left = Text(facts[-1], no_wrap=True, overflow="ellipsis")
        head.add_row(Text(facts[0], style="bold" if colour_wanted() else ""), Text(facts[1]), bar, left)
        lines: list[RenderableType] = [
            head,
            line(*facts[2:-1]),
            line(f"{short(self._states)} states so far", *self._means()),
        ]
        if self.stopping:
            lines.append(line("stopping at the next safe point; Ctrl-C again ends at once"))
        return Group(*lines)


def observer_for(job: Path, memory: int | None, *, progress: bool, verbose: bool, quiet: bool) -> ProgressObserver:
    """The observer that suits the user's wishes and terminal."""
    if quiet:
        return ProgressObserver(job, memory, report_from=inf, quiet=True)
    if not progress:
        return ProgressObserver(job, memory, report_from=0 if verbose else inf)
    kind = LiveObserver if is_fancy(sys.stderr) else LineObserver
    return kind(job, memory, report_from=0 if verbose else SLOW_LEVEL_SECONDS)
