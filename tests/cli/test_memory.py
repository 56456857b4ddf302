"""The budget holds for the whole process, as the operating system accounts for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

MIB = 1 << 20


def peak_of(*arguments: str | Path) -> int:
    """Largest resident memory, in bytes, of ``pipeline run`` with the given arguments."""
    command = [sys.executable, "-m", "cli", "run", "--quiet", *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss * 1024


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> int:
    """What a search of next to nothing takes, its kernels compiled before."""
    job = tmp_path_factory.mktemp("bare") / "job"
    peak_of("--puzzle", "fifteen", "--n", "2", "--job", job.with_name("fifteen"))
    peak_of("--n", "2", "--job", job)
    return peak_of("--n", "2", "--job", job, "--overwrite")


@pytest.mark.parametrize("search", ["--n 17", "--puzzle fifteen --n 22"])
def test_256_mib_over_the_bare_process(search: str, bare: int, tmp_path: Path) -> None:
    budget = bare // MIB + 256
    assert peak_of(*search.split(), "--job", tmp_path / "job", "--memory", f"{budget}MiB") <= budget * MIB


@pytest.mark.parametrize("spare", [104, 160])
def test_spilling_to_disk_keeps_the_budget(spare: int, bare: int, tmp_path: Path) -> None:
    """Levels that do not fit: 2.9 million keys take 22 MiB, and twice that while they are merged."""
    budget = bare // MIB + spare
    peak = peak_of("--puzzle", "fifteen", "--n", "23", "--job", tmp_path / "job", "--memory", f"{budget}MiB")
    assert peak <= budget * MIB
