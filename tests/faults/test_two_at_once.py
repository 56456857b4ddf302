"""Two processes on one job: one of them writes, whatever the file system knows of locks and wherever they run."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import storage.locking.lock
from pipeline import Search, Snake
from storage.errors import JobError, JobLocked
from storage.jobs.job import Job
from storage.locking.holder import Holder, create_holder, read_holder, remove_holder
from tests.engine.jobs import leftovers, summary
from tests.engine.tiny import everything_small
from tests.faults.holding import Process, elsewhere, holding


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A job that is done. Not to be changed."""
    path = tmp_path_factory.mktemp("finished") / "job"
    Search(Snake(n=5), job=path, scheduler="sync", max_depth=2).run()
    return path


@pytest.fixture
def job(finished: Path, tmp_path: Path) -> Path:
    """A job to do anything with."""
    return Path(shutil.copytree(finished, tmp_path / "job"))


def holder_of(job: Path) -> Path:
    return job / "work" / "holder.json"


@pytest.fixture
def first(job: Path) -> Iterator[Process]:
    """A process that holds the lock, without a kernel lock that others could see."""
    with holding(job, "first", kernel_locks=False) as process:
        assert process.answer() == "locked"
        yield process


def test_a_living_holder_on_another_host(job: Path, first: Process) -> None:
    """Its sign of life is enough to be refused; host, process and start are named."""
    told: list[str] = []
    who = rf"process {first.pid} on {os.uname().nodename} \(since 2.*\+00:00\) is writing to .*job"
    with elsewhere("second", True), pytest.raises(JobLocked, match=who), Job.open(job).lock(told.append):
        pass
    assert len(told) == 1
    assert "waiting 2 s for a sign of life" in told[0]
    assert first.ask("check") == "done"
    assert first.ask("release") == "released"
    assert not holder_of(job).exists()


@pytest.mark.parametrize("kernel_locks", [True, False])
def test_a_dead_holder_on_another_host(job: Path, first: Process, kernel_locks: bool) -> None:
    first.kill()
    told: list[str] = []
    with elsewhere("second", kernel_locks, patient=False), Job.open(job).lock(told.append) as lock:
        lock.check()
        found = read_holder(holder_of(job))
        assert found is not None
        assert found.process == os.getpid()
    assert len(told) == 1
    assert not holder_of(job).exists()


def test_a_living_holder_on_this_host_without_locks(job: Path) -> None:
    """The process is asked for; nothing is waited for."""
    told: list[str] = []
    with holding(job, kernel_locks=False) as first:
        assert first.answer() == "locked"
        first.send_signal(signal.SIGSTOP)
        who = f"process {first.pid}"
        with elsewhere(None, False), pytest.raises(JobLocked, match=who), Job.open(job).lock(told.append):
            pass
    assert told == []


@pytest.mark.parametrize("change", ["dead", "another process with its number"])
@pytest.mark.parametrize("kernel_locks", [True, False])
def test_a_dead_holder_on_this_host(job: Path, change: str, kernel_locks: bool) -> None:
    """It is taken over at once."""
    told: list[str] = []
    with holding(job, kernel_locks=False) as first:
        assert first.answer() == "locked"
        first.kill()
    if change != "dead":
        document = json.loads(holder_of(job).read_text())
        document["process"] = os.getpid()
        holder_of(job).write_text(json.dumps(document))
    with elsewhere(None, kernel_locks), Job.open(job).lock(told.append) as lock:
        lock.check()
    assert told == []


def test_a_number_in_another_container_says_nothing(job: Path) -> None:
    """Without locks, a process of another namespace is watched, not looked for."""
    told: list[str] = []
    with holding(job, kernel_locks=False) as first:
        assert first.answer() == "locked"
        first.kill()
    document = json.loads(holder_of(job).read_text())
    holder_of(job).write_text(json.dumps({**document, "namespace": "pid:[1]", "process": os.getpid()}))
    with elsewhere(None, False, patient=False), Job.open(job).lock(told.append):
        pass
    assert len(told) == 1


def test_a_holder_that_stood_still(job: Path, first: Process) -> None:
    """It is taken over, and stops when it comes back; the new one keeps the lock."""
    first.send_signal(signal.SIGSTOP)
    with elsewhere("second", False, patient=False), Job.open(job).lock() as lock:
        before = summary(job)
        first.send_signal(signal.SIGCONT)
        assert first.ask("commit").startswith(f"JobLocked: process {os.getpid()} on {os.uname().nodename} (since ")
        assert first.ask("check").startswith("JobLocked: ")
        assert first.ask("release") == "released"
        lock.check()
        assert summary(job) == before
    assert not holder_of(job).exists()


def test_the_heartbeat_finds_the_loss_itself(job: Path) -> None:
    """A long pass is ended early; nothing has to be committed for that."""
    lost: list[bool] = []
    with elsewhere("first", False), Job.open(job).lock(lost=lambda: lost.append(True)) as lock:
        holder_of(job).unlink()
        create_holder(holder_of(job), Holder.this_process())
        for _ in range(600):
            if lost:
                break
            time.sleep(0.02)
        assert lost == [True]
        with pytest.raises(JobLocked, match="stood still"):
            lock.check()
    assert holder_of(job).exists()


