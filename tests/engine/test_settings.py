"""Use from Python: ordinary values are taken, others are refused in one line, and what there is can be found."""

from __future__ import annotations

import io
import pydoc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pipeline
from pipeline import LevelLines, Search, Settings, Sliding, Snake
from pipeline.running.memory import available_memory
from storage.errors import InvalidInput, JobError, OutOfBudget


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"memory": "1GiB"}, {"memory": 2**30}),
        ({"memory": "50%"}, {"memory": available_memory() // 2}),
        ({"memory": np.int64(2**30)}, {"memory": 2**30}),
        ({"max_depth": "3"}, {"max_depth": 3}),
        ({"max_depth": np.uint8(3)}, {"max_depth": 3}),
        ({"workers": "2"}, {"workers": 2}),
        ({"max_disk": "5MB"}, {"max_disk": 5_000_000}),
        ({}, {"memory": None, "workers": None, "max_depth": None, "max_disk": None, "keep": "all", "force": False}),
    ],
)
def test_ordinary_values_are_taken(given: dict[str, Any], kept: dict[str, Any]) -> None:
    settings = Settings(**given)
    for name, value in kept.items():
        assert getattr(settings, name) == value
        assert type(getattr(settings, name)) is type(value)
    assert Search(Snake(n=3), **given).settings == settings


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"keep": "frontire"}, "keep is 'frontire'; give all or frontier"),
        ({"keep": None}, "keep is None"),
        ({"memory": "much"}, "'much' is not a size; write 2GiB, 500MB, 50% or a number of bytes"),
        ({"memory": "150%"}, "'150%' is no part of the memory"),
        ({"memory": 0}, "0 is not a size that memory"),
        ({"memory": True}, "True is not a size"),
        ({"memory": 1.5}, "1.5 is not a size"),
        ({"max_disk": "50%"}, "'50%' is not a size; write 2GiB, 500MB or a number of bytes"),
        ({"max_depth": -1}, "max_depth is -1; give 0 or more"),
        ({"max_depth": "three"}, "max_depth is 'three'; give a whole number of 0 or more"),
        ({"max_depth": 2.5}, "max_depth is 2.5"),
        ({"workers": 0}, "workers is 0; give 1 or more"),
        ({"workers": False}, "workers is False"),
        ({"scheduler": None}, "scheduler is None"),
        ({"force": "yes"}, "force is 'yes'; give True or False"),
        ({"tls": "ca.pem"}, "tls is 'ca.pem'"),
    ],
)
def test_others_are_refused(given: dict[str, Any], message: str) -> None:
    for make in (lambda: Settings(**given), lambda: Search(Snake(n=3), **given)):
        with pytest.raises(InvalidInput) as caught:
            make()
        assert str(caught.value).startswith(message)
        assert "\n" not in str(caught.value)


def test_settings_whole_or_one_by_one() -> None:
    with pytest.raises(InvalidInput, match="settings and memory are both given"):
        Search(Snake(n=3), settings=Settings(), memory=2**30)
    with pytest.raises(InvalidInput, match="there is no setting 'memroy'; did you mean 'memory'"):
        Search(Snake(n=3), memroy=2**30)
    with pytest.raises(InvalidInput, match="settings is 3"):
        Search(Snake(n=3), settings=3)  # type: ignore[arg-type]


def test_a_job_that_exists(tmp_path: Path) -> None:
    search = Search(Snake(n=3), job=tmp_path / "job", memory="2GiB")
    counts = search.run().states
    with pytest.raises(JobError, match=r"run\(resume=True\).*run\(overwrite=True\)"):
        search.run()
    with pytest.raises(InvalidInput, match="either resumed or overwritten"):
        search.run(resume=True, overwrite=True)
    assert search.run(resume=True).states == search.run(overwrite=True).states == counts


def test_more_memory_than_there_is(tmp_path: Path) -> None:
    """It is refused before the job that is there is deleted."""
    Search(Snake(n=3), job=tmp_path / "job").run()
    with pytest.raises(OutOfBudget, match=r"more than the .* that this machine or its container allows"):
        Search(Snake(n=3), job=tmp_path / "job", memory="1000000TiB").run(overwrite=True)
    assert Search(Snake(n=3), job=tmp_path / "job", max_depth=0).run(resume=True).complete


def test_what_there_is() -> None:
    assert set(pipeline.__all__) <= set(dir(pipeline))
    text = pydoc.render_doc(pipeline, renderer=pydoc.plaintext)
    for name in pipeline.__all__:
        assert f"class {name}" in text


@pytest.mark.parametrize(("space", "text"), [(Snake(n=5), "SLLR"), (Sliding(rows=2, cols=2), "1 2/3 0")])
def test_states_as_text(space: Snake | Sliding, text: str) -> None:
    state = space.parse(text)
    assert [list(other) for other in space.neighbours(text)] == [list(other) for other in space.neighbours(state)]
    assert space.key_of(text) == space.key_of(state)
    assert space.format(text) == space.format(state)
    with pytest.raises(InvalidInput):
        space.neighbours("nonsense")


def test_following_a_search(tmp_path: Path) -> None:
    stream = io.StringIO()
    table = Search(Snake(n=4), job=tmp_path / "job", observer=LevelLines(stream)).run()
    lines = stream.getvalue().splitlines()
    assert [line.split(" states")[0] for line in lines] == [
        f"level {depth}: {count}" for depth, count in enumerate([*table.states, 0])
    ]


def test_a_table_in_a_notebook(tmp_path: Path) -> None:
    html = Search(Snake(n=4), job=tmp_path / "job", max_depth=1).run()._repr_html_()
    assert html.count("<tr>") == 3
    assert "<caption>snake (n=4, collision=swept)</caption>" in html
    assert ">2</td></tr></tbody>" in html
    assert "unfinished" in html
