"""Stopping by Ctrl-C and SIGTERM, and going on from there."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from cli.resuming import stopping
from tests.helpers.commands import COMMAND

DEPTH = 19
DATA = json.loads((Path(__file__).parents[1] / "data" / "fifteen_exactly_n.json").read_text())
SEARCH = ["run", "--puzzle", "fifteen", "--n", str(DEPTH), "--workers", "1", "--job", "a job"]


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGUSR1, 138), (signal.SIGKILL, -9)]
)
def test_stop_and_continue(start, process, number, code):
    """In the middle of a level. What was asked for says how to go on; a kill is as good, but for that."""
    search = start(*SEARCH, "--overwrite", before=("tests.helpers.ending:in_pass", 12, "expand", int(number)))
    out, notes = search.communicate(timeout=300)
    assert search.returncode == code, notes
    assert out == ""
    if number != signal.SIGKILL:
        assert shlex.split(notes.splitlines()[-1]) == ["python", "-m", "cli", *SEARCH, "--resume"]
    assert Path("a job/levels/0011").exists()
    assert not Path(f"a job/levels/{DEPTH:04d}").exists()
    result = process(*SEARCH, "--resume", "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["exactly"] == DATA["terms"][: DEPTH + 1]


def test_a_stop_before_the_first_task_counts():
    from pipeline import Search, Snake
    from storage.errors import Stopped

    search = Search(Snake(n=6), "job")
    search.stop()
    with pytest.raises(Stopped):
        search.run()


def test_the_second_signal_ends_at_once(monkeypatch):
    def end(code: int) -> None:
        raise SystemExit(code)

    asked = []
    monkeypatch.setattr(os, "_exit", end)
    before = signal.getsignal(signal.SIGINT)
    with stopping(on_terminal=False) as stop:
        stop.tell(lambda: asked.append(True))
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.exit_code == 130
        with pytest.raises(SystemExit, match="143"):
            os.kill(os.getpid(), signal.SIGTERM)
    assert asked == [True]
    assert signal.getsignal(signal.SIGINT) is before


def test_a_signal_that_comes_early_is_not_forgotten():
    asked = []
    with stopping(on_terminal=False) as stop:
        os.kill(os.getpid(), signal.SIGTERM)
        stop.tell(lambda: asked.append(True))
    assert asked == [True]
    assert stop.exit_code == 143


def test_a_stop_while_libraries_are_imported():
    command = [*COMMAND, "run", "--puzzle", "fifteen", "--job", "a job"]
    search = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    _wait_for_library(search)
    search.send_signal(signal.SIGTERM)
    _, notes = search.communicate(timeout=300)
    assert search.returncode == 143, notes
    assert shlex.split(notes.splitlines()[-1])[-1] == "--resume"


def _wait_for_library(process: subprocess.Popen[str]) -> None:
    """Wait until a process has loaded numpy's shared library, and so is in the middle of its imports."""
    while "numpy" not in Path(f"/proc/{process.pid}/maps").read_text(errors="replace"):
        assert process.poll() is None
        time.sleep(0.005)


def test_a_batch_system_warns_before_it_ends_a_job():
    asked = []
    with stopping(on_terminal=False) as stop:
        stop.tell(lambda: asked.append(True))
        os.kill(os.getpid(), signal.SIGUSR1)
    assert asked == [True]
    assert stop.exit_code == 128 + signal.SIGUSR1


def test_time_that_runs_out():
    asked = threading.Event()
    with stopping(on_terminal=False, seconds=0.01) as stop:
        stop.tell(asked.set)
        assert asked.wait(60)
        assert stop.exit_code == 124
        # Who asks after that gets at once what was asked for already.
        again = threading.Event()
        stop.tell(again.set)
        assert again.is_set()


def test_a_limit_of_time(run):
    """A search that would take a day; the command line that goes on has the limit again."""
    result = run("run", "--puzzle", "fifteen", "--max-time", "0.5s", "--job", "a job", code=124)
    assert result.stdout == ""
    assert "stopped, as --max-time says" in result.stderr
    assert shlex.split(result.stderr.splitlines()[-1])[-5:] == ["--max-time", "0.5s", "--job", "a job", "--resume"]


@pytest.mark.parametrize("text", ["0", "-1", "soon", "1:2", "1:00:00:00", "400d", "1e3"])
def test_what_is_no_time(fails, text):
    assert "time" in fails(2, "run", "--max-time", text)