def test_several_take_over_at_once(job: Path, first: Process) -> None:
    """Exactly one of them gets the lock, and keeps it."""
    first.kill()
    others = [holding(job, f"host {number}", kernel_locks=False) for number in range(4)]
    processes = [other.__enter__() for other in others]
    try:
        answers = [process.answer() for process in processes]
        assert sorted(answer[:9] for answer in answers) == ["JobLocked", "JobLocked", "JobLocked", "locked"]
        winner = processes[answers.index("locked")]
        assert winner.ask("check") == "done"
        assert winner.ask("commit") == "done"
    finally:
        for other in others:
            other.__exit__(None, None, None)


def test_one_that_was_too_late_to_take_over(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has seen a dead holder, but the file that it moves away is that of a living one: it comes back."""
    dead, living = Holder.this_process(), Holder.this_process()
    os.close(create_holder(holder_of(job), living))
    answers = [dead]
    look = storage.locking.holder.read_holder
    monkeypatch.setattr(storage.locking.holder, "read_holder", lambda path: answers.pop() if answers else look(path))
    assert not remove_holder(holder_of(job), dead.token)
    assert read_holder(holder_of(job)) == living
    assert [entry.name for entry in (job / "work").iterdir() if ".partial" in entry.name] == []
    assert remove_holder(holder_of(job), living.token)
    assert not holder_of(job).exists()


def test_time_in_which_the_watcher_stood_still_says_nothing(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither does a clock that jumps, be it the monotonic one."""
    other = Holder("far", "far", "", 1, 1, "", "token")
    descriptor = create_holder(holder_of(job), other)
    looks = 0
    now = 0.0

    def pause(seconds: float) -> None:
        nonlocal looks, now
        looks += 1
        now += 1000
        if looks == 5:
            os.pwrite(descriptor, other.with_beat(1).to_bytes(), 0)

    monkeypatch.setattr(storage.locking.lock.time, "monotonic", lambda: now)
    monkeypatch.setattr(time, "time", lambda: -now)
    with pytest.raises(JobLocked, match="process 1 on far"), Job.open(job).lock(pause=pause):
        pass
    os.close(descriptor)
    assert looks == 5


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"null", b'{"host": 3}', b"[" * 4096, b"\xff\x00", b"x" * 100_000, b"7"]
)
def test_a_holder_file_that_is_none(job: Path, content: bytes) -> None:
    """It may have just been created; when it stays as it is, it counts for nothing."""
    holder_of(job).write_bytes(content)
    looks: list[float] = []

    def pause(seconds: float) -> None:
        looks.append(seconds)
        time.sleep(0.01)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(storage.locking.lock, "SILENCE_SECONDS", 0.05)
        with Job.open(job).lock(pause=pause) as lock:
            lock.check()
    assert looks


@pytest.mark.parametrize("kind", ["link", "directory", "pipe"])
def test_a_holder_file_of_another_kind(job: Path, tmp_path: Path, kind: str) -> None:
    """It is not followed, and nothing waits for it. A link gives way; what else there is may be somebody's."""
    if kind == "link":
        (tmp_path / "precious").write_text("mine")
        holder_of(job).symlink_to(tmp_path / "precious")
        with Job.open(job).lock():
            assert not holder_of(job).is_symlink()
        assert (tmp_path / "precious").read_text() == "mine"
        return
    if kind == "directory":
        holder_of(job).mkdir()
    else:
        os.mkfifo(holder_of(job))
    with pytest.raises(JobError, match="is no ordinary file; remove it"), Job.open(job).lock():
        pass


def test_a_job_that_was_replaced_meanwhile(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock of a file that has no name any more is no lock of what has its name now."""
    take = storage.locking.lock.portalocker.lock

    def replace_first(*arguments: object) -> None:
        content = (job / "zarr.json").read_bytes()
        (job / "zarr.json").unlink()
        (job / "zarr.json").write_bytes(content)
        take(*arguments)

    monkeypatch.setattr(storage.locking.lock.portalocker, "lock", replace_first)
    with pytest.raises(JobError, match="replaced by another job"), Job.open(job).lock():
        pass


@pytest.mark.parametrize(
    ("place", "answers"),
    [
        ("in the merge", ["JobLocked"]),
        ("before the last look", ["JobLocked"]),
        # What is done is done, and it finds nothing left to do.
        ("between the last look and the rename", ["finished", "JobLocked"]),
    ],
)
def test_a_search_that_stood_still(place: str, answers: list[str], tmp_path: Path) -> None:
    """Stopped in the middle, overtaken by another host, and continued: it ends, and the result is right."""
    space = Snake(n=9)
    with everything_small():
        Search(space, job=tmp_path / "plain", scheduler="sync").run()
    job = tmp_path / "job"
    order = {"puzzle": "snake", "parameters": {"n": 9}, "stop": place, "depth": 5}
    with holding(job, "first", kernel_locks=False, search=order) as process:
        process.wait_until_it_stands_still()
        assert not (job / "levels" / "0005").exists()
        with elsewhere("second", False, patient=False), everything_small():
            Search(space, job=job, scheduler="sync").run(resume=True)
        process.send_signal(signal.SIGCONT)
        assert process.answer().split(":")[0] in answers
    assert summary(job) == summary(tmp_path / "plain")
    # What it wrote after it came back is below work, and goes with the next run.
    Search(space, job=job, scheduler="sync").run(resume=True)
    assert leftovers(job) == []
