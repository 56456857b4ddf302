"""What is measured, kept and compared. No figure is tested for its size: that is another on every machine."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from pipeline.bench.cases import QUICK, STANDARD, case_of
from pipeline.bench.processes import Processes
from pipeline.bench.results import Result, ratios, read_result
from pipeline.bench.steps import UNITS, time_steps
from pipeline.bench.timing import shortest
from pipeline.spaces.snake.space import Snake
from storage.errors import InvalidInput, PipelineError, Stopped


def result() -> dict[str, Any]:
    """A result document with one case."""
    case = {"seconds": 2.0, "processor_seconds": 3.0, "peak_bytes": 10.0, "each_second_and_core": 5.0}
    return {
        "format": 1,
        "cases": {"snake 9": case},
        "steps": {"snake 9": {"depth": 3.0, "expand": 8.0}},
        "sorts": {"1024": {"in_use": 4.0}},
        "disk": {"write": 100.0, "read": 100.0},
    }


def test_names_of_cases() -> None:
    assert case_of("fifteen 9").arguments == ("run", "--puzzle", "fifteen", "--n", "9", "--memory", "1GiB")
    assert case_of("3x4").arguments == ("run", "--puzzle", "sliding", "-p", "rows=3", "-p", "cols=4")
    assert not case_of("census 9").keeps_job
    assert [case.name for case in STANDARD] == ["snake 17", "snake 19", "fifteen 25", "3x4", "census 26"]
    assert {case.name.split()[0] for case in QUICK} >= {"snake", "fifteen", "census"}
    with pytest.raises(InvalidInput, match="there is no case 'snake'"):
        case_of("snake")


def test_peak_memory_is_that_of_the_command() -> None:
    allocating = "import sys; sys.stdout.buffer.write(b'x' * (200 << 20) * 0 or bytes(len(bytes(200 << 20)) >> 20))"
    large, output = Processes().run([sys.executable, "-c", allocating])
    small, _ = Processes().run([sys.executable, "-c", "pass"])
    assert len(output) == 200
    # What this process holds, hundreds of megabytes of libraries, is in neither.
    assert small.peak_bytes < 100 << 20
    assert large.peak_bytes > 200 << 20
    assert large.seconds > 0
    assert large.processor_seconds > 0


def test_a_command_that_fails_says_why() -> None:
    with pytest.raises(PipelineError, match="failed: no such luck"):
        Processes().run([sys.executable, "-c", "raise SystemExit('no such luck')"])


def test_a_command_can_be_stopped() -> None:
    processes = Processes()
    thread = threading.Timer(0.1, processes.stop)
    thread.start()
    with pytest.raises(Stopped):
        processes.run([sys.executable, "-c", "import time; time.sleep(60)"])
    thread.join()
    with pytest.raises(Stopped):
        processes.run([sys.executable, "-c", "pass"])


def test_options_in_the_environment_do_not_reach_a_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIPELINE_RUN_MEMORY", "1GiB")
    _, output = Processes().run([sys.executable, "-c", "import os; print(os.environ.get('PIPELINE_RUN_MEMORY'))"])
    assert output.split() == [b"None"]


def test_steps_leave_the_keys_alone() -> None:
    space = Snake(n=9)
    keys = space.roots()
    steps = time_steps(space, keys, repetitions=1).document()
    assert keys.tolist() == space.roots().tolist()
    assert set(UNITS) < set(steps)
    assert all(value >= 0 for value in steps.values())
    # The straight snake: every joint but the first half is the mirror image of another.
    assert steps["neighbours"] == 16


def test_the_first_time_does_not_count() -> None:
    calls: list[int] = []
    shortest(lambda: calls.append(0), lambda: calls.append(1), repetitions=2)
    assert calls == [1, 0] * 3


def test_ratios_are_of_time() -> None:
    before, after = result(), result()
    after["cases"]["snake 9"]["seconds"] = 1.0
    after["steps"]["snake 9"]["expand"] = 16.0
    after["disk"]["write"] = 200.0
    after["cases"]["new"] = after["cases"]["snake 9"]
    assert ratios(after, Result.model_validate(before)) == {
        "cases/snake 9": 0.5,
        "steps/snake 9/expand": 2.0,
        "sorts/1024/in_use": 1.0,
        "disk/write": 0.5,
        "disk/read": 1.0,
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no result"),
        ("[]", "no result"),
        ('{"format": 2}', "format"),
        (json.dumps({**result(), "cases": {"snake 9": {"seconds": 0}}}), "cases.snake 9.seconds"),
        (json.dumps({**result(), "sorts": {"9": {"in_use": float("nan")}}}), "sorts.9.in_use"),
    ],
)
def test_something_else_is_no_result(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=message):
        read_result(path)


def test_a_result_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text(json.dumps(result()))
    same = ratios(result(), read_result(path))
    assert set(same) == {"cases/snake 9", "steps/snake 9/expand", "sorts/1024/in_use", "disk/write", "disk/read"}
    assert set(same.values()) == {1.0}
