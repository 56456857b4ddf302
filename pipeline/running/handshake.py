"""Whether a worker on another machine is the same program: the project, its source, and the state space.

Tasks and spaces travel by name: what a name stands for is decided by the code that the worker has. So each task carries
a description of the code that it was made by, and a worker with other code refuses it before it reads or writes.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from pipeline.spaces.contract import StateSpace
from storage.errors import ClusterError
from storage.files.durable import METADATA
from storage.jobs.formats import FORMAT_VERSION
from storage.records import DISTRIBUTION

# Seconds between looks at a directory that is not seen at once.
LOOKS = (0.1, 0.4, 1.0, 1.5)


class WorkerRefused(ClusterError):
    """A worker is not the same program as the one that sends it tasks.

    Attributes
    ----------
    worker : str or None
        Its address, if it refused a task.
    """

    worker: str | None = None


@dataclass(frozen=True)
class Program:
    """What makes two programs the same.

    Attributes
    ----------
    version : str
        Of the project.
    source : str
        Digest of its source.
    job_format : int
        Format of the jobs that it writes.
    space : str
        Class of the state space and digest of the source of its package.
    keys : str
        Layout of the keys.
    parameters : str
        Of the state space.
    """

    version: str
    source: str
    job_format: int
    space: str = ""
    keys: str = ""
    parameters: str = ""

    @classmethod
    def of(cls, subject: object) -> Program:
        """The program that runs here; with what belongs to a state space, if the subject is one."""
        # By modules of theirs: a directory of the same name, such as the "storage" that a dask worker makes for itself,
        # may pass for a package, but not for its modules.
        source = _digest_of("pipeline.search", "storage.errors")
        if not isinstance(subject, StateSpace):
            return cls(_version(), source, FORMAT_VERSION)
        space = subject
        kind = type(space)
        return cls(
            version=_version(),
            source=source,
            job_format=FORMAT_VERSION,
            space=f"{kind.__module__}:{kind.__qualname__} {_digest_of(kind.__module__)}",
            # Of the class, which is this program's, not of the object, which may have come from another.
            keys=repr(kind.layout),
            parameters=repr(space.parameters),
        )


def _version() -> str:
    from pipeline.running.provenance import version_of

    return version_of(DISTRIBUTION)


@cache
def _digest_of(*modules: str) -> str:
    """Digest of the source of modules, and of all that lies beside or below them in their packages."""
    digest = hashlib.sha256()
    for module in modules:
        found = import_module(module)
        if found.__file__ is None:
            continue
        directory = Path(found.__file__).parent
        # What lies beside a module that is in no package is not its own: all that is installed, as a rule.
        alone = "." not in module and not hasattr(found, "__path__")
        for path in [Path(found.__file__)] if alone else sorted(directory.rglob("*.py")):
            # Editors leave links that lead nowhere, and other things that end like a module.
            if path.is_file():
                digest.update(f"{path.relative_to(directory).as_posix()}\0".encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def refuse_difference(expected: Program, subject: object) -> None:
    """Compare this program with the one that sends tasks.

    Raises
    ------
    WorkerRefused
        With the first thing that differs.
    """
    ours = asdict(Program.of(subject))
    for name, theirs in asdict(expected).items():
        if ours[name] != theirs:
            raise WorkerRefused(
                f"a worker of the cluster has another {name.replace('_', ' ')}: {ours[name]}, not {theirs}",
                "install the same version of the program on all workers, restart them, and resume the job",
            )


@dataclass(frozen=True)
class Place:
    """A directory that all workers must see.

    Attributes
    ----------
    path : str
        Where it is, for all of them.
    digest : str
        Of its metadata: something else may have the same path elsewhere.
    """

    path: str
    digest: str

    @classmethod
    def of(cls, directory: Path) -> Place:
        """The place of a directory with metadata."""
        return cls(str(directory), _digest_of_metadata(directory))


def _digest_of_metadata(directory: Path) -> str:
    return hashlib.sha256((directory / METADATA).read_bytes()).hexdigest()


def refuse_blindness(places: Sequence[Place]) -> None:
    """Make sure that this process sees some places.

    Raises
    ------
    WorkerRefused
        If it does not see one.
    """
    for place in places:
        # A file server may take a moment to show what is new.
        for pause in (*LOOKS, None):
            with suppress(OSError):
                if _digest_of_metadata(Path(place.path)) == place.digest:
                    break
            if pause is None:
                raise WorkerRefused(
                    f"a worker of the cluster does not see {place.path}: its file system is not shared",
                    "choose a --job, and a --work-dir if there is one, that all workers see under the same path",
                )
            time.sleep(pause)


def run_task(expected: Program, places: Sequence[Place], function: Callable[..., Any], *arguments: Any) -> Any:
    """Run a task on a worker, if the worker is the same program and sees what the task works on.

    A state space is the first argument.
    """
    try:
        refuse_difference(expected, arguments[0] if arguments else None)
        refuse_blindness(places)
    except WorkerRefused as error:
        from distributed import get_worker

        error.worker = get_worker().address
        raise
    return function(*arguments)
