"""Executors by the name that a user gives."""

from __future__ import annotations

from pipeline.running.executors import Executor, SyncExecutor, ThreadExecutor
from pipeline.running.settings import Tls
from storage.errors import InvalidInput


def make_executor(scheduler: str, workers: int, tls: Tls | None = None) -> Executor:
    """Executor for ``threads``, ``sync``, or the address of a dask.distributed scheduler.

    Raises
    ------
    InvalidInput
        If it is none of these.
    """
    if scheduler == "sync":
        return SyncExecutor()
    if scheduler == "threads":
        return ThreadExecutor(workers)
    if ":" in scheduler:
        from pipeline.running.cluster import ClusterExecutor

        return ClusterExecutor(scheduler, tls)
    raise InvalidInput(
        f"there is no scheduler {scheduler!r}", "use threads, sync, or an address such as tcp://host:8786"
    )
