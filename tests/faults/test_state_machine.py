"""Any life of a job directory, against a model in memory.

The model knows the right levels, how many are committed, and whether something was damaged. Whatever happens to the
directory, it holds a prefix of the right levels or says that it is damaged, and a job that is whole comes to its end.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from pipeline import Search, Sliding, Snake
from pipeline.audit.damage import Damage, examine
from pipeline.audit.repair import repair
from pipeline.level import passes
from pipeline.level.expand import expand
from pipeline.level.merge import merge
from pipeline.spaces.contract import StateSpace
from pipeline.spaces.permutations.space import Permutation
from pipeline.table import Table
from storage.errors import CorruptJob, JobError, OutOfBudget, Stopped
from storage.files import durable
from storage.jobs.job import Job
from tests.engine.jobs import Summary, leftovers, summary
from tests.engine.test_resuming import StopAt
from tests.engine.tiny import Sizes, everything_small
from tests.faults.damaging import KINDS, damage, files_of

SPACES: list[StateSpace] = [Snake(n=8), Sliding(rows=2, cols=3), Sliding(rows=2, cols=2), Permutation(size=5)]
_expected: list[Summary] = []


class Killed(BaseException):
    """Ends a search where it stands; nothing is tidied up by those who catch errors."""


def expected_of(number: int) -> Summary:
    """What an uninterrupted search of a space finds."""
    if not _expected:
        for space in SPACES:
            directory = Path(mkdtemp())
            Search(space, job=directory / "job", memory=2**31).run()
            _expected.append(summary(directory / "job"))
            shutil.rmtree(directory)
    return _expected[number]


sizes = st.builds(
    Sizes,
    buffer=st.sampled_from([60, 100, 1000]),
    memory=st.sampled_from([0, 30, 200, 10**6]),
    chunk=st.integers(3, 80),
    frame=st.integers(2, 50),
    task=st.integers(4, 60),
    partition=st.integers(5, 200),
    step=st.integers(3, 50),
    window=st.integers(1, 100),
)
options = st.fixed_dictionaries(
    {
        "scheduler": st.sampled_from(["sync", "threads"]),
        "workers": st.integers(1, 3),
        "keep": st.sampled_from(["all", "all", "frontier"]),
        "max_depth": st.none() | st.integers(0, 12),
    }
)


class JobDirectory(RuleBasedStateMachine):
    """A job and what is known of it."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(mkdtemp())
        self.path = self.directory / "job"
        self.number = 0
        # At least so many levels are committed, unless something was damaged.
        self.committed = 0
        self.damaged = False
        self.dropped = False

    @property
    def space(self) -> StateSpace:
        """What is searched."""
        return SPACES[self.number]

    @property
    def expected(self) -> Summary:
        """The right levels."""
        return expected_of(self.number)

    def teardown(self) -> None:
        shutil.rmtree(self.directory)

    def search(self, chosen: dict[str, Any], small: Sizes | None, **more: Any) -> bool:
        """Go on with the job; whether it came to the end that was asked for."""
        self.dropped |= chosen["keep"] == "frontier"
        try:
            if small is None:
                Search(self.space, job=self.path, **chosen, **more).run(resume=True)
            else:
                with everything_small(small):
                    Search(self.space, job=self.path, **chosen, **more).run(resume=True)
        except (CorruptJob, JobError):
            assert self.damaged
            return False
        return True

    def reached(self, depth: int | None) -> None:
        """A search came to a depth, or to the end."""
        count = len(self.expected) if depth is None else min(depth + 1, len(self.expected))
        self.committed = max(self.committed, count)

    @precondition(lambda self: not self.committed and not self.damaged and not self.path.exists())
    @rule(number=st.integers(0, len(SPACES) - 1))
    def start(self, number: int) -> None:
        """Choose what to search."""
        self.number = number

    @rule(chosen=options, small=sizes)
    def resume(self, chosen: dict[str, Any], small: Sizes) -> None:
        """Go on to some depth, or to the end."""
        if self.search(chosen, small):
            self.reached(chosen["max_depth"])

    @rule(chosen=options, small=sizes, event=st.integers(1, 60))
    def stop(self, chosen: dict[str, Any], small: Sizes, event: int) -> None:
        """Go on, and be asked to stop at some event."""
        observer = StopAt(event)
        observer.search = Search(self.space, job=self.path, observer=observer, **chosen)
        self.dropped |= chosen["keep"] == "frontier"
        with everything_small(small):
            try:
                observer.search.run(resume=True)
            except Stopped:
                return
            except (CorruptJob, JobError):
                assert self.damaged
                return
        self.reached(chosen["max_depth"])

    @rule(
        chosen=options,
        small=sizes,
        name=st.sampled_from(["expand", "merge"]),
        task=st.integers(0, 20),
        after=st.booleans(),
    )
    def break_in_a_pass(self, chosen: dict[str, Any], small: Sizes, name: str, task: int, after: bool) -> None:
        """Expand some and merge some: a task fails before or after its work."""
        function = {"expand": expand, "merge": merge}[name]
        calls = 0

        def breaking(*arguments: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls - 1 == task and not after:
                raise Killed
            result = function(*arguments)
            if calls - 1 == task:
                raise Killed
            return result

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(passes, name, breaking)
            with suppress(Killed):
                if self.search(chosen, small):
                    self.reached(chosen["max_depth"])

    @rule(small=sizes, call=st.integers(0, 120), name=st.sampled_from(["publish", "sync_directory", "remove"]))
    def kill(self, small: Sizes, call: int, name: str) -> None:
        """Die just before a step that makes something durable."""
        calls = 0
        function = getattr(durable, name)

        def dying(*arguments: Any, **options: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls > call:
                raise Killed
            return function(*arguments, **options)

        chosen = {"scheduler": "sync", "keep": "all", "max_depth": None}
        with pytest.MonkeyPatch.context() as patch:
            for module in ("files.durable", "jobs.job", "keys.partition", "keys.spills", "jobs.working"):
                holder = import_module(f"storage.{module}")
                if hasattr(holder, name):
                    patch.setattr(holder, name, dying)
            with suppress(Killed):
                if self.search(chosen, small):
                    self.reached(None)

    @rule(small=sizes, limit=st.integers(2_000, 60_000))
    def fill_the_quota(self, small: Sizes, limit: int) -> None:
        """Go on until a quota stops it."""
        chosen = {"scheduler": "sync", "keep": "all", "max_depth": None}
        with suppress(OutOfBudget):
            if self.search(chosen, small, max_disk=limit, force=True):
                self.reached(None)

    @precondition(lambda self: self.path.exists())
    @rule(choice=st.integers(0, 10**6), kind=st.sampled_from(KINDS))
    def damage_a_file(self, choice: int, kind: str) -> None:
        """Damage any file but the description of the job, without which nothing can be asked of it."""
        files = [file for file in files_of(self.path) if file != Path("zarr.json") and file.suffix != ".partial"]
        files = [file for file in files if file.name != "holder.json" and ".partial" not in str(file)]
        if files and kind not in ("swap", "overwrite"):
            damage(self.path, files[choice % len(files)], kind, choice)
            self.damaged = True

    @precondition(lambda self: self.path.exists())
    @rule()
    def verify(self) -> None:
        """What is not damaged is whole."""
        found = [entry for entry in examine(self.space, Job.open(self.path)) if isinstance(entry, Damage)]
        assert not found or self.damaged, found

    @precondition(lambda self: self.path.exists() and self.damaged)
    @rule(small=sizes)
    def repair(self, small: Sizes) -> None:
        """Everything is as it was, or is said not to be."""
        with everything_small(small):
            outcomes = list(repair(self.space, Job.open(self.path)))
        found = [entry for entry in examine(self.space, Job.open(self.path)) if isinstance(entry, Damage)]
        if all(outcome.repaired for outcome in outcomes):
            assert found == []
            self.damaged = False
            return
        # Without deleted states and with a whole ledger everything can be made again.
        assert self.dropped
        shutil.rmtree(self.path)
        self.committed = 0
        self.damaged = self.dropped = False

    @precondition(lambda self: self.path.exists() and not self.damaged)
    @rule()
    def export(self) -> None:
        """The table is that of the model."""
        table = Table.of(self.space, Job.open(self.path))
        right = [states for _, keys, states, _ in self.expected if keys]
        assert list(table.states) == right[: len(table.states)]
        assert len(table.states) >= min(self.committed, len(right))

    @invariant()
    def a_prefix_of_the_right_levels(self) -> None:
        """At any time."""
        if not self.path.exists():
            return
        try:
            done = summary(self.path)
        except CorruptJob:
            assert self.damaged
            return
        assert done == self.expected[: len(done)]
        assert len(done) >= self.committed or self.damaged
        self.committed = max(self.committed, len(done))

    @precondition(lambda self: not self.damaged)
    @rule()
    def finish(self) -> None:
        """A job that is not damaged comes to its end, with ordinary sizes."""
        Search(self.space, job=self.path, memory=2**31).run(resume=True)
        assert summary(self.path) == self.expected
        assert leftovers(self.path) == []
        self.committed = len(self.expected)


TestSomeLives = JobDirectory.TestCase
TestSomeLives.settings = settings(max_examples=8, stateful_step_count=12, deadline=None)


@pytest.mark.slow
class TestManyLives(JobDirectory.TestCase):
    """The same, for long."""

    settings = settings(max_examples=600, stateful_step_count=25, deadline=None)
