"""What a process that is given hostile input must not do: audit events that show it, and a limit of memory."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MEMORY_HEADROOM = 768 << 20
FORBIDDEN_EVENTS = {
    "ctypes.dlopen",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.system",
    "pickle.find_class",
    "socket.connect",
    "subprocess.Popen",
}
READING_EVENTS = {"open", "os.listdir", "os.scandir", "os.walk"}
CHANGING_EVENTS = {
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.mkdir",
    "os.link",
    "os.symlink",
    "os.truncate",
    "shutil.rmtree",
}


class Watch:
    """Looks at what the interpreter does while a case runs.

    Parameters
    ----------
    outside : Path
        A directory beside the job that nothing may touch.
    """

    def __init__(self, outside: Path) -> None:
        self._outside = [os.path.realpath(outside), "/etc", "/dev/zero"]
        self.active = False
        self.found: list[str] = []
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.active:
            return
        # numba keeps its compiled functions that way, in a cache of its own; the process looks for itself as (None,).
        if event == "pickle.find_class" and arguments == ("builtins", "object"):
            return
        own = event == "pickle.find_class" and arguments[0].split(".")[0] in (
            "_operator",
            "copyreg",
            "dask",
            "numba",
            "numpy",
        )
        if event in FORBIDDEN_EVENTS and not own and arguments != (None,):
            self.found.append(f"{event} {arguments[:2]!r}")
        elif event in READING_EVENTS:
            follows = event != "open" or not int(arguments[2]) & os.O_NOFOLLOW
            self._look(event, arguments[0], follows)
        elif event in CHANGING_EVENTS:
            for path in arguments[:2]:
                self._look(event, path, follows=False)

    def _look(self, event: str, path: Any, follows: bool) -> None:
        if not isinstance(path, (str, bytes, os.PathLike)):
            return
        text = os.fsdecode(path)
        real = os.path.realpath(text) if follows else os.path.realpath(Path(text).parent)
        if any(real == place or real.startswith(place + os.sep) for place in self._outside):
            self.found.append(f"{event} {text}")


@contextmanager
def limited_memory() -> Iterator[None]:
    """Refuse this process what it takes beyond some headroom."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY_HEADROOM, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
