"""The census: which snakes can never be unfolded, and how many shapes can be reached.

Stuck shapes are found first, then their components are searched. Both are cut into tasks that do not depend on each
other; in a journal, finished ones are not done again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pipeline.census.bends import heights, shapes_by_bends
from pipeline.census.counts import largest, shapes_of
from pipeline.census.events import CensusObserver
from pipeline.census.needs import shapes_in, task_bytes
from pipeline.census.prefixes import block_count, prefix_edges
from pipeline.census.records import Result, finished
from pipeline.census.result import CensusResult
from pipeline.census.rules import Rule, swept
from pipeline.census.tasks import (
    MOST_SHAPES_OF_A_COMPONENT,
    count_block,
    count_height,
    count_symmetric,
    find_stuck,
    load_bends_kernels,
    load_component_kernels,
    load_delayed_kernels,
    load_exhaustive_kernels,
    load_search_kernels,
    measure_delayed,
    search_components,
)
from pipeline.census.untagged import another_census, check_untagged
from pipeline.running.executors import Executor
from pipeline.running.memory import memory_left, workers_within
from pipeline.running.provenance import provenance
from pipeline.running.settings import Tls, memory_budget, whole_number
from pipeline.running.stoppable import StoppableRun
from storage.errors import InvalidInput, JobError, Mismatch
from storage.files.lines import EntryWriter
from storage.journal import UNTAGGED_VERSION, Journal
from storage.sizes import size

EXHAUSTIVE_LARGEST = 33
SHAPES_OF_A_TASK = 500
LOADERS = {
    "stuck": load_search_kernels,
    "components": load_component_kernels,
    "exhaustive": load_exhaustive_kernels,
    "bends": load_bends_kernels,
    "delayed": load_delayed_kernels,
}


@dataclass
class _Work:
    """A run in progress: where tasks go, and what was finished before.

    Attributes
    ----------
    executor : Executor
    finished : dict
        Results by phase and number of the task.
    writer : EntryWriter or None
    untagged : bool
        Whether some of what was finished before was not tied to this census.
    """

    executor: Executor
    finished: dict[tuple[str, int], Result] = field(default_factory=dict)
    writer: EntryWriter | None = None
    untagged: bool = False


class Census(StoppableRun):
    """A census of the snakes of n edges.

    Parameters
    ----------
    n : int
        0 to 40 (as far as the number of shapes is known); 0 to 33 if ``exhaustive``.
    exhaustive : bool
        Generate every shape instead of pruning; shapes, and those for each number of bends, are counted.
    collision : {"swept", "static"}
        With ``static`` shapes are counted only; that is for exhaustive ones.
    scheduler, workers
        As for :class:`~pipeline.running.settings.Settings`.
    journal : path-like, optional
        Directory for what is finished; nothing is kept unless given.
    observer : CensusObserver, optional
    rule : Rule
        Collision rule, for trying the search on others than the snake's.
    tls : Tls, optional
        For a cluster.
    depths : bool
        Whether to find how many shapes lie at each depth, too; not if ``exhaustive``.
    memory : int or str, optional
        Budget for the whole process, as for :class:`~pipeline.running.settings.Settings`.

    Raises
    ------
    InvalidInput

    Examples
    --------
    >>> from pipeline import Census
    >>> Census(n=12).run().document()["reachable"]
    20437
    """

    def __init__(
        self,
        n: int,
        exhaustive: bool = False,
        collision: Literal["swept", "static"] = "swept",
        scheduler: str = "threads",
        workers: int | None = None,
        journal: str | os.PathLike[str] | None = None,
        observer: CensusObserver | None = None,
        rule: Rule = swept,
        tls: Tls | None = None,
        depths: bool = False,
        memory: int | str | None = None,
    ) -> None:
        if exhaustive and not 0 <= n <= EXHAUSTIVE_LARGEST:
            raise InvalidInput(f"n is {n}", f"an exhaustive census takes n from 0 to {EXHAUSTIVE_LARGEST}")
        if not exhaustive and not 0 <= n <= largest():
            raise InvalidInput(f"n is {n}", f"a census takes n from 0 to {largest()}, as far as shapes are counted")
        if collision == "static" and not exhaustive:
            raise InvalidInput(
                "a census with collision static has nothing to search for", "add --exhaustive to count shapes"
            )
        if depths and exhaustive:
            raise InvalidInput("an exhaustive census finds no depths", "leave out one of --exhaustive and --depths")
        super().__init__()
        self.n = n
        self.exhaustive = exhaustive
        self.depths = depths
        self.collision = collision
        self.rule = rule
        self.path = Path(journal) if journal is not None else None
        self._scheduler = scheduler
        self._workers = whole_number("workers", workers, 1)
        self._memory = memory_budget(memory)
        self._tls = tls
        self._observer = observer if observer is not None else CensusObserver()

    def run(self, resume: bool = False, overwrite: bool = False, command: str | None = None) -> CensusResult:
        """Search, or go on searching.

        Parameters
        ----------
        resume, overwrite : bool
            What to do if the journal exists: go on with it, or delete it first.
        command : str, optional
            For the provenance of a new journal.

        Raises
        ------
        JobError, JobLocked, CorruptJob, OutOfBudget, InvalidInput
        Mismatch
            If some shape was found from one of its ends alone, which only an error in the program can cause.
        Stopped
            After :meth:`stop`; with a journal, the census can be resumed.
        """
        started = time.monotonic()
        journal = self._check_journal(resume, overwrite)
        if self.n < 2:
            only = (1,) if self.exhaustive else None
            depths = ((1,), 0) if self.depths else (None, None)
            return CensusResult(self.n, 1, (), (), 0, time.monotonic() - started, only, self.collision, *depths)
        with ExitStack() as stack:
            executor = stack.enter_context(self._executing(self._scheduler, self._workers, self._tls))
            work = _Work(executor)
            if self.path is not None:
                if overwrite:
                    Journal.remove(self.path)
                    journal = None
                if journal is None:
                    journal = Journal.create(self.path, self._description(), provenance(command))
                stack.enter_context(journal.lock(self._observer.message, executor.pause, executor.stop.set))
                work.finished = self._finished(journal)
                work.untagged = journal.version == UNTAGGED_VERSION and bool(work.finished)
                work.writer = stack.enter_context(journal.writer())
            return self._count(work, started) if self.exhaustive else self._search(work, started)

    def _description(self) -> dict[str, Any]:
        return {
            "census": "exhaustive" if self.exhaustive else "pruned",
            "n": self.n,
            "collision": self.collision,
            "prefix_edges": prefix_edges(self.n, self.exhaustive),
            "blocks": block_count(self.n, self.exhaustive),
        }

    def _check_journal(self, resume: bool, overwrite: bool) -> Journal | None:
        if self.path is None or not Journal.exists(self.path) or overwrite:
            if self.path is not None:
                self._check_place(self.path)
            return None
        journal = Journal.open(self.path)
        if not resume:
            raise JobError(
                f"the census {self.path} exists", "go on with it with --resume, or start again with --overwrite"
            )
        if journal.description != self._description():
            theirs = ", ".join(f"{key}={value}" for key, value in journal.description.items())
            raise JobError(
                f"the census {self.path} is another one: {theirs}",
                "resume it with its own parameters, or choose another place with --job",
            )
        return journal

    @staticmethod
    def _check_place(path: Path) -> None:
        """A directory is put in its place whole, and a process cannot do that with the one it works in."""
        if Path.cwd().is_relative_to(path.absolute().resolve()):
            raise JobError(
                f"{path} is the current directory, or holds it, and cannot be replaced",
                "choose a directory in it with --job, such as --job census",
            )

    def _finished(self, journal: Journal) -> dict[tuple[str, int], Result]:
        """What a journal says is done."""
        entries = journal.entries()
        found = finished(entries, self.n)
        if journal.version == UNTAGGED_VERSION:
            if not all(finished([entry], self.n) for entry in entries):
                raise another_census(journal.path)
            check_untagged(found, self.n, self.exhaustive, journal.path)
        return found

    def _run_phase(
        self, work: _Work, phase: str, tasks: Sequence[tuple[Callable[..., Result], tuple[Any, ...]]]
    ) -> list[Result]:
        """Run the tasks that are not finished; returns the results of all."""
        missing = [number for number in range(len(tasks)) if (phase, number) not in work.finished]
        self._observer.phase_started(phase, len(tasks), len(tasks) - len(missing))

        def done(timed: tuple[int, Result]) -> None:
            number, result = timed
            work.finished[phase, number] = result
            if work.writer is not None:
                work.writer.add({"phase": phase, "task": number, "result": result})
            self._observer.task_done(phase, result)

        if missing:
            LOADERS[phase]()
            work.executor.prepare(LOADERS[phase])
            self._observer.prepared(phase)
            self._limit_workers(work.executor, phase)
        work.executor.run([(_numbered, (number, *tasks[number])) for number in missing], done)
        return [work.finished[phase, number] for number in range(len(tasks))]

    def _limit_workers(self, executor: Executor, phase: str) -> None:
        """Use no more workers than the memory suffices for.

        Raises
        ------
        OutOfBudget
            If it does not suffice for one.
        """
        if not executor.shares_memory:
            return
        needed = task_bytes(phase, self.n)
        workers = workers_within(self._memory, executor.workers, needed)
        if workers < executor.workers:
            self._observer.message(
                f"{workers} of {executor.workers} workers: each takes {size(needed)}, "
                "for which the memory does not suffice"
            )
            executor.limit(workers)

    def _most_shapes(self, executor: Executor) -> int:
        """Shapes of a component that a worker may hold."""
        if not executor.shares_memory:
            return MOST_SHAPES_OF_A_COMPONENT
        share = memory_left(self._memory) // executor.workers
        return min(MOST_SHAPES_OF_A_COMPONENT, shapes_in(share - task_bytes("components", self.n), self.n))

    def _blocks(
        self, function: Callable[..., Result], rule: Rule | None
    ) -> list[tuple[Callable[..., Result], tuple[Any, ...]]]:
        edges, blocks = prefix_edges(self.n, self.exhaustive), block_count(self.n, self.exhaustive)
        return [(function, (rule, self.n, edges, block, blocks)) for block in range(blocks)]

    def _search(self, work: _Work, started: float) -> CensusResult:
        results = self._run_phase(work, "stuck", self._blocks(find_stuck, self.rule))
        stuck = sorted(shape for result in results for shape in result["shapes"])
        self._check_both_ends(work, stuck, sum(result["walks"] for result in results))
        parts = [stuck[first : first + SHAPES_OF_A_TASK] for first in range(0, len(stuck), SHAPES_OF_A_TASK)]
        most = self._most_shapes(work.executor) if parts else 0
        components = self._run_phase(
            work, "components", [(search_components, (self.rule, self.n, part, most)) for part in parts]
        )
        locked = sorted({shape for result in components for shape in result["locked"]})
        nodes = sum(result["nodes"] for result in results)
        states, delayed = self._measure(work, stuck, locked) if self.depths else (None, None)
        seconds = time.monotonic() - started
        return CensusResult(
            self.n,
            shapes_of(self.n),
            tuple(stuck),
            tuple(locked),
            nodes,
            seconds,
            states=states,
            delayed=delayed,
        )

    def _measure(self, work: _Work, stuck: Sequence[str], locked: Sequence[str]) -> tuple[tuple[int, ...], int]:
        """Shapes at each depth, and the number of delayed ones."""
        tasks: list[tuple[Callable[..., Result], tuple[Any, ...]]]
        tasks = [(count_height, (self.n, rows)) for rows in heights(self.n)]
        tasks += [(count_symmetric, (self.n, mirrored)) for mirrored in (False, True)]
        walks = [result["walks"] for result in self._run_phase(work, "bends", tasks)]
        states = list(shapes_by_bends(self.n, shapes_of(self.n), walks))
        if not stuck:
            return tuple(states), 0
        (delayed,) = self._run_phase(work, "delayed", [(measure_delayed, (self.rule, self.n, stuck))])
        if sum(delayed["bends"]) - sum(delayed["depths"]) != len(locked):
            raise Mismatch(
                f"{sum(delayed['bends']) - sum(delayed['depths'])} delayed shapes have no depth, and {len(locked)} are "
                "locked",
                "this is an error of the program; please report it",
            )
        states += [0] * (len(delayed["depths"]) - len(states))
        for bends, count in enumerate(delayed["bends"]):
            states[bends] -= count
        for depth, count in enumerate(delayed["depths"]):
            states[depth] += count
        while not states[-1]:
            states.pop()
        return tuple(states), sum(delayed["bends"])

    def _count(self, work: _Work, started: float) -> CensusResult:
        rule = self.rule if self.collision == "swept" else None
        results = self._run_phase(work, "exhaustive", self._blocks(count_block, rule))
        return CensusResult(
            self.n,
            sum(result["shapes"] for result in results),
            tuple(sorted(shape for result in results for shape in result["stuck"])),
            (),
            sum(result["nodes"] for result in results),
            time.monotonic() - started,
            tuple(sum(column) for column in zip(*(result["bends"] for result in results), strict=True)),
            self.collision,
        )

    def _check_both_ends(self, work: _Work, stuck: Sequence[str], walks: int) -> None:
        """Every shape must have been found from both ends, unless they read the same: the search checks itself."""
        expected = sum(1 if _reads_the_same(shape) else 2 for shape in stuck)
        if len(set(stuck)) != len(stuck) or walks != expected:
            if work.untagged and self.path is not None:
                raise another_census(self.path)
            raise Mismatch(
                f"{walks} stuck walks of {self.n} edges were found for {len(set(stuck))} shapes, not {expected}",
                "this is an error of the program; please report it",
            )


def _numbered(number: int, function: Callable[..., Result], arguments: tuple[Any, ...]) -> tuple[int, Result]:
    return number, function(*arguments)


def _reads_the_same(shape: str) -> bool:
    """Whether a shape is the same from both ends, as it is or in the mirror."""
    backwards = shape[::-1]
    return shape in (backwards, backwards.translate(str.maketrans("02", "20")))
