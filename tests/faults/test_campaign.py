"""A short campaign of kills; ``python -m tests.faults.campaign`` is the long one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.campaign import LARGE, SMALL, campaign


def test_a_few_kills(tmp_path: Path) -> None:
    report = campaign(SMALL, 6, 1, tmp_path, most=2)
    assert sum(report.kills.values()) >= 6
    assert report.jobs >= len(SMALL)
    assert report.different == []


@pytest.mark.slow
def test_two_hundred_kills(tmp_path: Path) -> None:
    report = campaign(LARGE, 200, 2, tmp_path)
    assert report.different == []
    assert report.resumes_killed > 50
    phases = {phase for _, phase in report.kills}
    assert phases >= {"start", "expand", "merge", "commit", "search"}
