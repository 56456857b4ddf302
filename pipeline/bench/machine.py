"""What a measurement was made on, so that nobody compares two machines without knowing."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

from pipeline.running.memory import available_memory, available_workers
from pipeline.running.provenance import DISTRIBUTIONS, version_of


def describe_machine() -> dict[str, Any]:
    """Processor, cores, memory, and versions of what runs."""
    return {
        "processor": _processor(),
        "cores": available_workers(),
        "memory": available_memory(),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": {"python": platform.python_version(), **{name: version_of(name) for name in DISTRIBUTIONS}},
    }


def _processor() -> str:
    """Name of the processor as Linux tells it, or what Python knows."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor() or platform.machine()
    facts = dict(reversed([line.partition(":")[::2] for line in text.splitlines() if ":" in line]))
    named = {name.strip(): value.strip() for name, value in facts.items()}
    words = [named.get("model name", platform.machine())]
    if "cpu family" in named:
        words.append(f"(family {named['cpu family']}, model {named.get('model', '?')})")
    return " ".join(words)
