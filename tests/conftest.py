"""What all tests share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

DATA = Path(__file__).parent / "data"

# No timed assertions: machines that run several things at once are slow now and then.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def snake_counts() -> dict[str, Any]:
    """Totals (``A037245``) and depth tables (``depth_counts``) of the snake."""
    counts: dict[str, Any] = json.loads((DATA / "snake_counts.json").read_text())
    return counts


@pytest.fixture(scope="session")
def sliding_counts() -> dict[tuple[int, int], list[int]]:
    """Depth tables of boards by rows and columns, the blank starting in the last cell."""
    entries = json.loads((DATA / "sliding_counts.json").read_text()).values()
    return {(entry["rows"], entry["cols"]): entry["terms"] for entry in entries}
