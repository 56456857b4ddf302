"""Pipes, terminals, colours, full disks."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import time
from math import inf
from pathlib import Path

import pytest

import cli.progress
import cli.tables
from cli.measuring import Meter
from cli.progress import LineObserver, ProgressObserver, observer_for
from pipeline.running.counters import Counters
from pipeline.running.events import PassProgress
from storage.jobs.job import Job
from tests.helpers import commands
from tests.helpers.commands import COMMAND, Process

COLOUR = re.compile(rb"\x1b\[[0-9;]*m")


def _on_terminal(*arguments: str, columns: int = 120, **environment: str) -> bytes:
    """What a terminal gets to see."""
    inside, outside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    variables = {**os.environ, "TERM": "xterm-256color", **environment}
    search = Process(arguments, stdout=outside, stderr=outside, env=variables)
    os.close(outside)
    seen = b""
    while True:
        try:
            piece = os.read(inside, 1 << 16)
        except OSError:  # so Linux says that the other side has closed
            break
        if not piece:
            break
        seen += piece
    os.close(inside)
    assert search.wait(60) == 0, seen
    return seen


def test_live_display_and_table():
    seen = _on_terminal("run", "--n", "8")
    assert b"\x1b[?25l" in seen
    assert b"\x1b[?25h" in seen
    assert COLOUR.search(seen)
    assert "──".encode() in seen
    assert b"388" in seen


def test_no_colour():
    seen = _on_terminal("run", "--n", "8", NO_COLOR="1")
    assert not COLOUR.search(seen)
    assert b"388" in seen


@pytest.mark.parametrize("columns", [40, 60, 80, 100])
def test_narrow_terminals(run, columns):
    """Numbers and words stay whole: digests are shortened, and columns left out."""
    run("run", "--n", "8", "-q")
    seen = _on_terminal("inspect", "snake-8", columns=columns, NO_COLOR="1", COLUMNS="0").decode()
    lines = seen[seen.index("depth ") :].splitlines()
    assert max(len(line.rstrip()) for line in lines[:11]) <= columns
    assert [line.split()[:2] for line in lines[2:11]] == [
        [str(depth), str(states)] for depth, states in enumerate([1, 4, 24, 65, 115, 110, 57, 12, 0])
    ]
    assert "0xe220a839" in lines[2]
    assert ("no room for" in seen) == (columns < 100)


def test_a_table_that_cannot_be_drawn_becomes_blocks(monkeypatch, capsys):
    monkeypatch.setattr(cli.tables, "is_fancy", lambda stream: True)
    monkeypatch.setenv("COLUMNS", "30")
    cli.tables.print_table(["name", "first", "second"], [["a", 10**20, 2 * 10**20], ["b", 1, 2]])
    assert capsys.readouterr().out.splitlines() == [
        "name    a",
        "first   100000000000000000000",
        "second  200000000000000000000",
        "",
        "name    b",
        "first   1",
        "second  2",
    ]


def test_a_terminal_that_goes_away(tmp_path):
    """Hang-ups are ignored, as by nohup: the search goes on to its end without a display."""
    inside, outside = pty.openpty()
    command = [*COMMAND, "run", "--puzzle", "fifteen", "--n", "18", "--job", str(tmp_path / "job"), "--verbose"]
    search = subprocess.Popen(
        command,
        stdin=outside,
        stdout=outside,
        stderr=outside,
        env={**os.environ, "TERM": "xterm-256color"},
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    os.close(outside)
    os.read(inside, 1)
    os.close(inside)
    # The table cannot be written any more, which is an error, but the job is done.
    assert search.wait(120) == 1
    assert Job.open(tmp_path / "job").depths() == list(range(19))


@pytest.mark.parametrize("term", ["dumb", ""])
def test_simple_terminals_get_plain_text(term):
    seen = _on_terminal("run", "--n", "8", TERM=term)
    assert b"\x1b" not in seen
    assert b"388" in seen


def test_pipes_get_data_only(process):
    result = process("run", "--n", "8", env={**os.environ, "TERM": "xterm-256color"})
    assert "\x1b" not in result.stdout + result.stderr
    assert [len(line.split()) for line in result.stdout.splitlines()] == [2] * 10


def test_a_reader_that_leaves_early(start):
    moves = start("moves", "--json", stdin=subprocess.PIPE)
    moves.stdout.close()
    _, notes = moves.communicate("1111111\n" * 5000)
    assert moves.returncode == 1
    assert notes == ""


@pytest.mark.parametrize("arguments", [["draw", "112"], ["--help"]])
def test_a_full_disk(arguments):
    with open("/dev/full", "w") as full:
        result = commands.run(*arguments, stdout=full, text=True)
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert "No space left on device" in result.stderr


def test_encodings_without_lines():
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    result = subprocess.run([*COMMAND, "draw", "112"], env=environment, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0
    assert "?" in result.stdout


def test_lines_now_and_then(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(cli.progress, "LINE_SECONDS", 0.05)
    monkeypatch.setattr(cli.progress.Job, "open", lambda path: type("Empty", (), {"manifests": lambda self: []})())
    observer = LineObserver(tmp_path, 1 << 30, report_from=inf)
    with observer:
        observer.pass_started(PassProgress(7, "expand", 1000, Counters(500, 2000, 300)))
        for _ in range(200):
            time.sleep(0.01)
            text = capsys.readouterr().err
            if text:
                break
    assert "level 7, expand 50%, 500 of 1000 states, 2000 generated" in text
    assert "of 1.00 GiB memory in use" in text


def test_the_observer_suits_the_wishes(monkeypatch):
    def kind(**wishes: bool) -> type:
        return type(observer_for(Path("job"), None, **{"progress": True, "verbose": False, "quiet": False, **wishes}))

    assert kind() is LineObserver
    assert kind(progress=False) is ProgressObserver
    assert kind(quiet=True) is ProgressObserver


def test_meter():
    meter = Meter()
    assert (meter.percent(), meter.seconds_left(), meter.rate()) == (0, None, 0)
    progress = PassProgress(3, "expand", 100, Counters(50))
    meter.start(progress)
    time.sleep(0.01)
    # What a resumed pass has done already does not count for its speed.
    assert (meter.percent(), meter.seconds_left()) == (50, None)
    progress.counters = Counters(keys=75, generated=300)
    assert meter.seconds_left() > 0
    assert meter.rate() > 0
    meter.start(PassProgress(3, "merge", 0))
    assert meter.percent() == 100
