"""Full disks and quotas: the job stops, says what it needs, loses nothing, and goes on when there is room."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline import Search, Sliding, Snake
from pipeline.level.disk import Room
from pipeline.level.forecast import Forecast, forecast
from pipeline.level.plan import LevelPlan
from pipeline.running.events import Observer
from storage.errors import OutOfBudget
from storage.files import durable
from storage.files.durable import bytes_below
from storage.jobs.job import Job
from storage.records import Manifest
from tests.engine.jobs import leftovers, summary
from tests.engine.tiny import Sizes, everything_small
from tests.faults.servers import two_workers
from tests.faults.small_disk import can_mount, leave, mounted
from tests.helpers import commands
from tests.helpers.levels import verify_levels

MIB = 1 << 20
SPACE = Snake(n=9)
SIZES = Sizes(buffer=400, chunk=64, task=60, partition=100)
INSIDE = "PIPELINE_TESTS_IN_A_NAMESPACE"
NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount"]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 8 MiB."""
    if not can_mount():
        pytest.skip("only root may mount a small file system; see test_in_a_user_namespace")
    with mounted(tmp_path / "disk", 8 * MIB) as place:
        yield place


@pytest.mark.skipif(can_mount() or INSIDE in os.environ, reason="the tests mount file systems themselves")
def test_in_a_user_namespace() -> None:
    """The tests of this file, for those who are not root."""
    probe = subprocess.run([*NAMESPACE, "true"], check=False, capture_output=True)
    if probe.returncode:
        pytest.skip(f"neither root nor user namespaces: no small file system ({probe.stderr.decode().strip()})")
    command = [*NAMESPACE, sys.executable, "-m", "pytest", "-q", __file__]
    done = subprocess.run(command, env={**os.environ, INSIDE: "1"}, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[int, int, int, int]]:
    """What an undisturbed search finds."""
    path = tmp_path_factory.mktemp("jobs") / "whole"
    Search(SPACE, job=path, memory=2**31).run()
    return summary(path)


