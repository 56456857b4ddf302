"""Leaving out neighbours that were seen a moment ago."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import Search, Snake
from pipeline.level import expand
from pipeline.level.duplicates import drop_recent, no_recent_keys
from tests.engine.jobs import summary
from tests.engine.tiny import everything_small

KEYS = st.lists(st.one_of(st.integers(0, 5), st.integers(0, 2**64 - 1), st.just(2**64 - 1)))


@given(KEYS, st.integers(1, 6), st.integers(1, 5))
def test_every_key_stays_once_at_least(keys: list[int], bits: int, parts: int) -> None:
    recent = no_recent_keys(1 << bits)
    stay: list[int] = []
    for part in np.array_split(np.array(keys, dtype=np.uint64), parts):
        work = part.copy()
        stay.extend(work[: int(drop_recent(work, recent))].tolist())
    first_seen = list(dict.fromkeys(keys))
    assert list(dict.fromkeys(stay)) == first_seen
    left = iter(keys)
    assert all(key in left for key in stay)


def test_the_same_key_again_and_again() -> None:
    keys = np.full(1000, 7, dtype=np.uint64)
    assert int(drop_recent(keys, no_recent_keys(2))) == 1


@pytest.mark.parametrize("tried", [0, 10**9])
def test_same_levels(tried: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it goes on, or ends at once because nothing is worth it."""
    monkeypatch.setattr(expand, "TRIED_KEYS", tried)
    monkeypatch.setattr(expand, "WORTH_DROPPING", 2.0)
    monkeypatch.setattr(expand, "RECENT_KEYS", 64)
    with everything_small():
        Search(Snake(n=9), job=tmp_path / "job").run()
    Search(Snake(n=9), job=tmp_path / "plain", memory=2**31).run()
    assert summary(tmp_path / "job") == summary(tmp_path / "plain")
