"""Clocks that jump, names of all kinds, few open files, places that cannot be written, terminals that come and go."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import resource
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cli.main import command_line
from pipeline import Search, Snake
from storage.jobs.job import Job
from tests.engine.jobs import leftovers, summary
from tests.engine.tiny import everything_small
from tests.helpers import commands
from tests.helpers.commands import COMMAND

ROOT = Path(__file__).parents[2]
COUNTS = [1, 3, 12, 19, 16, 5]
CAPABILITIES = "-dac_override,-dac_read_search"


def run(*arguments: str | bytes, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run a command as a user does."""
    return commands.run(*map(os.fsdecode, arguments), cwd=ROOT, **options)


@pytest.mark.parametrize("step", [-3600.0, 86400.0 * 365, 0.0])
def test_a_clock_that_jumps(step: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Back, on, or not at all, each time it is looked at: counts and durations are those of a good clock."""
    now = 1.7e9

    def jump() -> float:
        nonlocal now
        now += step
        return now

    with monkeypatch.context() as patch, everything_small():
        patch.setattr(time, "time", jump)
        patch.setattr(time, "time_ns", lambda: int(jump() * 1e9))
        search = Search(Snake(n=8), tmp_path / "job", scheduler="sync", max_depth=4)
        search.run()
        Search(Snake(n=8), tmp_path / "job", scheduler="sync").run(resume=True)
    with everything_small():
        Search(Snake(n=8), tmp_path / "plain", scheduler="sync").run()
    assert summary(tmp_path / "job") == summary(tmp_path / "plain")
    assert all(0 <= manifest.seconds < 60 for manifest in Job.open(tmp_path / "job").manifests())


@pytest.mark.parametrize("age", [0, 2**31 + 5, 4_000_000_000])
def test_files_of_any_age(age: int, tmp_path: Path) -> None:
    """Nothing on disk is ordered by its times."""
    job = tmp_path / "job"
    with everything_small():
        Search(Snake(n=8), job, scheduler="sync", max_depth=4).run()
        for number, path in enumerate(sorted(job.rglob("*"))):
            os.utime(path, (age - number if age > number else age, age))
        Search(Snake(n=8), job, scheduler="sync").run(resume=True)
    assert sum(manifest.states for manifest in Job.open(job).manifests()) == 388


@pytest.mark.parametrize(
    "name",
    [
        b"two words",
        b" leading, trailing ; & $HOME 'quotes' \"double\" *",
        "schlängelnde Schlange 蛇 🐍".encode(),
        b"undecodable \xff\xfe",
        b"two\nlines",
        b"-n",
        b"x" * 120,
    ],
    ids=["spaces", "shell", "letters", "undecodable", "lines", "minus", "long"],
)
def test_names(name: bytes, tmp_path: Path) -> None:
    """Every command takes a job with any name that a file system takes."""
    jobs = f"{tmp_path}/{os.fsdecode(name)}"
    job = f"{jobs}/{os.fsdecode(name)}"

    def do(*arguments: str) -> Result:
        return CliRunner().invoke(command_line, list(arguments), prog_name="pipeline")

    assert do("run", "--n", "6", "--max-depth", "2", "--job", job, "-q").exit_code == 0
    searched = do("run", "--n", "6", "--job", job, "--resume", "--json", "-q")
    assert (searched.exit_code, searched.stderr) == (0, "")
    assert json.loads(searched.stdout)["states"] == COUNTS
    listed = do("list", "--jobs-dir", jobs)
    assert listed.exit_code == 0
    assert listed.stdout.count("\n") == 2
    for command in (["inspect", job], ["inspect", job, "--json"], ["export", job, "-f", "csv"], ["verify", job]):
        result = do(*command)
        assert (result.exit_code, result.stderr) == (0, ""), result.exception
    output = f"{tmp_path}/{os.fsdecode(name)}.json"
    assert do("export", job, "-f", "json", "-o", output).exit_code == 0
    assert json.loads(Path(output).read_text())["states"] == COUNTS
    missing = do("inspect", f"{job}?")
    assert missing.exit_code == 3
    assert missing.stderr.count("\n") == 1


def test_an_undecodable_name_from_outside(tmp_path: Path) -> None:
    """The bytes of the command line are those of the directory."""
    job = os.fsencode(tmp_path) + b"/job \xff"
    assert run("run", "--n", "6", "--job", job, "-q").returncode == 0
    assert [os.fsencode(entry.name) for entry in tmp_path.iterdir()] == [b"job \xff"]
    inspected = run("inspect", job)
    assert (inspected.returncode, inspected.stderr) == (0, b"")


def test_few_open_files(tmp_path: Path) -> None:
    """However many spills and partitions there are, a search has only some of them open."""
    program = (
        "import sys; from pathlib import Path; from pipeline import Search, Snake\n"
        "from tests.engine.tiny import Sizes, everything_small\n"
        "with everything_small(Sizes(buffer=100, task=10, partition=20)):\n"
        "    Search(Snake(n=10), Path(sys.argv[1]), workers=4, memory=2**31).run()"
    )
    soft = 48
    # The interpreter, its libraries and the threads take some of them.
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, soft))  # noqa: E731
    command = [sys.executable, "-c", program, str(tmp_path / "job")]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, preexec_fn=limit)
    assert result.returncode == 0, result.stderr
    manifests = Job.open(tmp_path / "job").manifests()
    assert max(len(manifest.partitions) for manifest in manifests) > soft
    assert sum(manifest.states for manifest in manifests) == 2806
    assert leftovers(tmp_path / "job") == []


@pytest.fixture
def unprivileged() -> list[str]:
    """What goes before a command so that permissions count for it too."""
    if os.geteuid():
        return []
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("the tests run as root, for whom permissions do not count, and there is no setpriv")
    return [setpriv, "--bounding-set", CAPABILITIES, "--inh-caps", CAPABILITIES]


def test_a_parent_that_cannot_be_written(unprivileged: list[str], tmp_path: Path) -> None:
    """A job in it goes on; a new one is refused in one line, and nothing is left."""
    parent = tmp_path / "parent"
    assert run("run", "--n", "6", "--max-depth", "2", "--job", str(parent / "job"), "-q").returncode == 0

    def run_there(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [*unprivileged, *COMMAND, *arguments]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)

    parent.chmod(0o555)
    try:
        going_on = run_there("run", "--n", "6", "--job", str(parent / "job"), "--resume", "--json", "-q")
        new = run_there("run", "--n", "6", "--job", str(parent / "new"), "-q")
        again = run_there("run", "--n", "6", "--job", str(parent / "job"), "--overwrite", "-q")
        assert [entry.name for entry in parent.iterdir()] == ["job"]
    finally:
        parent.chmod(0o755)
    assert json.loads(going_on.stdout)["states"] == COUNTS
    for refused in (new, again):
        assert refused.returncode == 3
        assert "cannot be written (Permission denied)" in refused.stderr
        assert refused.stderr.count("\n") == 1
    assert run("verify", str(parent / "job")).returncode == 0


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A job that is done. Not to be changed."""
    path = tmp_path_factory.mktemp("finished") / "job"
    Search(Snake(n=6), path, scheduler="sync").run()
    return path


PRINTING: dict[str, Callable[[str], list[str]]] = {
    "inspect": lambda job: ["inspect", job],
    "export": lambda job: ["export", job, "--format", "csv"],
    "run": lambda job: ["run", "--n", "6", "--job", job, "--resume"],
    "help": lambda job: ["--help"],
}
PRINTING_TOO: dict[str, Callable[[str], list[str]]] = {
    "list": lambda job: ["list", "--jobs-dir", str(Path(job).parent)],
    "states": lambda job: ["inspect", job, "--head", "30", "--depth", "4"],
    "verify": lambda job: ["verify", job],
    "moves": lambda job: ["moves", "1111111"],
    "draw": lambda job: ["draw", "3,-2,4"],
    "help of run": lambda job: ["run", "--help"],
}


@pytest.mark.parametrize(
    "command",
    [pytest.param(make, id=name) for name, make in PRINTING.items()]
    + [pytest.param(make, id=name, marks=pytest.mark.slow) for name, make in PRINTING_TOO.items()],
)
def test_a_closed_pipe(command: Callable[[str], list[str]], finished: Path) -> None:
    """Nobody reads: no complaint, and the exit code says so."""
    reader, writer = os.pipe()
    os.close(reader)
    result = run(*command(str(finished)), stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert result.returncode == 1
    assert result.stderr == b""


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("command", ["run", pytest.param("verify", marks=pytest.mark.slow)])
def test_streams_that_are_not_there(command: str, closed: str, finished: Path) -> None:
    """Not even open: what has to be said goes nowhere, the work is done."""
    arguments = {"run": ["run", "--n", "6", "--resume", "--job", str(finished)], "verify": ["verify", str(finished)]}
    words = [*COMMAND, *arguments.get(command, ["moves", "112"])]
    script = f'exec "$@" {closed}'
    result = subprocess.run(["sh", "-c", script, "sh", *words], cwd=ROOT, capture_output=True, timeout=120)
    assert result.returncode in (0, 1)
    assert b"Traceback" not in result.stderr + result.stdout


def test_no_terminal(tmp_path: Path) -> None:
    """As a service or a batch job: no terminal, no input, no variables."""
    environment = {name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH", "HOME")}
    command = ["run", "--n", "6", "--job", str(tmp_path / "job"), "--json"]
    result = run(*command, env=environment, stdin=subprocess.DEVNULL, start_new_session=True)
    assert result.returncode == 0
    assert json.loads(result.stdout)["states"] == COUNTS
    assert b"\x1b" not in result.stdout + result.stderr


def test_a_terminal_that_changes_its_size(tmp_path: Path) -> None:
    """During the live display, to any size; even to none."""
    inside, outside = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color"}
    command = [*COMMAND, "run", "--puzzle", "fifteen", "--n", "22", "--job", str(tmp_path / "job"), "--workers", "1"]
    search = subprocess.Popen(
        command, cwd=ROOT, stdin=outside, stdout=outside, stderr=outside, env=environment, start_new_session=True
    )
    os.close(outside)
    sizes = [(24, 80), (1, 1), (0, 0), (200, 500), (2, 3), (50, 7), (24, 80)]
    seen = b""
    turns = 0
    while True:
        rows, columns = sizes[turns % len(sizes)]
        turns += 1
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        search.send_signal(signal.SIGWINCH)
        try:
            piece = os.read(inside, 1 << 14)
        except OSError:  # so Linux says that the other side has closed
            break
        if not piece:
            break
        seen += piece
    os.close(inside)
    assert search.wait(60) == 0, seen
    assert turns > len(sizes)
    assert b"Traceback" not in seen
    assert b"\x1b[?25h" in seen
    assert Job.open(tmp_path / "job").depths() == list(range(23))


def test_the_settings_of_a_library_from_outside(finished: Path, tmp_path: Path) -> None:
    """What Blosc2 takes from the environment does not reach the stored keys: byte for byte the same chunks."""
    variables = {
        "BLOSC_COMPRESSOR": "lz4",
        "BLOSC_CLEVEL": "9",
        "BLOSC_SHUFFLE": "BITSHUFFLE",
        "BLOSC_DELTA": "1",
        "BLOSC_TYPESIZE": "8",
        "BLOSC_SPLITMODE": "ALWAYS",
        "BLOSC_BLOCKSIZE": "64",
        "BLOSC_NTHREADS": "4",
    }
    # They are read when the library is imported.
    command = [*COMMAND, "run", "--n", "6", "--job", str(tmp_path / "job")]
    result = subprocess.run(command, cwd=ROOT, env={**os.environ, **variables}, capture_output=True, timeout=300)
    assert result.returncode == 0, result.stderr

    def chunks(job: Path) -> dict[Path, bytes]:
        return {path.relative_to(job): path.read_bytes() for path in job.rglob("c/*")}

    assert chunks(tmp_path / "job") == chunks(finished)
    assert summary(tmp_path / "job") == summary(finished)
