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
from pathlib import Path

import pytest

import cli.display
import cli.progress
import cli.tables
from cli.census_progress import CensusProgress
from cli.display import Display, LineDisplay, LiveDisplay
from cli.progress import SearchProgress
from pipeline.running.counters import Counters
from pipeline.running.events import PassProgress
from storage.jobs.job import Job
from storage.records import Manifest
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
    # What is left out is said. Whether that is needed at 80 columns depends on how wide the times are.
    left_out = not all(name in lines[0] for name in ("partitions", "on disk", "bits/state", "time"))
    assert ("no room for" in seen) == left_out
    assert left_out or columns >= 80
    assert not left_out or columns < 100


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


def _progress(monkeypatch, **wishes: bool) -> SearchProgress:
    """Progress of a search that has no job."""
    empty = type("Empty", (), {"manifests": lambda self: []})()
    monkeypatch.setattr(cli.progress.Job, "open", lambda path: empty)
    return SearchProgress(Path("job"), 1 << 30, **{"progress": True, "verbose": False, "quiet": False, **wishes})


def test_lines_now_and_then(monkeypatch, capsys):
    monkeypatch.setattr(cli.display, "LINE_SECONDS", 0.05)
    search = _progress(monkeypatch)
    with search.display:
        search.pass_started(PassProgress(7, "expand", 1000, Counters(500, 2000, 300)))
        text = ""
        while "level 7" not in text:
            time.sleep(0.01)
            text = capsys.readouterr().err
    assert "level 7, expand 50%, 500 of 1000 states, 2000 generated" in text
    assert "of 1.00 GiB memory in use" in text


def test_the_display_suits_the_wishes(monkeypatch):
    def kind(**wishes: bool) -> type:
        return type(_progress(monkeypatch, **wishes).display)

    assert kind() is LineDisplay
    assert kind(progress=False) is Display
    assert kind(quiet=True) is Display
    assert type(CensusProgress(True, False).display) is LineDisplay
    assert type(CensusProgress(False, False).display) is Display
    monkeypatch.setattr(cli.display, "is_fancy", lambda stream: True)
    assert kind() is LiveDisplay
    assert type(CensusProgress(True, False).display) is LiveDisplay


def test_levels_are_reported_as_wished(monkeypatch, capsys):
    def reported(seconds: float, **wishes: bool) -> bool:
        manifest = Manifest(depth=3, keys=10, states=10, digest=0, bytes=1, seconds=seconds)
        _progress(monkeypatch, **wishes).level_committed(manifest)
        return "level 3: 10 states in" in capsys.readouterr().err

    assert reported(2.0)
    assert not reported(0.5)
    assert reported(0.5, verbose=True)
    assert not reported(2.0, progress=False)
    assert reported(0.5, progress=False, verbose=True)
    assert not reported(2.0, quiet=True)


def test_rates_and_the_time_left(monkeypatch):
    """With a clock of the test's own."""
    now = 100.0
    search = _progress(monkeypatch)
    display = search.display
    assert isinstance(display, LineDisplay)
    display._progress.get_time = lambda: now
    assert display._line(display._look())[0] == "starting"
    progress = PassProgress(3, "expand", 100, Counters(50, 1000))
    search.pass_started(progress)
    for _ in range(2):
        # What a resumed pass has done already does not count for its speed.
        line = display._line(display._look())
        assert line[0] == "level 3, expand 50%"
        assert "1000 generated (0/s)" in line
        assert "time left not known yet" in line
    for keys, generated in ((60, 1400), (70, 1800), (80, 2200)):
        now += 2.0
        progress.counters = Counters(keys, generated)
        line = display._line(display._look())
    assert line[0] == "level 3, expand 80%"
    assert "2200 generated (200/s)" in line
    assert "4 s left" in line
    search.pass_started(PassProgress(3, "merge", 0))
    line = display._line(display._look())
    assert line[0] == "level 3, merge 100%"
    assert "0 s left" in line


def test_what_a_live_display_shows(monkeypatch, capsys):
    monkeypatch.setattr(cli.display, "is_fancy", lambda stream: True)
    monkeypatch.setenv("COLUMNS", "100")
    search = _progress(monkeypatch)
    display = search.display
    assert isinstance(display, LiveDisplay)

    def shown() -> str:
        display._progress.console.print(display._progress.get_renderable())
        return capsys.readouterr().err

    assert shown() == "starting\n"
    search.pass_started(PassProgress(12, "expand", 200, Counters(50, 1000, 300)))
    display.warn("stopping")
    lines = shown().splitlines()
    assert lines[0].split()[:4] == ["level", "12,", "expand", "25%"]
    assert lines[1] == "  50 of 200 states · 1000 generated (0/s) · 300 spilled"
    assert lines[2].startswith("  0 states so far · 0 B on disk · ")
    assert lines[3] == "  stopping"
