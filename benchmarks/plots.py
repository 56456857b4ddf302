"""Draw the plots of the docs from results that were saved: the same results give the same files.

    python benchmarks/plots.py

Reads ``levels.json`` (of ``levels.py``) and ``workers-*.json`` (of ``pipeline bench --workers COUNT --save``) in
``benchmarks/results``; writes SVG files to ``docs/images``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")

from matplotlib import pyplot
from matplotlib.axes import Axes

from pipeline.bench.results import read_result

HERE = Path(__file__).parent
RESULTS = HERE / "results"
IMAGES = HERE.parent / "docs" / "images"
STYLE = {
    "figure.figsize": (7.2, 3.6),
    "figure.constrained_layout.use": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "font.size": 10,
    # Text stays text, and names of elements do not change from run to run.
    "svg.fonttype": "none",
    "svg.hashsalt": "frontier-pipeline",
}
# Okabe and Ito's colours, which everybody can tell apart.
COLOURS = {"snake": "#0072b2", "fifteen": "#d55e00", "3x4": "#009e73"}
# Of shorter levels the time says little.
SHORTEST_LEVEL = 0.05


def colour(case: str) -> str:
    """Of all cases of a puzzle."""
    return COLOURS.get(case.split()[0], "#555555")


def plot_levels(axes: Axes, cases: dict[str, Any], figure: str) -> None:
    """Draw a line for each search, over the depth."""
    drawn: set[str] = set()
    for case, figures in cases.items():
        levels = [level for level in figures["levels"] if level["processor_seconds"] >= SHORTEST_LEVEL]
        heights = {
            "rate": [level["states"] / level["processor_seconds"] / 1e6 for level in levels],
            "bits": [8 * level["bytes"] / level["states"] for level in levels],
        }
        depths = [level["depth"] for level in levels]
        line = "--" if colour(case) in drawn else "-"
        axes.plot(depths, heights[figure], line, marker="o", markersize=3, color=colour(case), label=case)
        drawn.add(colour(case))
    axes.set_xlabel("depth")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)


def plot_workers(axes: Axes, results: list[dict[str, Any]]) -> None:
    """Draw the time of each case over the number of workers, and what it would be if work divided evenly."""
    for case in results[0]["cases"]:
        workers = [result["workers"] for result in results]
        seconds = [result["cases"][case]["seconds"] for result in results]
        axes.plot(workers, seconds, marker="o", color=colour(case), label=case)
        axes.plot(workers, [seconds[0] / count for count in workers], linestyle=":", color=colour(case))
    cores = results[0]["machine"]["cores"]
    axes.set_xlabel(f"workers, on {cores} cores (dotted: half of the time for twice the workers)")
    axes.set_xticks([result["workers"] for result in results])
    axes.set_ylabel("seconds")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)


def save(name: str) -> None:
    """Write the current figure, without the date."""
    pyplot.savefig(IMAGES / name, metadata={"Date": None, "Creator": None})
    pyplot.close()


def main() -> None:
    """Draw everything."""
    pyplot.rcParams.update(STYLE)
    levels = json.loads((RESULTS / "levels.json").read_text(encoding="utf-8"))
    labels = {"rate": "million states a second of one processor", "bits": "bits a state on disk"}
    for figure, label in labels.items():
        _, axes = pyplot.subplots()
        plot_levels(axes, levels["cases"], figure)
        axes.set_ylabel(label)
        save(f"{figure}.svg")
    several = [read_result(path).model_dump() for path in sorted(RESULTS.glob("workers-*.json"))]
    if several:
        _, axes = pyplot.subplots()
        plot_workers(axes, several)
        save("workers.svg")


if __name__ == "__main__":
    main()