def pipeline(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    return commands.run(*arguments, text=True)


def refusal_of(path: Path, **options: Any) -> str | None:
    """Go on with a job; what it says when there is no room, None if it comes to its end."""
    try:
        Search(SPACE, job=path, **options).run(resume=True)
    except OutOfBudget as error:
        return str(error)
    return None


def check_whole(path: Path) -> None:
    """What is committed is whole."""
    list(verify_levels(SPACE, Job.open(path)))


def test_no_room_for_a_job(disk: Path) -> None:
    """Not even for the directory; nothing is left of the attempt."""
    leave(disk, 0)
    before = sorted(disk.iterdir())
    result = pipeline("run", "--n", "9", "--job", str(disk / "job"))
    assert result.returncode == 6
    assert re.fullmatch(r"error: the disk is full while writing .*/job \(.* are free\); .*\n", result.stderr)
    assert sorted(disk.iterdir()) == before
    leave(disk, MIB)
    assert pipeline("run", "--n", "9", "--job", str(disk / "job"), "--quiet").returncode == 0


def test_a_level_that_cannot_fit_is_not_begun(disk: Path, expected: Any) -> None:
    """The command line as users run it: the forecast, --force, and going on after space is made."""
    job = str(disk / "job")
    leave(disk, 60 * 1024)
    result = pipeline("run", "--n", "9", "--job", job, "--quiet")
    assert result.returncode == 6, result.stderr
    found = re.fullmatch(
        r"error: level (\d+) of (.*) is expected to take (.*) more on disk, and (.*) are free there; "
        r"free .*, delete states .* --keep frontier, or begin it all the same with --force\n",
        result.stderr,
    )
    assert found is not None, result.stderr
    depth = int(found[1])
    assert found[2] == job
    assert summary(disk / "job") == expected[:depth]
    assert leftovers(disk / "job") == []
    result = pipeline("run", "--n", "9", "--job", job, "--quiet", "--resume", "--force")
    if result.returncode:
        assert result.returncode == 6
        assert "the disk is full while writing" in result.stderr
    assert summary(disk / "job")[: depth + 1] == expected[: depth + 1] or result.returncode
    check_whole(disk / "job")
    leave(disk, 4 * MIB)
    assert pipeline("run", "--n", "9", "--job", job, "--quiet", "--resume").returncode == 0
    assert summary(disk / "job") == expected


@pytest.mark.parametrize("options", [{"scheduler": "sync"}, {"workers": 2}], ids=["sync", "threads"])
def test_full_at_any_moment(disk: Path, expected: Any, options: dict[str, Any]) -> None:
    """A little more room each time, so that the disk is full in every pass, in commits and between them."""
    path = disk / "job"
    refused = 0
    places = set()
    with everything_small(SIZES):
        for attempt in range(100):
            leave(disk, 4096 * (3 + 3 * attempt))
            refusal = refusal_of(path, force=True, **options)
            if refusal is None:
                break
            refused += 1
            assert re.search(r"the disk is full while writing .*/job \(.* are free\)", refusal), refusal
            assert "\n" not in refusal
            places.update(re.findall(r"about .* more are needed there for level (\d+)", refusal))
            # Nobody has to wait for a holder that is none.
            assert not (path / "work" / "holder.json").exists()
            if path.exists():
                done = summary(path)
                assert done == expected[: len(done)]
    assert refused > 5
    assert len(places) > 2
    assert summary(path) == expected
    assert leftovers(path) == []
    check_whole(path)


def test_full_on_a_worker_of_a_cluster(disk: Path, expected: Any) -> None:
    path = disk / "job"
    with two_workers() as address, everything_small(SIZES):
        Search(SPACE, job=path, scheduler=address, max_depth=4).run()
        leave(disk, 5 * 4096)
        with pytest.raises(OutOfBudget, match=r"disk is full while writing .*; about .* more .* for level 5"):
            Search(SPACE, job=path, scheduler=address, force=True).run(resume=True)
        leave(disk, 4 * MIB)
        limit = bytes_below(path) + 6000
        with pytest.raises(OutOfBudget, match=r"has reached its quota of .*; about .* more"):
            Search(SPACE, job=path, scheduler=address, force=True, max_disk=limit).run(resume=True)
        assert bytes_below(path) <= limit
        Search(SPACE, job=path, scheduler=address).run(resume=True)
    assert summary(path) == expected
    assert leftovers(path) == []


class Scale:
    """Weighs a directory at every durable step; the heaviest it ever was."""

    def __init__(self, path: Path, patch: pytest.MonkeyPatch) -> None:
        self.path = path
        self.most = 0
        for name in ("sync_file", "sync_directory", "publish"):
            patch.setattr(durable, name, self._weighing(getattr(durable, name)))

    def _weighing(self, function: Any) -> Any:
        def weighing(*arguments: Any) -> Any:
            self.most = max(self.most, bytes_below(self.path))
            return function(*arguments)

        return weighing


@pytest.mark.parametrize("keep", ["all", "frontier"])
@pytest.mark.parametrize("workers", [1, 3])
def test_the_quota_holds(
    keep: Any, workers: int, tmp_path: Path, expected: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While levels are made too, with --force, and whatever the forecast said."""
    path = tmp_path / "job"
    scale = Scale(path, monkeypatch)
    refused = 0
    limit = 12_000
    with everything_small(SIZES):
        while limit < MIB:
            scale.most = 0
            refusal = refusal_of(path, workers=workers, keep=keep, max_disk=limit, force=True)
            assert scale.most <= limit
            if refusal is None:
                break
            refused += 1
            assert "quota of" in refusal
            limit = int(limit * 1.15)
    assert refused > 2
    assert scale.most > 0
    assert summary(path) == expected
    assert leftovers(path) == []


def test_the_quota_is_forecast(tmp_path: Path, expected: Any) -> None:
    """A level that does not fit is not begun; what the message says suffices."""
    path = tmp_path / "job"
    limit = 30_000
    refused = 0
    with everything_small(SIZES):
        while limit < MIB:
            refusal = refusal_of(path, max_disk=limit)
            if refusal is None:
                break
            refused += 1
            found = re.search(r"its quota of .* leaves .*; give at least --max-disk (\d+)", refusal)
            assert found is not None, refusal
            assert int(found[1]) > limit
            limit = int(found[1])
            assert leftovers(path) == []
    assert refused > 1
    assert summary(path) == expected


def test_the_command_takes_a_quota(tmp_path: Path) -> None:
    job = str(tmp_path / "job")
    result = pipeline("run", "--n", "9", "--job", job, "--quiet", "--max-disk", "40KiB")
    assert result.returncode == 6
    assert "its quota of 40.00 KiB leaves" in result.stderr
    assert result.stderr.count("\n") == 1
    assert pipeline("run", "--n", "9", "--job", job, "--quiet", "--resume", "--max-disk", "10MiB").returncode == 0


class Forecasts:
    """Compares what is forecast of levels with what they take."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.expected: dict[int, Forecast] = {}
        self.partitions: dict[int, int] = {}
        begin = Room.begin

        def remember(room: Room, work: Any, plan: LevelPlan, in_memory: bool) -> None:
            before = [room._job.level(depth).manifest for depth in range(work.depth)]
            self.expected[work.depth] = forecast(plan, before, in_memory, work.cut.sample)
            self.partitions[work.depth] = plan.partitions
            begin(room, work, plan, in_memory)

        patch.setattr(Room, "begin", remember)

    def check(self, manifests: list[Manifest]) -> int:
        """Never too little, and not wildly too much."""
        checked = 0
        for manifest in manifests:
            if manifest.keys < 4000:
                continue
            expected = self.expected[manifest.depth]
            metadata = 30_000 * self.partitions[manifest.depth]
            assert manifest.bytes <= expected.arrays <= 4 * manifest.bytes + metadata, manifest.depth
            if manifest.peak_spill_bytes:
                assert manifest.peak_spill_bytes <= expected.spills <= 3 * manifest.peak_spill_bytes + 60_000
            checked += 1
        return checked


@pytest.mark.parametrize("memory", [0, 10**7], ids=["spills on disk", "spills in memory"])
def test_forecasts(memory: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of both puzzles, while levels grow."""
    forecasts = Forecasts(monkeypatch)
    sizes = Sizes(
        buffer=1 << 16, memory=memory, chunk=1 << 13, frame=1 << 12, task=1 << 12, partition=1 << 13, window=1 << 14
    )
    with everything_small(sizes):
        Search(Sliding(), job=tmp_path / "board", max_depth=17).run()
        assert forecasts.check(Job.open(tmp_path / "board").manifests()) > 4
        forecasts.expected.clear()
        Search(Snake(n=13), job=tmp_path / "snake", max_depth=7).run()
        assert forecasts.check(Job.open(tmp_path / "snake").manifests()) > 2


def test_states_that_are_no_longer_needed_go_first(tmp_path: Path, expected: Any) -> None:
    """The remedy that the message names works: --keep frontier makes room before the next level is begun."""
    path = tmp_path / "job"
    with everything_small(SIZES):
        Search(SPACE, job=path, max_depth=5).run()
        Search(SPACE, job=path, max_depth=5, keep="frontier").run(resume=True)
        assert [manifest.arrays_kept for manifest in Job.open(path).manifests()] == [False] * 4 + [True] * 2
        Search(SPACE, job=path, keep="frontier", observer=Observer()).run(resume=True)
    assert summary(path) == expected
    shutil.rmtree(path)
