"""The holder file: who writes to a job, and a sign of life that other hosts can see.

It is made by creating it, which one process alone can do, and rewritten in place through the descriptor of its maker:
what an old holder writes after another has taken its place goes to a file without a name. No clock of one host is ever
compared with that of another; all that counts is whether the content changes.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex

from storage.files.durable import temporary_name

# Of a holder file; what is larger is none.
MOST_BYTES = 4096
BEAT_DIGITS = 16


@dataclass(frozen=True)
class Holder:
    """A process that writes to a job, as its holder file says.

    Attributes
    ----------
    host : str
        Name of the host, for people.
    boot : str
        The boot of that host's kernel; empty if the system has no such thing.
    namespace : str
        What the process number belongs to.
    process : int
    born : int
        When the process began, in clock ticks since the boot; process numbers are used again. -1 if not known.
    started : str
        When it took the lock, for people.
    token : str
        Differs for any two holders.
    beat : str
        Changes every few seconds while the process is alive.
    """

    host: str
    boot: str
    namespace: str
    process: int
    born: int
    started: str
    token: str
    beat: str = "0" * BEAT_DIGITS

    @classmethod
    def this_process(cls) -> Holder:
        """A holder that is this process."""
        process = os.getpid()
        return cls(
            host=os.uname().nodename,
            boot=boot(),
            namespace=namespace(),
            process=process,
            born=birth(process),
            started=datetime.now(UTC).isoformat(timespec="seconds"),
            token=token_hex(16),
        )

    @classmethod
    def from_bytes(cls, content: bytes) -> Holder:
        """The holder that a file describes; one without a name if it is cut off or no holder file."""
        try:
            entry = json.loads(content)
            holder = cls(**entry)
            texts = (holder.host, holder.boot, holder.namespace, holder.started, holder.token, holder.beat)
            numbers = (holder.process, holder.born)
            if all(type(text) is str for text in texts) and all(type(number) is int for number in numbers):
                return holder
        except (ValueError, TypeError, RecursionError):
            pass
        return cls("", "", "", 0, -1, "", token=content.hex())

    def to_bytes(self) -> bytes:
        """Content of the holder file; always of the same length for the same holder."""
        return json.dumps(asdict(self)).encode()

    def with_beat(self, beat: int) -> Holder:
        """The same holder, later."""
        return replace(self, beat=f"{beat:0{BEAT_DIGITS}}")

    def is_running(self) -> bool | None:
        """Whether the process lives, if it is one whose number means something here; None if that cannot be told."""
        if not self.boot or self.boot != boot() or self.namespace != namespace() or self.born < 0:
            return None
        return birth(self.process) == self.born

    def __str__(self) -> str:
        if not self.process:
            return "another process"
        return f"process {self.process} on {self.host[:80]} (since {self.started[:40]})"


def boot() -> str:
    """Name of the boot of this kernel, empty if it has none: two processes with the same one share a kernel."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return ""


def namespace() -> str:
    """What process numbers belong to: those of a container mean nothing outside it."""
    with suppress(OSError):
        return str(Path("/proc/self/ns/pid").readlink())
    return ""


def birth(process: int) -> int:
    """Clock ticks from the boot to the start of a process; -1 if it is gone, or if the system does not say.

    This is no time of a clock that people set, so it is the same whenever it is asked for.
    """
    try:
        fields = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()
        # A process that has ended but was not waited for yet does not write.
        return -1 if fields[0] in (b"Z", b"X") else int(fields[19])
    except (OSError, ValueError, IndexError):
        return -1


def read_holder(path: Path) -> Holder | None:
    """The holder that a file names, or None if there is no file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    try:
        return Holder.from_bytes(os.pread(descriptor, MOST_BYTES, 0))
    finally:
        os.close(descriptor)


def create_holder(path: Path, holder: Holder) -> int:
    """Create the holder file; returns a descriptor for :func:`beat_holder`.

    Raises
    ------
    FileExistsError
        If there is one.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
    try:
        # Never flushed to the disk: after a loss of power it is out of date anyway.
        os.pwrite(descriptor, holder.to_bytes(), 0)
    except BaseException:
        # On a full disk: an empty file would be taken for a holder that cannot be asked.
        os.close(descriptor)
        os.unlink(path)
        raise
    return descriptor


def beat_holder(descriptor: int, holder: Holder) -> None:
    """Write a holder again, with its new beat, to the file that its maker has open."""
    os.pwrite(descriptor, holder.to_bytes(), 0)


def remove_holder(path: Path, token: str) -> bool:
    """Remove the holder file if it is the one with this token; returns whether it was.

    Of several processes that try, one succeeds: the file is moved away first, which one alone can do, and looked at
    where no other looks for it.
    """
    found = read_holder(path)
    if found is None or found.token != token:
        return False
    aside = temporary_name(path)
    try:
        path.rename(aside)
    except FileNotFoundError:
        return False
    found = read_holder(aside)
    ours = found is not None and found.token == token
    if not ours:
        # Another was faster and is the holder already; it gives a file that is missing some time to come back.
        with suppress(OSError):
            os.link(aside, path)
    os.unlink(aside)
    return ours
