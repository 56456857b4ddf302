"""Some cases of :mod:`fuzzing`; ``python -m tests.faults.fuzzing`` runs as many as you like."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_hostile_input() -> None:
    """In a process of its own, whose memory is limited and whose interpreter is watched."""
    command = [sys.executable, "-m", "tests.faults.fuzzing", "--count", "200", "--seed", "2024"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-4000:]
    summary = json.loads(result.stdout.splitlines()[-1])
    assert summary["cases"] == 200
    assert len(summary["kinds"]) == 10
    # Both sides of every fence are tried.
    assert {"0", "2", "3", "5"} <= set(summary["codes"])
