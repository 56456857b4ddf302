"""``pipeline new-puzzle``: a package to start from."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from string import Template

import click

from storage.errors import InvalidInput, PipelineError

FILES = {
    "pyproject.toml": "pyproject.txt",
    "README.md": "readme.txt",
    "{module}/__init__.py": "init.txt",
    "{module}/space.py": "space.txt",
    "tests/test_{module}.py": "tests.txt",
}


@click.command("new-puzzle")
@click.option("--directory", type=click.Path(path_type=Path), default=Path(), help="Where; here unless given.")
@click.argument("name", metavar="NAME")
def command(directory: Path, name: str) -> None:
    """Write a package with a puzzle called NAME, which works, and its tests."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or len(name) > 40:
        raise InvalidInput(f"{name!r} is no name of a new puzzle", "use small letters, digits and single hyphens")
    module = name.replace("-", "_")
    words = {"name": name, "module": module, "kind": "".join(part.capitalize() for part in name.split("-"))}
    place = directory / f"{name}-puzzle"
    if place.exists():
        raise InvalidInput(f"{place} exists", "remove it, or choose another --directory")
    templates = resources.files("cli").joinpath("template")
    try:
        for target, source in FILES.items():
            path = place / target.format(**words)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(Template(templates.joinpath(source).read_text()).substitute(words))
    except OSError as error:
        raise PipelineError(f"{place} cannot be written ({error.strerror})", "choose another --directory") from error
    click.echo(f"{place} is written. Go on with")
    click.echo(f"  pipeline check-puzzle {place}/{module}/space.py:{words['kind']}")
    click.echo(f"  pip install --editable {place} && pipeline run --puzzle {name}")
