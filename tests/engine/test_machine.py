"""What control groups allow, read from a made-up file system."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.running.control_groups import memory_limit, processor_limit

MIB = 1 << 20


def groups(directory: Path, membership: str, files: dict[str, str]) -> tuple[Path, Path]:
    """A mount point with some files, and the file that says where a process belongs."""
    root = directory / "cgroup"
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    said = directory / "membership"
    said.write_text(membership)
    return root, said


@pytest.mark.parametrize(
    ("membership", "files", "memory", "processors"),
    [
        pytest.param("0::/\n", {}, None, None, id="nothing is said"),
        pytest.param("0::/\n", {"memory.max": "max", "cpu.max": "max 100000"}, None, None, id="no limit"),
        pytest.param(
            "0::/\n", {"memory.max": str(300 * MIB), "cpu.max": "100000 100000"}, 300 * MIB, 1, id="container"
        ),
        pytest.param(
            "0::/jobs/one\n",
            {"jobs/one/memory.max": str(300 * MIB), "jobs/one/cpu.max": "150000 100000", "jobs/memory.max": "max"},
            300 * MIB,
            2,
            id="nested",
        ),
        pytest.param(
            "0::/jobs/one\n",
            {
                "jobs/one/memory.max": str(300 * MIB),
                "jobs/memory.max": str(200 * MIB),
                "jobs/one/cpu.max": "400000 100000",
                "jobs/cpu.max": "50000 100000",
                "jobs/two/memory.max": str(MIB),
            },
            200 * MIB,
            1,
            id="the group above allows less, another one does not matter",
        ),
        pytest.param("0::/a\n", {"a/memory.high": str(90 * MIB), "a/memory.max": "max"}, 90 * MIB, None, id="high"),
        pytest.param(
            "0::/../../host/path\n", {"memory.max": str(70 * MIB)}, 70 * MIB, None, id="a path that only the host knows"
        ),
        pytest.param(
            "11:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n0::/\n",
            {
                "memory/docker/x/memory.limit_in_bytes": str(300 * MIB),
                "memory/memory.limit_in_bytes": "9223372036854771712",
                "cpu/docker/x/cpu.cfs_quota_us": "300000",
                "cpu/docker/x/cpu.cfs_period_us": "100000",
                "cpu/cpu.cfs_quota_us": "-1",
                "cpu/cpu.cfs_period_us": "100000",
            },
            300 * MIB,
            3,
            id="version 1",
        ),
        pytest.param(
            "11:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n",
            {
                "memory/memory.limit_in_bytes": str(80 * MIB),
                "cpu/cpu.cfs_quota_us": "20000",
                "cpu/cpu.cfs_period_us": "100000",
            },
            80 * MIB,
            1,
            id="version 1 inside a container that is not told its path",
        ),
        pytest.param(
            "0::/a\n1:name=systemd:/a\n", {"unified/a/memory.max": str(60 * MIB)}, 60 * MIB, None, id="both versions"
        ),
        pytest.param("0::/\n", {"memory.max": "much", "cpu.max": "0 0"}, None, None, id="nonsense"),
    ],
)
def test_limits(
    membership: str, files: dict[str, str], memory: int | None, processors: int | None, tmp_path: Path
) -> None:
    root, said = groups(tmp_path, membership, files)
    assert memory_limit(root, said) == memory
    assert processor_limit(root, said) == processors


def test_without_control_groups(tmp_path: Path) -> None:
    assert memory_limit(tmp_path / "none", tmp_path / "nobody") is None
    assert processor_limit(tmp_path / "none", tmp_path / "nobody") is None
