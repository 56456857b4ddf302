"""Clusters: encrypted connections, nothing that listens, workers that are another program, and processes that die."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import psutil
import pytest
import trustme

from pipeline import Search, Snake
from pipeline.level.kernels import load_kernels
from pipeline.running import handshake
from pipeline.running.cluster import ClusterExecutor
from pipeline.running.events import Observer, PassProgress
from pipeline.running.executors import SyncExecutor
from pipeline.running.handshake import Place, Program, WorkerRefused
from pipeline.running.settings import Tls
from pipeline.spaces.contract import StateSpace
from storage.errors import InvalidInput
from tests.engine.jobs import leftovers, summary
from tests.engine.tiny import Sizes, everything_small
from tests.faults.servers import ROOT, Cluster, cluster
from tests.faults.small_disk import can_mount

COMMAND = [sys.executable, "-m", "cli"]


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Files with the certificates of an authority, and with a certificate and a key for this machine."""
    directory = tmp_path_factory.mktemp("certificates")
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1", "localhost")
    authority.cert_pem.write_to_path(str(directory / "ca.pem"))
    certificate.cert_chain_pems[0].write_to_path(str(directory / "cert.pem"))
    certificate.private_key_pem.write_to_path(str(directory / "key.pem"))
    return {name: str(directory / f"{name}.pem") for name in ("ca", "cert", "key")}


def flags(certificates: dict[str, str], form: str) -> list[str]:
    """Options that name the files."""
    return [word for name, path in certificates.items() for word in (form.format(name), path)]


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory: pytest.TempPathFactory, certificates: dict[str, str]) -> Iterator[Cluster]:
    """A cluster that takes encrypted connections alone."""
    options = [
        "--tls-ca-file",
        certificates["ca"],
        "--tls-cert",
        certificates["cert"],
        "--tls-key",
        certificates["key"],
    ]
    with cluster(tmp_path_factory.mktemp("encrypted"), *options, "--protocol", "tls") as running:
        running.add_worker()
        yield running


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster with one worker."""
    with cluster(tmp_path_factory.mktemp("plain")) as running:
        running.add_worker()
        yield running


def connected(address: str, workers: int) -> ClusterExecutor:
    """An executor, when there are so many workers."""
    while True:
        with suppress(InvalidInput):  # no workers yet
            executor = ClusterExecutor(address)
            if executor.workers >= workers:
                return executor
            executor.close()
        time.sleep(0.1)


@contextmanager
def another_worker(running: Cluster, source: Path = ROOT) -> Iterator[subprocess.Popen[bytes]]:
    """A second worker, for a while; it may be killed meanwhile."""
    worker = running.add_worker(source)
    try:
        yield worker
    finally:
        worker.kill()
        worker.wait()
        while True:
            with ClusterExecutor(running.address) as executor:
                if executor.workers == 1:
                    break
            time.sleep(0.05)


def run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command as a user does."""
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=120, cwd=ROOT, **options)


@pytest.mark.parametrize(
    "how",
    ["options", "dask's configuration", pytest.param("an address without a protocol", marks=pytest.mark.slow)],
)
def test_an_encrypted_connection(how: str, encrypted: Cluster, certificates: dict[str, str], tmp_path: Path) -> None:
    assert encrypted.address.startswith("tls://")
    environment = dict(os.environ)
    options = flags(certificates, "--tls-{}")
    address = encrypted.address
    if how == "dask's configuration":
        options = []
        environment["DASK_DISTRIBUTED__COMM__TLS__CA_FILE"] = certificates["ca"]
        environment["DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT"] = certificates["cert"]
        environment["DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY"] = certificates["key"]
    elif how == "an address without a protocol":
        address = address.removeprefix("tls://")
    search = ["run", "--n", "6", "--job", str(tmp_path / "job"), "--scheduler", address]
    result = run(*search, *options, "-q", "--json", env=environment)
    assert (result.returncode, result.stderr) == (0, "")
    assert json.loads(result.stdout)["total"] == 56


