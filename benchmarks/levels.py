"""Rate and size of every level of some searches, in processor time, which other programs hardly change.

    python benchmarks/levels.py 'snake 19' 'fifteen 27'

Searches run in this process, one after the other, in a temporary directory.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from pipeline.bench.machine import describe_machine
from pipeline.estimate.trial import Trial
from pipeline.level.kernels import load_kernels
from pipeline.running.memory import available_workers
from pipeline.running.settings import Settings
from pipeline.spaces.contract import StateSpace
from pipeline.spaces.registry import make_space

CASES: dict[str, tuple[str, dict[str, Any], int | None]] = {
    "snake 17": ("snake", {"n": 17}, None),
    "snake 19": ("snake", {"n": 19}, None),
    "fifteen 27": ("fifteen", {}, 27),
    "3x4": ("sliding", {"rows": 3, "cols": 4}, None),
}
UNLIMITED = 1 << 62
MEMORY = 1 << 30
RESULTS = Path(__file__).parent / "results"


def measure(space: StateSpace, depth: int | None) -> dict[str, Any]:
    """Levels of a search."""
    load_kernels(space)
    with tempfile.TemporaryDirectory() as directory:
        settings = Settings(memory=MEMORY, max_depth=depth)
        measured = Trial(space, settings, most_keys=UNLIMITED, most_seconds=UNLIMITED).run(Path(directory))
    levels = [
        {
            "depth": manifest.depth,
            "states": manifest.states,
            "keys": manifest.keys,
            "bytes": manifest.bytes,
            "processor_seconds": round(measured.work.get(manifest.depth, 0.0), 3),
        }
        for manifest in measured.manifests
    ]
    return {"levels": levels, "share_of_processors": round(measured.share, 3)}


def main() -> None:
    """Parse the command line, measure, save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=list(CASES), metavar="CASE", help=", ".join(CASES))
    cases = {}
    for name in parser.parse_args().cases:
        if name not in CASES:
            parser.error(f"there is no case {name!r}")
        puzzle, parameters, depth = CASES[name]
        cases[name] = measure(make_space(puzzle, parameters), depth)
    document = {"format": 1, "machine": describe_machine(), "workers": available_workers(), "cases": cases}
    (RESULTS / "levels.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
