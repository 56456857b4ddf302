"""One process writes to a job at a time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline import Search, Snake
from storage.errors import JobLocked
from storage.jobs.job import Job

HOLDER = """
import sys, time
from pathlib import Path
from storage.jobs.job import Job
with Job.open(Path(sys.argv[1])).lock():
    print("locked", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def holder(job_copy: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock of ``job_copy``."""
    command = [sys.executable, "-c", HOLDER, str(job_copy)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        yield process
        process.kill()


def test_a_locked_job_is_refused(job_copy: Path, holder: subprocess.Popen[str]) -> None:
    """The message names the process; reading goes on; the job is unharmed."""
    who = rf"process {holder.pid} on {os.uname().nodename} \(since .*\) is writing to .*job"
    before = sorted(path for path in job_copy.rglob("*"))
    with pytest.raises(JobLocked, match=who), Job.open(job_copy).lock():
        pass
    with pytest.raises(JobLocked, match=who):
        Job.remove(job_copy)
    with pytest.raises(JobLocked, match=who):
        Search(Snake(n=10), job=job_copy).run(resume=True)
    with pytest.raises(JobLocked, match=who):
        Search(Snake(n=10), job=job_copy).run(overwrite=True)
    assert sorted(path for path in job_copy.rglob("*")) == before
    assert len(Job.open(job_copy).manifests()) == 11


def test_the_lock_goes_with_its_process(job_copy: Path, holder: subprocess.Popen[str]) -> None:
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert (job_copy / "work" / "holder.json").exists()
    with Job.open(job_copy).lock():
        pass
    assert not (job_copy / "work" / "holder.json").exists()


def test_two_in_one_process(job_copy: Path) -> None:
    first, second = Job.open(job_copy), Job.open(job_copy)
    with first.lock(), pytest.raises(JobLocked, match=f"process {os.getpid()}"), second.lock():
        pass
    with Job.open(job_copy).lock():
        pass
