"""What there is to say of a search while it runs."""

from __future__ import annotations

import time
from math import inf
from pathlib import Path

from cli.display import Watched, display_for
from cli.sizes import duration, short
from pipeline.running.events import Observer, PassProgress
from pipeline.running.memory import available_memory, resident_bytes
from storage.files.durable import bytes_below
from storage.jobs.job import Job
from storage.records import Manifest
from storage.sizes import size

SLOW_LEVEL_SECONDS = 1.0


class SearchProgress(Observer, Watched):
    """Follows a search, and has a display.

    Parameters
    ----------
    job : Path
    memory : int or None
        The budget, for display; None is the default one.
    progress, verbose, quiet : bool
        Wishes of the user: the progress, a line for every level, nothing at all.

    Attributes
    ----------
    display : Display
    """

    def __init__(self, job: Path, memory: int | None, *, progress: bool, verbose: bool, quiet: bool) -> None:
        self._job = job
        self._memory = memory if memory is not None else available_memory() // 2
        self._report_from = 0.0 if verbose else SLOW_LEVEL_SECONDS if progress and not quiet else inf
        self._states = 0
        self._pass: PassProgress | None = None
        self._disk = (0.0, 0)
        self.display = display_for(self, progress, quiet)

    def message(self, text: str) -> None:
        self.display.message(text)

    def pass_started(self, progress: PassProgress) -> None:
        if self._pass is None:
            # What was there before this run counts too.
            self._states = sum(manifest.states for manifest in Job.open(self._job).manifests())
        self._pass = progress
        self.display.begin(f"level {progress.depth}, {progress.name}", progress.total)

    def level_committed(self, manifest: Manifest) -> None:
        self._states += manifest.states
        if manifest.seconds >= self._report_from:
            self.message(
                f"level {manifest.depth}: {manifest.states} states in {duration(manifest.seconds)}, "
                f"{size(manifest.bytes)} on disk"
            )

    def counts(self) -> tuple[int, int]:
        """Keys gone through; neighbours generated, or keys read."""
        assert self._pass is not None
        counters = self._pass.counters
        return counters.keys, counters.generated if self._pass.name == "expand" else counters.keys

    def facts(self, rate: float) -> list[str]:
        """How far the pass is."""
        progress = self._pass
        assert progress is not None
        counters = progress.counters
        if progress.name == "expand":
            return [
                f"{short(counters.keys)} of {short(progress.total)} states",
                f"{short(counters.generated)} generated ({short(rate)}/s)",
                f"{short(counters.spilled)} spilled",
            ]
        return [
            f"{short(counters.keys)} of {short(progress.total)} keys",
            f"{short(counters.stored)} new stored ({short(rate)} keys/s read)",
        ]

    def means(self) -> list[str]:
        """States, disk and memory."""
        memory = f"{size(resident_bytes())} of {size(self._memory)} memory in use"
        return [f"{short(self._states)} states so far", f"{size(self._bytes_on_disk())} on disk", memory]

    def _bytes_on_disk(self) -> int:
        """Bytes of the job; the more files there are, the more rarely they are counted."""
        due, count = self._disk
        now = time.monotonic()
        if now >= due:
            count = bytes_below(self._job)
            cost = time.monotonic() - now
            self._disk = (now + max(2.0, 50 * cost), count)
        return count