@pytest.mark.parametrize("how", ["no certificates", "an authority that nobody knows", "tcp", "a file that is none"])
def test_a_connection_that_is_not_trusted(
    how: str, encrypted: Cluster, plain: Cluster, certificates: dict[str, str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """One line; nothing is written."""
    monkeypatch.setattr("pipeline.running.cluster.CONNECT_SECONDS", 2)
    tls = {name: Path(path) for name, path in certificates.items()}
    address = encrypted.address
    if how == "no certificates":
        tls = {}
    elif how == "an authority that nobody knows":
        trustme.CA().cert_pem.write_to_path(str(tmp_path / "ca.pem"))
        tls["ca"] = tmp_path / "ca.pem"
    elif how == "tcp":
        address = plain.address
    else:
        tls["key"] = tmp_path / "nothing.pem"
    with pytest.raises(InvalidInput) as caught:
        Search(Snake(n=6), tmp_path / "job", scheduler=address, tls=Tls(**tls)).run()
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "job").exists()


class Listening(Observer):
    """Looks for what this process and its children listen on, in the middle of a search."""

    def __init__(self) -> None:
        self.looks = 0
        self.found: list[Any] = []

    def pass_started(self, progress: PassProgress) -> None:
        self.looks += 1
        process = psutil.Process()
        for each in [process, *process.children(recursive=True)]:
            listening = [where for where in each.net_connections(kind="all") if where.status == psutil.CONN_LISTEN]
            self.found.extend(listening)


def test_a_search_listens_nowhere(plain: Cluster, tmp_path: Path) -> None:
    """Neither by itself nor as the client of a cluster, whose servers were told to stay on the loopback interface."""
    connected(plain.address, 1).close()
    program = (
        "import sys; from pathlib import Path; from pipeline import Search, Snake\n"
        "from tests.faults.test_clusters import Listening\n"
        "for scheduler in ('threads', sys.argv[2]):\n"
        "    look = Listening()\n"
        "    Search(Snake(n=6), Path(sys.argv[1], scheduler[:3]), scheduler=scheduler, observer=look).run()\n"
        "    print(look.looks, look.found)"
    )
    command = [sys.executable, "-c", program, str(tmp_path), plain.address]
    looked = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120, check=True)
    lines = [line.split(maxsplit=1) for line in looked.stdout.splitlines()]
    assert len(lines) == 2
    for looks, found in lines:
        assert int(looks) > 5
        assert found == "[]"
    for server in (plain.scheduler, *plain.workers):
        places = psutil.Process(server.pid).net_connections(kind="inet")
        addresses = {place.laddr.ip for place in places if place.status == psutil.CONN_LISTEN}
        assert addresses <= {"127.0.0.1"}


def other_program(directory: Path, change: str) -> Path:
    """The source of the program, with a change."""
    for package in ("pipeline", "storage", "cli", "tests"):
        ignored = shutil.ignore_patterns("__pycache__", "data")
        shutil.copytree(ROOT / package, directory / package, ignore=ignored)
    file, old, new = {
        "format": ("storage/jobs/formats.py", "FORMAT_VERSION = ", "FORMAT_VERSION = 1"),
        "keys": ("pipeline/spaces/snake/space.py", "KeyLayout(version=1)", "KeyLayout(version=7)"),
        "kernel": ("pipeline/spaces/snake/expansion.py", "weight = 4", "weight = 5"),
        "pass": ("pipeline/level/merge.py", "kept.size:", "kept.size > 0:"),
        "missing": ("pipeline/running/handshake.py", "def run_task(", "def run_other("),
    }[change]
    text = (directory / file).read_text()
    assert old in text
    (directory / file).write_text(text.replace(old, new))
    return directory


