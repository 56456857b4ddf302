"""The budget holds for the whole process, as the operating system accounts for it.

Peak memory does not depend on how fast or how busy a machine is. Budgets are given as what a process takes that does
next to nothing, which differs between machines and versions of the libraries, and so much more.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

MIB = 1 << 20
# The least that is not refused: reserve, part of a worker, smallest buffer.
LEAST = 88


def peak_of(*arguments: str | Path) -> int:
    """Largest resident memory, in bytes, of ``pipeline`` with the given arguments."""
    command = [sys.executable, "-m", "cli", *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, said
    return usage.ru_maxrss * 1024


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> int:
    """What a search of next to nothing takes, in MiB, its kernels compiled before."""
    job = tmp_path_factory.mktemp("bare") / "job"
    for search in ("--n 2", "--puzzle fifteen --n 2"):
        peak_of("run", *search.split(), "--job", job, "--overwrite")
        peak_of("inspect", job, "--head", "1")
    peak_of("census", "--n", "12", "--depths")
    return peak_of("run", "--n", "2", "--job", job, "--overwrite") // MIB


RUNS = [
    # What to search, workers, MiB more than a bare process.
    ("--n 17", 2, 256),
    ("--n 17", 32, 140),
    ("--puzzle fifteen --n 22", 1, 256),
    ("--puzzle fifteen --n 22", 16, 300),
    ("--puzzle fifteen --n 23", 2, LEAST),
    ("--puzzle fifteen --n 23", 8, 160),
]
LONG_RUNS = [
    ("--n 18", 8, 190),
    ("--n 18", 16, 190),
    ("--n 19", 32, 1000),
    ("--puzzle fifteen --n 24", 8, 230),
    *(("--puzzle fifteen --n 25", workers, spare) for workers in (1, 4, 8, 16, 32) for spare in (LEAST, 180, 280, 430)),
]


@pytest.mark.parametrize(
    ("search", "workers", "spare"), [*RUNS, *(pytest.param(*run, marks=pytest.mark.slow) for run in LONG_RUNS)]
)
def test_runs(search: str, workers: int, spare: int, bare: int, tmp_path: Path) -> None:
    budget = bare + spare
    job = tmp_path / "job"
    peak = peak_of("run", *search.split(), "--workers", str(workers), "--job", job, "--memory", f"{budget}MiB")
    assert peak <= budget * MIB


@pytest.mark.slow
@pytest.mark.parametrize(("search", "memory"), [("--puzzle fifteen --n 25", 450), ("--n 18", 350)])
def test_sixteen_workers_in_few_megabytes(search: str, memory: int, bare: int, tmp_path: Path) -> None:
    job = tmp_path / "job"
    peak = peak_of("run", *search.split(), "--workers", "16", "--job", job, "--memory", f"{memory}MiB")
    assert peak <= memory * MIB


@pytest.fixture(scope="module")
def job(bare: int, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A job that was made in the least memory."""
    path = tmp_path_factory.mktemp("made") / "job"
    search = ["--puzzle", "fifteen", "--n", "22", "--workers", "4", "--job", path]
    assert peak_of("run", *search, "--memory", f"{bare + LEAST}MiB") <= (bare + LEAST) * MIB
    return path


def test_a_job_can_be_made_again_in_the_memory_that_it_was_made_in(job: Path, bare: int) -> None:
    assert peak_of("verify", job, "--deep", "--memory", f"{bare + LEAST}MiB") <= (bare + LEAST) * MIB


def test_repair(job: Path, bare: int, tmp_path: Path) -> None:
    """Two chunks in each of the last three levels."""
    damaged = tmp_path / "job"
    shutil.copytree(job, damaged)
    for level in sorted((damaged / "levels").glob("[0-9]*"))[-3:]:
        for partition in (sorted(level.glob("[0-9]*"))[0], sorted(level.glob("[0-9]*"))[-1]):
            with open(partition / "c" / "0", "r+b") as file:
                file.seek(1000)
                file.write(b"damaged")
    assert peak_of("verify", damaged, "--repair", "--memory", f"{bare + LEAST}MiB") <= (bare + LEAST) * MIB


@pytest.mark.parametrize("what", ["--sample 1000000", "--head 5000000", "--head 1000000 --json"])
def test_looking(what: str, job: Path, bare: int) -> None:
    budget = bare + 110
    assert peak_of("inspect", job, *what.split(), "--memory", f"{budget}MiB") <= budget * MIB


@pytest.mark.parametrize("arguments", [["verify"], ["inspect"], ["export", "-f", "csv"]])
def test_commands_that_need_no_budget(arguments: list[str], job: Path, bare: int) -> None:
    command, *rest = arguments
    assert peak_of(command, job, *rest) <= (bare + LEAST) * MIB


@pytest.mark.parametrize("what", ["--n 20 --depths --workers 1", "--n 22 --depths --workers 32"])
def test_census(what: str, bare: int) -> None:
    budget = bare + LEAST
    assert peak_of("census", *what.split(), "--memory", f"{budget}MiB") <= budget * MIB
