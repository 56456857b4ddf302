"""What tasks run on: this thread, or dask's threads; a cluster is in :mod:`pipeline.running.cluster`."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from storage.errors import Stopped

# A function and its arguments, of which the first is the state space if there is one.
Task = tuple[Callable[..., Any], tuple[Any, ...]]


class Executor(ABC):
    """Runs tasks that are independent of each other.

    Attributes
    ----------
    workers : int
    shares_memory : bool
        Whether tasks run in this process.
    stop : threading.Event
        Set to end :meth:`run` early; tasks of this process may look at it too.
    """

    shares_memory = True

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.stop = threading.Event()

    @abstractmethod
    def run(self, tasks: Sequence[Task], done: Callable[[Any], None]) -> None:
        """Run all tasks, and call ``done`` in this thread with the result of each.

        Raises
        ------
        Stopped
            If :attr:`stop` was set; no task is running any more.
        """

    def prepare(self, load: Callable[[], None]) -> None:
        """Get the workers ready: those of other processes call ``load``, as this process has done already."""
        return

    def limit(self, workers: int) -> None:
        """Run no more tasks at a time than so many; called while no task runs."""
        self.workers = min(self.workers, workers)

    def share(self, *directories: Path) -> None:
        """Make sure that the workers see some directories, which have metadata."""
        return

    def check(self) -> None:
        """Raise :class:`Stopped` if a stop was asked for."""
        if self.stop.is_set():
            raise Stopped

    def pause(self, seconds: float) -> None:
        """Wait for some time, or until a stop is asked for, which raises :class:`Stopped`."""
        self.stop.wait(seconds)
        self.check()

    def close(self) -> None:
        """Let go of threads and connections."""
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class SyncExecutor(Executor):
    """One task after the other, in this thread."""

    def __init__(self) -> None:
        super().__init__(1)

    def run(self, tasks: Sequence[Task], done: Callable[[Any], None]) -> None:
        for function, arguments in tasks:
            self.check()
            done(function(*arguments))


class ThreadExecutor(Executor):
    """dask's threaded scheduler. The kernels and the codec let go of the interpreter lock."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="worker")

    def limit(self, workers: int) -> None:
        super().limit(workers)
        # dask runs as many tasks at a time as the pool has threads, whatever number it is told; and what a thread keeps
        # from task to task, such as its buffer, goes with it.
        self._renew_pool()

    def _renew_pool(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool = ThreadPoolExecutor(self.workers, thread_name_prefix="worker")

    def run(self, tasks: Sequence[Task], done: Callable[[Any], None]) -> None:
        if len(tasks) <= 1:
            # Not worth a scheduler; most levels of most searches are this small.
            for function, arguments in tasks:
                self.check()
                done(self._pool.submit(function, *arguments).result())
            return

        from dask.threaded import get

        def guarded(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
            self.check()
            return function(*arguments)

        def finished(key: str, result: Any, *_: Any) -> None:
            done(result)

        # Bound arguments: dask would take those that equal a key of the graph for a dependency.
        graph = {f"task-{number}": (partial(guarded, *task),) for number, task in enumerate(tasks)}
        try:
            get(
                graph,
                list(graph),
                num_workers=self.workers,
                pool=self._pool,
                callbacks=[(None, None, None, finished, None)],
            )
        except BaseException:
            # Tasks that run already end by themselves; nobody may write to the job after this returns.
            self._renew_pool()
            raise

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