@pytest.mark.parametrize(
    "change", [pytest.param(name, marks=pytest.mark.slow) for name in ("format", "kernel", "missing")] + ["keys"]
)
def test_a_worker_that_is_another_program(change: str, tmp_path: Path) -> None:
    """It is refused before there is a job."""
    with cluster(tmp_path) as running:
        running.add_worker(other_program(tmp_path / "other", change))
        connected(running.address, 1).close()
        with pytest.raises(WorkerRefused, match=r"another|does not have the program") as caught:
            Search(Snake(n=6), tmp_path / "job", scheduler=running.address).run()
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 8
    assert not (tmp_path / "job").exists()


def which_program(space: StateSpace, number: int) -> str:
    """A task that says where it runs."""
    import pipeline

    time.sleep(0.05)
    return str(Path(pipeline.__file__).parents[1])


def test_a_worker_that_joins_later_and_is_another_program(plain: Cluster, tmp_path: Path) -> None:
    """It gets tasks, refuses them, and gets no more; the others do the work."""
    space = Snake(n=6)
    with connected(plain.address, 1) as executor:
        executor.prepare(partial(load_kernels, space))
        with another_worker(plain, other_program(tmp_path / "other", "pass")):
            connected(plain.address, 2).close()
            places: list[str] = []
            executor.run([(which_program, (space, number)) for number in range(20)], places.append)
            assert places == [str(ROOT)] * 20
            assert len(executor._refused) == 1
            executor.run([(which_program, (space, number)) for number in range(5)], places.append)
            assert places == [str(ROOT)] * 25


def test_a_directory_that_passes_for_a_package_is_no_other_program(tmp_path: Path) -> None:
    """A dask worker makes itself a directory called ``storage``, and looks for modules beside it."""
    (tmp_path / "storage").mkdir()
    code = "import storage; from pipeline.running.handshake import Program; print(Program.of(None).source)"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    there = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert there.stdout.split() == [Program.of(None).source]


