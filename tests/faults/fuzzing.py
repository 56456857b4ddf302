"""Hostile input by the thousand: ``python -m tests.faults.fuzzing --count 100000 --seed 1``.

Each case takes a small job, the journal of a small census, a configuration file, an exported table or a state, damages
it (:mod:`mutating`), and gives it to a command in this process. Whatever the input is, the command must end with a code
of ``docs/exit-codes.md`` and, if that is not 0, one line on standard error; nothing outside the job is read, written or
listed; nothing is imported, loaded or started because the input says so; and no more memory is taken than the process
may have.

The last line printed is a JSON document with the number of cases of each kind and how they ended. A case that fails is
printed with the number that repeats it: ``--only NUMBER`` with the same seed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

from click.testing import CliRunner, Result

import storage.locking.lock
from cli.main import command_line
from storage.files.lines import line_of
from storage.files.sealed import seal
from storage.jobs.formats import FORMAT_VERSION
from storage.journal import DESCRIPTION, ENTRIES
from tests.engine.tiny import Sizes, assign, shrink
from tests.faults.mutating import (
    TEXTS,
    any_value,
    mutate_bytes,
    mutate_chunk,
    mutate_document,
    mutate_spill,
    mutate_text,
    replace_file,
)
from tests.faults.watching import Watch, limited_memory
from tests.golden import DIRECTORY

SECONDS = 30
WARMING = 80
KNOWN_CODES = {0, 1, 2, 3, 4, 5, 6, 7, 8}
LONGEST_LINE = 2000
CONTROL = re.compile(r"[^\S\n ]|[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
EVERY_BUT_REPAIR = (
    "list",
    "inspect",
    "states",
    "find",
    "export",
    "verify",
    "resume",
    "resume",
    "overwrite",
    "deep",
)
EVERY = (*EVERY_BUT_REPAIR, "repair", "repair")
CENSUSES = (["census", "--n", "16"], ["census", "--n", "9", "--exhaustive"])
CONFIG = """\
puzzle = "sliding"
max-depth = 3
memory = "1GiB"
workers = 2
keep = "frontier"
quiet = true

