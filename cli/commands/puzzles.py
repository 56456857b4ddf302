"""``pipeline puzzles``: what can be searched."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from cli.options import json_option
from cli.streams import print_json
from storage.errors import PipelineError

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo


@click.command("puzzles")
@json_option("Print a JSON array with an object for each puzzle.")
def command(json: bool) -> None:
    """List the puzzles that are installed, with their parameters, ranges, and an example each."""
    from pipeline.spaces.registry import names

    puzzles = [_described(name) for name in names()]
    if json:
        print_json(puzzles)
        return
    for number, puzzle in enumerate(puzzles):
        if number:
            click.echo()
        _print(puzzle)


def _described(name: str) -> dict[str, Any]:
    from pipeline.spaces.registry import class_of, parameters_of

    try:
        kind = class_of(name)
        fields = parameters_of(name).model_fields
    except PipelineError as error:
        return {"name": name, "error": str(error)}
    text = (kind.__doc__ or "").strip().split("\n")[0]
    arguments = " ".join(f"-p {shlex.quote(f'{key}={value}')}" for key, value in kind.example.items())
    return {
        "name": name,
        "description": text,
        "parameters": [_parameter(key, field) for key, field in fields.items()],
        # The whole of the fifteen puzzle takes terabytes.
        "example": f"pipeline run --puzzle {name} {'--max-depth 20' if name == 'fifteen' else arguments}".strip(),
    }


def _parameter(name: str, field: FieldInfo) -> dict[str, Any]:
    limits = {
        limit: getattr(each, limit)
        for each in field.metadata
        for limit in ("ge", "gt", "le", "lt")
        if hasattr(each, limit)
    }
    kind = field.annotation
    return {
        "name": name,
        "type": kind.__name__ if isinstance(kind, type) else str(kind).replace("typing.", ""),
        "required": field.is_required(),
        "default": None if field.is_required() else field.default,
        **limits,
    }


def _print(puzzle: dict[str, Any]) -> None:
    click.echo(puzzle["name"] + (f": {puzzle['description']}" if puzzle.get("description") else ""))
    if "error" in puzzle:
        click.echo(f"  cannot be used: {puzzle['error']}")
        return
    for parameter in puzzle["parameters"]:
        signs = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}
        words = [parameter["type"], *(f"{signs[key]} {parameter[key]}" for key in signs if key in parameter)]
        words.append("required" if parameter["required"] else f"default {parameter['default']}")
        click.echo(f"  -p {parameter['name']}=...  {', '.join(words)}")
    click.echo(f"  {puzzle['example']}")