def test_every_task_is_checked(plain: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever was found when the search began; without another worker it ends."""
    with connected(plain.address, 1) as executor:
        executor.prepare(partial(load_kernels, Snake(n=6)))
        monkeypatch.setattr("pipeline.running.handshake._version", lambda: "7.0")
        with pytest.raises(WorkerRefused):
            executor.run([(which_program, (Snake(n=6), 0))], print)


def test_a_worker_that_lacks_the_puzzle(plain: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that only this process can import: one line, and no job."""
    (tmp_path / "lonely.py").write_text(
        "from pipeline.spaces.snake.space import Snake\n\n\nclass Lonely(Snake):\n    name = 'lonely'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    space = import_module("lonely").Lonely(n=6)
    with pytest.raises(WorkerRefused, match=r"the worker .* does not have .* the puzzle.*'lonely'") as caught:
        Search(space, tmp_path / "job", scheduler=plain.address).run()
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 8
    assert not (tmp_path / "job").exists()


@pytest.mark.skipif(not can_mount(), reason="needs the right to mount")
def test_a_worker_on_another_file_system(tmp_path: Path) -> None:
    """It is refused before it does anything; one that joins later gets no more tasks, the others go on."""
    (tmp_path / "jobs").mkdir()
    with cluster(tmp_path) as running:
        running.add_worker(hidden=tmp_path / "jobs")
        connected(running.address, 1).close()
        search = Search(Snake(n=6), tmp_path / "jobs" / "job", scheduler=running.address)
        with pytest.raises(WorkerRefused, match=r"does not see .*job: its file system is not shared.*--job") as caught:
            search.run()
        assert "\n" not in str(caught.value)
        assert [path.name for path in (tmp_path / "jobs" / "job" / "levels").iterdir()] == ["zarr.json"]
        with connected(running.address, 1) as executor:
            # As if it had joined later.
            executor._places = (Place.of(tmp_path / "jobs" / "job"),)
            with pytest.raises(WorkerRefused, match=r"all workers of the cluster were refused; the last: .*not shared"):
                executor.run([(which_program, (Snake(n=6), 0))], print)
            running.add_worker()
            connected(running.address, 2).close()
            places: list[str] = []
            executor.run([(which_program, (Snake(n=6), number)) for number in range(5)], places.append)
            assert places == [str(ROOT)] * 5
    assert Search(Snake(n=6), tmp_path / "jobs" / "job").run(resume=True).total == 56


def test_the_digest_of_a_puzzle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a package all modules, of a single module itself alone; a link that leads nowhere is no module."""
    (tmp_path / "single.py").write_text("a = 1\n")
    (tmp_path / "packed").mkdir()
    for name in ("__init__", "part"):
        (tmp_path / "packed" / f"{name}.py").write_text("a = 1\n")
    monkeypatch.syspath_prepend(tmp_path)

    def digests() -> list[str]:
        handshake._digest_of.cache_clear()
        return [handshake._digest_of(name) for name in ("single", "packed", "packed.part")]

    before = digests()
    (tmp_path / "another.py").write_text("a = 2\n")
    (tmp_path / "packed" / ".#part.py").symlink_to("somebody@host.4711")
    assert digests() == before
    (tmp_path / "packed" / "part.py").write_text("a = 3\n")
    after = digests()
    assert [old == new for old, new in zip(before, after, strict=True)] == [True, False, False]
    handshake._digest_of.cache_clear()


class KillAt(Observer):
    """Kills a process in the middle of a pass."""

    def __init__(self, depth: int, victim: subprocess.Popen[bytes]) -> None:
        self._depth = depth
        self._victim = victim

    def progressed(self, progress: PassProgress) -> None:
        if progress.depth == self._depth and self._victim.poll() is None:
            self._victim.kill()
            self._victim.wait()


def test_a_worker_dies(plain: Cluster, tmp_path: Path) -> None:
    """Its tasks are done by another; the result is the same."""
    space = Snake(n=9)
    with everything_small(Sizes(memory=10**6)):
        Search(space, job=tmp_path / "plain").run()
    with another_worker(plain) as victim:
        connected(plain.address, 2).close()
        with everything_small(Sizes(memory=10**6)):
            Search(space, tmp_path / "job", scheduler=plain.address, observer=KillAt(4, victim)).run()
        assert victim.poll() == -signal.SIGKILL
    assert summary(tmp_path / "job") == summary(tmp_path / "plain")
    assert leftovers(tmp_path / "job") == []


def test_the_scheduler_dies(tmp_path: Path) -> None:
    """The job stops with one line and goes on elsewhere."""
    job = tmp_path / "job"
    search = ["run", "--puzzle", "fifteen", "--max-depth", "20", "--job", str(job), "-q"]
    with cluster(tmp_path) as running:
        running.add_worker()
        connected(running.address, 1).close()
        command = [*COMMAND, *search, "--scheduler", running.address]
        # dask waits for a scheduler to come back.
        impatient = {**os.environ, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "1s"}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen(command, cwd=ROOT, text=True, env=impatient, **pipes) as process:
            while not (job / "levels" / "0012").exists():
                assert process.poll() is None
                time.sleep(0.005)
            running.scheduler.kill()
            out, notes = process.communicate(timeout=120)
    assert process.returncode == 8, notes
    assert out == ""
    assert notes.startswith(f"error: the cluster at {running.address} was lost")
    assert notes.count("\n") == 1
    assert not (job / "levels" / "0020").exists()
    result = run(*search, "--resume", "--json")
    assert result.returncode == 0, result.stderr
    terms = json.loads((ROOT / "tests" / "data" / "fifteen_exactly_n.json").read_text())["terms"]
    assert json.loads(result.stdout)["exactly"] == terms[:21]


def test_a_local_search_needs_no_program() -> None:
    """The check costs nothing where there is no cluster."""
    done: list[int] = []
    SyncExecutor().run([(lambda number: number, (3,))], done.append)
    assert done == [3]