[parameters]
rows = 2
cols = 3
"""


class Fuzzer:
    """Makes and runs cases.

    Parameters
    ----------
    directory : Path
        For the cases; emptied again and again.
    seed : int
    """

    def __init__(self, directory: Path, seed: int) -> None:
        self._seed = seed
        self._directory = directory
        self._jobs = directory / "jobs"
        self._job = self._jobs / "job"
        self._outside = directory / "outside"
        self._bases = [sorted((DIRECTORY / f"format-{version}").iterdir()) for version in range(1, FORMAT_VERSION + 1)]
        self._watch = Watch(self._outside)
        self._contents = {base: contents_of(base) for bases in self._bases for base in bases}
        self._journals = [self._journal_of(census) for census in CENSUSES]
        self._right: dict[str, Any] | None = None
        self._exports = [self._export(form) for form in ("csv", "json", "markdown", "bfile")]
        self.counts: Counter[str] = Counter()
        self.codes: Counter[int] = Counter()
        self.failures: list[str] = []
        self.kinds: dict[str, tuple[int, Callable[[Random], list[str]]]] = {
            "metadata": (24, self._metadata),
            "chunks": (10, self._chunk),
            "spills": (8, self._spill),
            "plans": (6, self._plan),
            "holders": (2, self._holder),
            "journals of a census": (12, self._journal),
            "links and other kinds of file": (12, self._replaced),
            "configurations": (10, self._configuration),
            "exported files as jobs": (8, self._exported),
            "states and arguments": (20, self._state),
        }

    def _base(self, number: int) -> Path:
        bases = [path for paths in self._bases for path in sorted(paths)]
        return bases[number % len(bases)]

    def _export(self, form: str) -> bytes:
        result = self._run(["export", str(self._base(0)), "--format", form])
        assert result.exit_code == 0, result.output
        return result.stdout_bytes

    def _journal_of(self, census: list[str]) -> tuple[list[tuple[Path, bytes]], dict[str, Any]]:
        """The files of a census that is done, and what it has found."""
        path = self._directory / "census"
        result = self._run([*census, "--job", str(path), "--scheduler", "sync", "-q", "--json"])
        assert result.exit_code == 0, result.output
        files = contents_of(path)
        shutil.rmtree(path)
        return files, json.loads(result.stdout)

    def _run(self, arguments: list[str], **options: Any) -> Result:
        return CliRunner().invoke(command_line, arguments, prog_name="pipeline", **options)

    def case(self, number: int) -> None:
        """Make and run one case."""
        random = Random(f"{self._seed}/{number}")
        names = list(self.kinds)
        kind = random.choices(names, [self.kinds[name][0] for name in names])[0]
        for path in (self._jobs, self._outside):
            shutil.rmtree(path, ignore_errors=True)
            path.mkdir()
        (self._outside / "whole").write_text("precious")
        self._right = None
        arguments = self.kinds[kind][1](random)
        self.counts[kind] += 1
        before = self._precious()
        result, complaints = self._watched(arguments)
        self.codes[result.exit_code] += 1
        complaints += self._judge(result)
        if self._precious() != before:
            complaints.append("something outside the job was changed")
        if complaints:
            self.failures.append(complaints[0])
            print(f"case {number} ({kind}): {arguments[:9]!r:.400}", *complaints, sep="\n  ", flush=True)

    def _watched(self, arguments: list[str]) -> tuple[Result, list[str]]:
        """Run a command; returns what the interpreter did that it must not do."""
        complaints: list[str] = []

        def hang(number: int, frame: FrameType | None) -> None:
            raise TimeoutError("".join(traceback.format_stack(frame)[-6:]))

        signal.signal(signal.SIGALRM, hang)
        signal.alarm(SECONDS)
        self._watch.found.clear()
        self._watch.active = True
        try:
            result = self._run(arguments)
        finally:
            self._watch.active = False
            signal.alarm(0)
        complaints += self._watch.found[:3]
        if "bomb" in sys.modules:
            complaints.append("a module that the input names was imported")
        return result, complaints

    def _judge(self, result: Result) -> list[str]:
        """What is wrong with the end of a command."""
        found = []
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            trace = traceback.extract_tb(result.exception.__traceback__)
            places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in trace][-4:]
            found.append(f"{type(result.exception).__name__}: {result.exception!s:.300} at {' '.join(places)}")
        if result.exit_code not in KNOWN_CODES:
            found.append(f"exit code {result.exit_code}")
        errors = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
        if result.exit_code and len(errors) != 1:
            found.append(f"{len(errors)} lines of error")
        if result.exit_code and not result.stderr.endswith(f"{errors[-1] if errors else ''}\n"):
            found.append("the error is not the last line")
        if "memory of the machine" in result.stderr:
            found.append("more memory than there is")
        if any(len(line) > LONGEST_LINE for line in errors):
            found.append("an endless line of error")
        if CONTROL.search(result.output):
            found.append(f"control characters: {CONTROL.search(result.output)!r}")
        if result.exit_code == 0 and self._right is not None:
            answer = json.loads(result.stdout)
            if answer | {"seconds": 0} != self._right | {"seconds": 0}:
                found.append(f"a wrong result: {answer!r:.300}")
        return found

    def _precious(self) -> list[tuple[str, int, int]]:
        """What is outside: names, sizes and times of change."""
        entries = [os.path.join(parent, name) for parent, _, names in os.walk(self._outside) for name in names]
        facts = [(path, os.lstat(path)) for path in sorted(entries)]
        return [(path, fact.st_size, fact.st_mtime_ns) for path, fact in facts]

    def _copy(self, random: Random, wanted: str = "") -> Path:
        """A job to damage, with something of the wanted kind in it."""
        bases = [path for paths in self._bases for path in sorted(paths)]
        random.shuffle(bases)
        base = next(path for path in bases if next(path.glob(wanted or "zarr.json"), None) is not None)
        self._write(self._contents[base])
        return base

    def _write(self, contents: list[tuple[Path, bytes]]) -> None:
        """Write the files of a job."""
        for name, content in contents:
            path = self._job / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def _pick(self, random: Random, *patterns: str) -> Path:
        found = [path for pattern in patterns for path in sorted(self._job.glob(pattern))]
        return random.choice(found)

    def _use(self, random: Random, base: Path, *commands: str) -> list[str]:
        """A command that uses the damaged job."""
        job = str(self._job)
        puzzle = base.name.split("-")[0]
        sizes = {"snake-complete": 7, "snake-expanding": 8, "snake-merging": 8}
        size = next((n for name, n in sizes.items() if base.name.startswith(name)), 0)
        rows, cols = (2, 3) if "frontier" in base.name else (3, 3)
        space = ["-p", f"n={size}"] if puzzle == "snake" else ["-p", f"rows={rows}", "-p", f"cols={cols}"]
        # The level that was begun, and no further.
        bounds = {"snake-expanding": "4", "snake-merging": "5", "sliding-merging": "11"}
        depth = next((["--max-depth", bound] for name, bound in bounds.items() if base.name.startswith(name)), [])
        run = ["run", "--puzzle", puzzle, *space, "--job", job, "-q", "--scheduler", "sync"]
        choices = {
            "list": ["list", "--jobs-dir", str(self._jobs), *random.choice([[], ["--json"]])],
            "inspect": ["inspect", job, *random.choice([[], ["--json"], ["--depth", "3"], ["--depth", "3", "--json"]])],
            "states": [
                "inspect",
                job,
                *random.choice([["--head", "9"], ["--sample", "5"], ["--head", "9", "--depth", "2"]]),
            ],
            "find": ["inspect", job, "--find", "1" * size if size else " ".join(map(str, range(rows * cols)))],
            "export": ["export", job, "--format", random.choice(["csv", "json", "markdown", "bfile"])],
            "verify": ["verify", job, *random.choice([[], ["--json"]])],
            "deep": ["verify", job, "--deep"],
            "repair": ["verify", job, "--repair", *random.choice([[], ["--json"]])],
            "resume": [*run, *depth, "--resume"],
            "overwrite": [*run, "--max-depth", "1", "--overwrite"],
        }
        return choices[random.choice(commands)]

    def _metadata(self, random: Random) -> list[str]:
        base = self._copy(random)
        path = self._pick(random, *random.choice([["zarr.json"], ["levels/*/zarr.json"], ["**/zarr.json"]]))
        self._damage_document(random, path)
        return self._use(random, base, *EVERY_BUT_REPAIR, "verify")

    def _damage_document(self, random: Random, path: Path) -> None:
        text = path.read_text()
        if random.random() < 0.25:
            path.write_bytes(mutate_text(random, text))
            return
        changed = mutate_document(random, json.loads(text))
        if random.random() < 0.8:
            changed = resealed(changed)
        path.write_text(json.dumps(changed), encoding="utf-8", errors="surrogatepass")

    def _chunk(self, random: Random) -> list[str]:
        base = self._copy(random, "levels/0001/*/c/*")
        path = self._pick(random, "**/c/*")
        path.write_bytes(mutate_chunk(random, path.read_bytes()))
        return self._use(random, base, "states", "find", "verify", "verify", "resume", "resume", "deep", "repair")

    def _spill(self, random: Random) -> list[str]:
        base = self._copy(random, "work/*/spills/*")
        paths = sorted(self._job.glob("work/*/spills/*"))
        for path in random.sample(paths, min(len(paths), random.choice([1, 1, 3]))):
            path.write_bytes(mutate_spill(random, path.read_bytes()))
        return self._use(random, base, "resume", "resume", "resume", "verify", "list", "repair")

    def _plan(self, random: Random) -> list[str]:
        base = self._copy(random, "work/*/plan.json")
        self._damage_document(random, self._pick(random, "work/*/plan.json"))
        return self._use(random, base, "resume")

    def _holder(self, random: Random) -> list[str]:
        base = self._copy(random)
        self._damage_holder(random, self._job / "work" / "holder.json")
        return self._use(random, base, "resume", "resume", "overwrite", "list")

    def _damage_holder(self, random: Random, path: Path) -> None:
        holder: dict[str, Any] = {
            "host": "far",
            "boot": "7",
            "namespace": "pid:[1]",
            "process": os.getpid(),
            "born": 12,
            "started": "2026-01-01T00:00:00+00:00",
            "token": "abc",
            "beat": "0000000000000000",
        }
        path.write_text(json.dumps(holder))
        self._damage_document(random, path)

    def _journal(self, random: Random) -> list[str]:
        number = random.randrange(len(CENSUSES))
        files, right = self._journals[number]
        self._write(files)
        action = random.randrange(6)
        if action == 0:
            self._damage_document(random, self._job / DESCRIPTION)
        elif action == 1:
            self._damage_holder(random, self._job / "holder.json")
        elif action == 2:
            replace_file(random, random.choice(sorted(self._job.iterdir())), self._outside)
        elif action == 3:
            path = self._job / ENTRIES
            path.write_bytes(mutate_bytes(random, path.read_bytes()))
        else:
            self._damage_entries(random, self._job / ENTRIES)
        if action < 4:
            # Otherwise checksums are right again, and there may be no telling.
            self._right = right
        job = ["--job", str(self._job), "--scheduler", "sync", "--json", *random.choice([[], ["-q"]])]
        again = random.choice(["--resume"] * 5 + ["--overwrite"])
        other = random.choice([number] * 5 + [1 - number])
        if other != number:
            self._right = self._journals[other][1]
        return [*CENSUSES[other], *job, again]

    def _damage_entries(self, random: Random, path: Path) -> None:
        """Change lines of a journal, with checksums that are right."""
        lines = path.read_bytes().splitlines(keepends=True)
        place = random.randrange(len(lines))
        _, tag, text = lines[place].rstrip(b"\n").split(b" ", 2)
        if random.random() < 0.3:
            text = mutate_text(random, text.decode())
        else:
            changed = mutate_document(random, json.loads(text))
            text = json.dumps(changed).encode("utf-8", errors="surrogatepass")
        lines[place] = line_of(text, tag)
        if random.random() < 0.2:
            random.shuffle(lines)
        path.write_bytes(b"".join(lines))

    def _replaced(self, random: Random) -> list[str]:
        base = self._copy(random)
        parts = [
            ["zarr.json"],
            ["levels", "work"],
            ["levels/*"],
            ["levels/*/zarr.json", "levels/zarr.json", "work/zarr.json"],
            ["levels/*/0*"],
            ["levels/*/*/c", "levels/*/*/zarr.json"],
            ["levels/*/*/c/*"],
            ["work/*"],
            ["work/*/*"],
            ["work/*/*/*"],
        ]
        found: list[Path] = []
        while not found:
            found = [path for pattern in random.choice(parts) for path in sorted(self._job.glob(pattern))]
        replace_file(random, random.choice(found), self._outside)
        return self._use(random, base, *EVERY)

    def _configuration(self, random: Random) -> list[str]:
        path = self._directory / "config.toml"
        lines = CONFIG.splitlines()
        action = random.randrange(6)
        if action == 0:
            path.write_bytes(mutate_bytes(random, CONFIG.encode()))
        elif action == 1:
            path.write_bytes(
                (random.choice(["a = ", "x = [", "a.b.", "[a."]) + "[" * random.choice([9, 5000])).encode()
            )
        else:
            number = random.randrange(len(lines))
            name = lines[number].split(" = ")[0]
            value = any_value(random)
            text = json.dumps(value).replace("null", "nan").replace("{", "{ ").replace('":', '" =')
            lines[number] = f"{name} = {text}" if action < 5 else f"{json.dumps(random.choice(TEXTS))} = {text}"
            path.write_bytes("\n".join(lines).encode("utf-8", errors="surrogatepass"))
        return ["run", "--config", str(path), "--job", str(self._job), "--scheduler", "sync", "--max-depth", "2", "-q"]

    def _exported(self, random: Random) -> list[str]:
        data = random.choice(self._exports)
        if random.random() < 0.6:
            data = mutate_bytes(random, data)
        if random.random() < 0.5:
            self._job.write_bytes(data)
        else:
            self._job.mkdir()
            (self._job / "zarr.json").write_bytes(data)
            if random.random() < 0.5:
                (self._job / "levels").mkdir()
                (self._job / "levels" / "zarr.json").write_bytes(data)
        return self._use(random, self._base(random.randrange(9)), *EVERY)

    def _state(self, random: Random) -> list[str]:
        alphabets = ["012", "SLRslr", "0123456789,-+ ", "0123456789 /;", "".join(map(chr, range(1, 300)))]
        size = random.choice([0, 1, 3, 7, 12, 40, 300])
        text = "".join(random.choice(random.choice(alphabets[:4]) if size < 40 else alphabets[-1]) for _ in range(size))
        alphabet = random.choice(alphabets)
        if random.random() < 0.6:
            text = "".join(random.choice(alphabet) for _ in range(size))
        if random.random() < 0.1:
            text = str(random.choice(TEXTS))
        if random.random() < 0.1:
            text = random.choice(["1" * 9_000, "9999,-9999", "1," * 400, f"{2**70},", "0 " * 5000, "9" * 5000 + " 1"])
        if random.random() < 0.2:
            cells = [str(cell) for cell in range(16)]
            random.shuffle(cells)
            text = random.choice([" ", ",", "/"]).join(cells)
        text = text.replace("\x00", "")
        number = str(random.choice([-1, 0, 1, 3, 10**6, 2**31, 2**63, 2**64, 10**30, "x", "1e9", "9" * 5000]))
        puzzle = random.choice(["snake", "sliding", "fifteen", *TEXTS[:12]]).replace("\x00", "")
        base = str(self._base(random.randrange(99)))
        run = ["run", "--max-depth", "1", "-q", "--scheduler", "sync", "--job", str(self._job)]
        commands = [
            ["moves", *random.choice([[], ["--json"]]), "--", text],
            ["moves", "--puzzle", puzzle, "--", text],
            ["draw", "--", text],
            ["draw", "--output", str(self._jobs / random.choice(["a.svg", "a.png", "a.txt", "a"])), "--", text],
            ["draw", "--puzzle", puzzle, "-p", f"rows={number}", "--", text],
            ["inspect", base, "--find", text],
            ["inspect", base, random.choice(["--head", "--sample", "--depth", "--seed"]), number],
            [*run, "-p", f"start={text}"],
            [*run, "--puzzle", puzzle, "-p", text],
            [*run, "--memory", number],
            [text[:50], "--help"],
        ]
        return random.choice(commands)


def contents_of(base: Path) -> list[tuple[Path, bytes]]:
    """All files of a job."""
    return [(path.relative_to(base), path.read_bytes()) for path in sorted(base.rglob("*")) if path.is_file()]


def resealed(document: Any) -> Any:
    """The document with a checksum that is right, so that what is wrong with it gets further."""
    try:
        return seal(document)
    except (TypeError, KeyError, ValueError, AttributeError):
        return document


@contextmanager
def fuzzer(seed: int) -> Iterator[Fuzzer]:
    """A fuzzer, warm: what it needs is imported and compiled."""
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="fuzzing-", dir=place) as directory:
        (Path(directory) / "bomb.py").write_text("")
        sys.path.insert(0, directory)
        silence = storage.locking.lock.SILENCE_SECONDS
        storage.locking.lock.SILENCE_SECONDS = 0.0
        try:
            made = Fuzzer(Path(directory), seed)
            for number in range(-WARMING, 0):
                made.case(number)
            made.counts.clear()
            made.codes.clear()
            made.failures.clear()
            yield made
        finally:
            storage.locking.lock.SILENCE_SECONDS = silence
            sys.path.remove(directory)


def main() -> int:
    """Run a campaign."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="end early")
    parser.add_argument("--only", type=int, help="a single case")
    arguments = parser.parse_args()
    os.environ["COLUMNS"] = "80"
    shrink(Sizes(task=40, partition=60, buffer=200))
    # It looks at all processes of the machine, which is most of the time of a small run.
    # A command that cannot write its output lets go of that of the process, which is ours.
    assign("cli.failures", "_let_go_of_output", lambda: None)
    assign("pipeline.running.memory", "resident_bytes", lambda: 1 << 28)
    end = time.monotonic() + 60 * arguments.minutes
    with fuzzer(arguments.seed) as made, limited_memory():
        for number in range(arguments.count) if arguments.only is None else [arguments.only]:
            made.case(number)
            if time.monotonic() > end:
                break
            if number % 5000 == 4999:
                print(f"{number + 1} cases, {len(made.failures)} failures", file=sys.stderr, flush=True)
    summary = {
        "cases": sum(made.counts.values()),
        "kinds": dict(made.counts),
        "codes": dict(sorted(made.codes.items())),
        "failures": len(made.failures),
    }
    print(json.dumps(summary))
    return 1 if made.failures else 0


if __name__ == "__main__":
    sys.exit(main())
