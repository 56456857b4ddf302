"""Places in the code and tests that the proofs name are there."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PLACE = re.compile(r"`([\w/]+\.py)(?::([\w.]+))?`")
PAGES = ("proofs.md", "proofs-census.md")
STATEMENT = re.compile(r"^## ([PC]\d+)\. ", re.MULTILINE)


@cache
def files() -> list[str]:
    """Paths of all modules and tests."""
    return [
        str(path.relative_to(ROOT))
        for folder in ("cli", "pipeline", "storage", "tests", "benchmarks")
        for path in (ROOT / folder).rglob("*.py")
    ]


@cache
def names_in(file: str) -> set[str]:
    """Functions, classes, methods as ``Class.method``, and what is assigned."""
    names: set[str] = set()

    def collect(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                names.add(prefix + child.name)
                collect(child, f"{prefix}{child.name}.")

    module = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    collect(module, "")
    for statement in module.body:
        if isinstance(statement, ast.Assign):
            # Kernels that a function makes.
            names |= {
                node.id for target in statement.targets for node in ast.walk(target) if isinstance(node, ast.Name)
            }
    return names


def places() -> list[tuple[str, str, str]]:
    """Page, file and name (empty if none is given) of all places."""
    found: list[tuple[str, str, str]] = []
    for page in PAGES:
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        found += [(page, file, name) for file, name in PLACE.findall(text)]
    return found


@pytest.mark.parametrize(("page", "file", "name"), sorted(set(places())))
def test_a_place_is_there(page: str, file: str, name: str) -> None:
    matching = [path for path in files() if path == file or path.endswith(f"/{file}")]
    assert matching, f"{page} names {file}"
    assert not name or any(name in names_in(path) for path in matching), f"{page} names {file}:{name}"


@pytest.mark.parametrize("page", PAGES)
def test_every_statement_has_a_proof_a_place_and_a_test(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    parts = STATEMENT.split(text)[1:]
    numbers = parts[::2]
    assert numbers == [f"{numbers[0][0]}{count}" for count in range(1, len(numbers) + 1)]
    for number, statement in zip(numbers, parts[1::2], strict=True):
        for word in ("Proof", "Code", "Tests"):
            assert re.search(rf"\*{word}[.*]", statement), f"{number} has no {word}"
