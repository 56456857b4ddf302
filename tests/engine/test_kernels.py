"""All kernels of a search are compiled before its tasks run, with the types that the tasks use."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import json, sys
from numba.core.dispatcher import Dispatcher
from pipeline import Search, Sliding, Snake
from pipeline.level.kernels import load_kernels

def compiled():
    found = {}
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").split(".")[0] in ("pipeline", "storage"):
            for value in vars(module).values():
                if isinstance(value, Dispatcher):
                    found[value.py_func.__module__ + "." + value.py_func.__name__] = len(value.signatures)
    return found

space = eval(sys.argv[1])
load_kernels(space)
before = compiled()
Search(space, job=sys.argv[2], memory=2**31, workers=2).run()
print(json.dumps([before, compiled()]))
"""


@pytest.mark.parametrize("space", ["Snake(n=14)", "Snake(n=11, start='1121012111')", "Sliding(rows=2, cols=5)"])
def test_nothing_is_compiled_while_tasks_run(space: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, space, str(tmp_path / "job")], capture_output=True, text=True, check=True
    )
    before, after = json.loads(done.stdout)
    assert before
    assert after == before
