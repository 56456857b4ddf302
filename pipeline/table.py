"""The table of counts of a job, and the forms in which it is written."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from html import escape
from typing import Any

from pipeline.spaces.contract import StateSpace
from storage.errors import InvalidInput
from storage.jobs.job import Job

EXPORT_FORMAT = 1
FORMATS = ("csv", "json", "markdown", "bfile")


@dataclass(frozen=True)
class Table:
    """States at each depth.

    Attributes
    ----------
    space, parameters : str, dict
        What was searched.
    complete : bool
        Whether the whole graph was enumerated.
    states : tuple of int
        States at depth 0, 1, ...
    derived : dict of str to list of int
        Further columns.
    """

    space: str
    parameters: dict[str, Any]
    complete: bool
    states: tuple[int, ...]
    derived: dict[str, list[int]]

    @classmethod
    def of(cls, space: StateSpace | None, job: Job) -> Table:
        """Table of the levels that are committed; without derived columns if the space is not known (None)."""
        manifests = job.manifests()
        complete = bool(manifests) and manifests[-1].keys == 0
        states = tuple(manifest.states for manifest in manifests if manifest.keys)
        derived = space.derived_columns(states) if space is not None else {}
        description = job.attributes["space"]
        return cls(description["name"], description["parameters"], complete, states, derived)

    @property
    def total(self) -> int:
        """States at all depths together."""
        return sum(self.states)

    @property
    def unfinished_note(self) -> str | None:
        """What to say of a table that does not cover the whole graph."""
        if self.complete:
            return None
        if not self.states:
            return "unfinished: no depth is done yet"
        return f"unfinished: depths 0 to {len(self.states) - 1} are done, there may be more"

    def document(self) -> dict[str, Any]:
        """The JSON export document."""
        return {
            "format": EXPORT_FORMAT,
            "space": {"name": self.space, "parameters": self.parameters},
            "complete": self.complete,
            "depths": list(range(len(self.states))),
            "states": list(self.states),
            "total": self.total,
            **self.derived,
        }

    def columns(self) -> dict[str, list[int]]:
        """Columns by name, ``depth`` first."""
        return {"depth": list(range(len(self.states))), "states": list(self.states), **self.derived}

    def _repr_html_(self) -> str:
        """The table as notebooks show it."""
        columns = self.columns()
        style = ' style="text-align: right"'
        head = "".join(f"<th{style}>{name}</th>" for name in columns)
        rows = "".join(
            f"<tr>{''.join(f'<td{style}>{value}</td>' for value in row)}</tr>"
            for row in zip(*columns.values(), strict=True)
        )
        note = f" ({self.unfinished_note})" if self.unfinished_note else ""
        return (
            f"<table><caption>{escape(self._title())}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
            f"<p>Total: {self.total}{escape(note)}</p>"
        )

    def write(self, form: str) -> str:
        """The table as text, with a final newline.

        Parameters
        ----------
        form : {"csv", "json", "markdown", "bfile"}

        Raises
        ------
        InvalidInput
            If there is no such form.
        """
        writers = {"csv": self._csv, "json": self._json, "markdown": self._markdown, "bfile": self._bfile}
        if form not in writers:
            raise InvalidInput(f"there is no export format {form!r}", f"choose one of {', '.join(FORMATS)}")
        return writers[form]()

    def _title(self) -> str:
        parameters = ", ".join(f"{key}={value}" for key, value in self.parameters.items() if value is not None)
        return f"{self.space} ({parameters})"

    def _json(self) -> str:
        return json.dumps(self.document()) + "\n"

    def _csv(self) -> str:
        text = io.StringIO()
        columns = self.columns()
        # No comment says that it is unfinished: programs that read CSV would take that for the head of the columns.
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        return text.getvalue()

    def _markdown(self) -> str:
        columns = self.columns()
        lines = [f"**{self._title()}**", ""]
        lines.append("| " + " | ".join(columns) + " |")
        lines.append("|" + "---:|" * len(columns))
        for row in zip(*columns.values(), strict=True):
            lines.append("| " + " | ".join(str(value) for value in row) + " |")
        lines += ["", f"Total: {self.total}" + (f" ({self.unfinished_note})" if self.unfinished_note else "")]
        return "\n".join(lines) + "\n"

    def _bfile(self) -> str:
        """The layout of OEIS b-files: ``n a(n)`` on each line, ``#`` before comments."""
        lines = [f"# States at breadth-first depth n: {self._title()}"]
        if self.unfinished_note:
            lines.append(f"# {self.unfinished_note}")
        lines += [f"{depth} {count}" for depth, count in enumerate(self.states)]
        return "\n".join(lines) + "\n"
