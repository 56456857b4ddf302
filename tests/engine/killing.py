"""The other end of :mod:`tests.engine.driver`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.engine.tiny import Sizes

ROOT = Path(__file__).parents[2]


class Driver:
    """Orders searches and gets their answers."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def search(
        self,
        job: Path,
        puzzle: str,
        parameters: dict[str, Any],
        *,
        sizes: Sizes | None = None,
        ordinary: bool = False,
        die_at: int = -1,
        kill_after: int | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        """Go on with a job (or start it), to the end or until the process is killed.

        It dies before or after the change to the disk ``die_at``, or is killed soon after the change ``kill_after``.
        """
        order = {
            "job": str(job),
            "puzzle": puzzle,
            "parameters": parameters,
            "sizes": asdict(sizes or Sizes()),
            "ordinary": ordinary,
            "die_at": die_at,
            "kill_after": kill_after,
            "options": options,
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the driver ended"
        answer: dict[str, Any] = json.loads(line)
        if "summary" in answer:
            answer["summary"] = [tuple(entry) for entry in answer["summary"]]
        return answer


@contextmanager
def driver() -> Iterator[Driver]:
    """A driver for a while."""
    command = [sys.executable, "-m", "tests.engine.driver"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Driver(process)
        assert process.stdin is not None
        process.stdin.close()
        process.wait()
