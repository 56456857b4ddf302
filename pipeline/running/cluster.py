"""Tasks on a dask.distributed cluster, whose workers are checked before they may write."""

from __future__ import annotations

import gc
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from pipeline.running.executors import Executor, Task
from pipeline.running.handshake import Place, Program, WorkerRefused, refuse_blindness, refuse_difference, run_task
from pipeline.running.settings import Tls
from storage.errors import ClusterError, InvalidInput

CONNECT_SECONDS = 10
# How long a cluster may be without workers, or a scheduler without an answer: both may be restarted by somebody.
PATIENCE_SECONDS = 60.0
REMEDY = "resume the job when it is back"
# What reading a message of another program may raise.
UNREADABLE = (ImportError, AttributeError, TypeError)


class ClusterExecutor(Executor):
    """A dask.distributed cluster whose workers see the job directory under the same path.

    Parameters
    ----------
    address : str
        Of the scheduler, such as ``tcp://127.0.0.1:8786`` or ``tls://127.0.0.1:8786``.
    tls : Tls, optional
        Files for an encrypted connection; without any, dask's own configuration holds.

    Raises
    ------
    InvalidInput
        If nothing answers there, the cluster has no worker, or a file of ``tls`` cannot be used.
    """

    shares_memory = False

    def __init__(self, address: str, tls: Tls | None = None) -> None:
        from distributed import Client

        # A connection that closes is logged to standard error otherwise; what it means for the search, the search says.
        log = logging.getLogger("distributed")
        log.setLevel(max(log.level, logging.WARNING))
        security = _security(tls) if tls is not None else None
        if security is not None and "://" not in address:
            address = f"tls://{address}"
        try:
            options = {} if security is None else {"security": security}
            with _no_garbage_collection():
                self._client = Client(address, timeout=CONNECT_SECONDS, **options)
        except (OSError, ValueError, TypeError, TimeoutError, RuntimeError, AssertionError) as error:
            # dask asserts that its event loop has begun within ten seconds.
            raise InvalidInput(
                f"no dask scheduler answers at {address!r} as asked ({_reason(error)})",
                "start one with 'dask scheduler', or use --scheduler threads",
            ) from error
        threads = sum(self._client.nthreads().values())
        if not threads:
            self.close()
            raise InvalidInput(f"the cluster at {address} has no workers", "start some with 'dask worker'")
        super().__init__(threads)
        self._address = address
        self._refused: dict[str, WorkerRefused] = {}
        self._places: tuple[Place, ...] = ()

    def prepare(self, load: Callable[[], None]) -> None:
        """Refuse workers that are another program, and load the kernels on the others.

        Raises
        ------
        WorkerRefused
        """
        # Of a search, the loading of kernels is bound to its state space.
        subject = load.args[0] if isinstance(load, partial) and load.args else None
        program = Program.of(subject)
        with self._losing():
            for worker in self._client.nthreads():
                try:
                    self._client.run(refuse_difference, program, subject, workers=[worker])
                    # One after the other: worker processes of a machine share numba's cache.
                    self._client.run(load, workers=[worker])
                except WorkerRefused as error:
                    raise WorkerRefused(f"{error.message} ({worker})", error.remedy) from None
                except Exception as error:
                    # A bare exception is dask's, for a message that a worker could not read: it lacks a module.
                    if type(error) is not Exception and not isinstance(error, UNREADABLE):
                        raise
                    raise self._strange(worker, error) from error

    def share(self, *directories: Path) -> None:
        """Refuse workers that do not see some directories, now or when they get a task.

        Raises
        ------
        WorkerRefused
        """
        self._places = tuple(Place.of(directory) for directory in directories)
        with self._losing():
            for worker in self._client.nthreads():
                try:
                    self._client.run(refuse_blindness, self._places, workers=[worker])
                except WorkerRefused as error:
                    raise WorkerRefused(f"{error.message} ({worker})", error.remedy) from None

    def run(self, tasks: Sequence[Task], done: Callable[[Any], None]) -> None:
        from distributed import as_completed

        waiting = {self._submit(task): task for task in tasks}
        alone_since: float | None = None
        try:
            with self._losing():
                while waiting:
                    self.check()
                    alone_since = self._check_alone(alone_since)
                    try:
                        for future in as_completed(list(waiting), timeout=0.5):
                            task = waiting.pop(future)
                            try:
                                done(future.result())
                            except WorkerRefused as error:
                                self._refuse(error)
                                waiting[self._submit(task)] = task
                                break
                            except (ImportError, AttributeError) as error:
                                raise self._strange("that joined later", error) from error
                            self.check()
                    except TimeoutError:
                        continue
        except BaseException:
            if self._client.status == "running":
                self._client.cancel(list(waiting))
            raise

    def close(self) -> None:
        with _no_garbage_collection():
            self._client.close(timeout=CONNECT_SECONDS)

    def _submit(self, task: Task) -> Any:
        """Hand a task to the cluster, or to those of its workers that were not refused."""
        function, arguments = task
        good = None
        if self._refused:
            good = [worker for worker in self._workers() if worker not in self._refused]
            if not good:
                last = list(self._refused.values())[-1]
                raise WorkerRefused(f"all workers of the cluster were refused; the last: {last.message}", last.remedy)
        program = Program.of(arguments[0] if arguments else None)
        return self._client.submit(run_task, program, self._places, function, *arguments, pure=False, workers=good)

    def _refuse(self, error: WorkerRefused) -> None:
        """Give no more tasks to a worker that joined later and is another program, or sees other files."""
        if error.worker is None:
            raise error
        self._refused[error.worker] = error

    def _workers(self) -> list[str]:
        """Addresses of the workers, as they were about two seconds ago."""
        return list(self._client.scheduler_info(n_workers=-1)["workers"])

    def _check_alone(self, since: float | None) -> float | None:
        """Since when the cluster has had no workers; raises ClusterError after some time."""
        if self._client.status == "running" and self._workers():
            return None
        now = time.monotonic()
        if since is not None and now - since > PATIENCE_SECONDS:
            raise ClusterError(f"the cluster at {self._address} has no workers any more", REMEDY)
        return now if since is None else since

    def _strange(self, worker: str, error: BaseException) -> WorkerRefused:
        return WorkerRefused(
            f"the worker {worker} does not have the program or the puzzle, or another version ({_reason(error)})",
            "install the same versions of the program and of the puzzle on all workers, and restart them",
        )

    @contextmanager
    def _losing(self) -> Iterator[None]:
        """Turn the ways in which distributed says that a cluster is gone into one error."""
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError
        from distributed.comm import CommClosedError

        try:
            yield
        except (FutureCancelledError, KilledWorker, CommClosedError) as error:
            raise ClusterError(f"the cluster at {self._address} was lost ({_reason(error)})", REMEDY) from error


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Keep the garbage collector from running in this thread.

    While distributed starts or ends a client it holds a lock that the finaliser of every client wants too. If a client
    that could not connect before were collected at that moment, this thread would wait for itself for ever.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _reason(error: BaseException) -> str:
    if type(error) is Exception:
        return str(error)
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _security(tls: Tls) -> Any:
    """dask's description of an encrypted connection; None if nothing is asked for."""
    files = {"tls_ca_file": tls.ca, "tls_client_cert": tls.cert, "tls_client_key": tls.key}
    given = {name: str(path) for name, path in files.items() if path is not None}
    if not given:
        return None
    for path in given.values():
        try:
            with open(path, "rb"):
                pass
        except OSError as error:
            raise InvalidInput(f"{path} cannot be read ({error.strerror})", "name the file with --tls-...") from error
    from distributed import Security

    return Security(require_encryption=True, **given)
