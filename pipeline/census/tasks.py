"""The tasks of a census: functions of a few numbers that return a JSON object. They can run anywhere, and twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from pipeline.census.bends import walks_of_height
from pipeline.census.components import CLOSED, FULL, search_component
from pipeline.census.delayed import delayed_shapes, depths_of
from pipeline.census.exhaustive import count_shapes
from pipeline.census.neighbours import Neighbours
from pipeline.census.prefixes import prefixes
from pipeline.census.records import Result
from pipeline.census.rules import Rule, blocked_points_for, swept, table_for, whole_table_for
from pipeline.census.stuck import make_walk, search_prefix
from pipeline.census.symmetric import symmetric_walks
from pipeline.census.symmetry import canonical_order
from pipeline.census.windows import LARGE_RADIUS, SMALL_RADIUS, make_window
from storage.errors import OutOfBudget

FOUND_ROWS = 1 << 10
MOST_SHAPES_OF_A_COMPONENT = 1 << 23


def text_of(joints: Sequence[int] | np.ndarray) -> str:
    """Joint digits as text."""
    return "".join(map(str, joints))


def joints_of(text: str) -> np.ndarray:
    """Joint digits (uint8) of a text."""
    return np.frombuffer(text.encode(), dtype=np.uint8) - ord("0")


def find_stuck(rule: Rule, n: int, edges: int, block: int, blocks: int) -> Result:
    """Search for stuck shapes behind every ``blocks``-th prefix.

    Returns
    -------
    dict
        A :class:`~pipeline.census.records.StuckRecord`.
    """
    points = blocked_points_for(rule, n)
    walk, large, small = make_walk(n), make_window(LARGE_RADIUS, n), make_window(SMALL_RADIUS, n)
    found = np.zeros((FOUND_ROWS, n - 1), dtype=np.uint8)
    walks = nodes = 0
    shapes: list[str] = []
    for prefix in prefixes(edges)[block::blocks]:
        count, looked_at = search_prefix(prefix, walk, large, small, points, found)
        if count > found.shape[0]:
            found = np.zeros((2 * count, n - 1), dtype=np.uint8)
            count, looked_at = search_prefix(prefix, walk, large, small, points, found)
        walks += int(count)
        nodes += int(looked_at)
        shapes.extend(text_of(joints) for joints in found[:count] if canonical_order(joints) <= 0)
    return {"walks": walks, "shapes": shapes, "nodes": nodes}


def search_components(rule: Rule, n: int, shapes: Sequence[str], most: int = MOST_SHAPES_OF_A_COMPONENT) -> Result:
    """Search the components of stuck shapes.

    Parameters
    ----------
    rule : Rule
    n : int
    shapes : sequence of str
    most : int
        Shapes of a component to hold in memory, a power of two.

    Returns
    -------
    dict
        A :class:`~pipeline.census.records.ComponentsRecord`.

    Raises
    ------
    OutOfBudget
        If such a component is too large for memory.
    """
    table = table_for(rule, n)
    locked: set[str] = set()
    for shape in shapes:
        if shape in locked:
            continue
        outcome, component = search_component(joints_of(shape), table, most)
        if outcome == FULL:
            raise OutOfBudget(
                f"the component of {shape} has more than {most} shapes",
                f"give more --memory, or search it on disk with 'pipeline run -p start={shape}'",
            )
        if outcome == CLOSED:
            locked.update(text_of(joints) for joints in component)
    return {"locked": sorted(locked)}


def count_block(rule: Rule | None, n: int, edges: int, block: int, blocks: int) -> Result:
    """Generate every shape that begins with every ``blocks``-th prefix.

    Parameters
    ----------
    rule : Rule or None
        None: shapes are counted, stuck ones are not looked for.

    Returns
    -------
    dict
        An :class:`~pipeline.census.records.ExhaustiveRecord`.
    """
    empty = np.zeros((1, 1), dtype=np.int32), np.zeros((1, 1), dtype=np.uint64)
    table = whole_table_for(rule, n) if rule is not None else empty
    found = np.zeros((FOUND_ROWS, n - 1), dtype=np.uint8)
    bends = np.zeros(n, dtype=np.int64)
    shapes = nodes = 0
    stuck: list[str] = []
    for prefix in prefixes(edges)[block::blocks]:
        before = bends.copy()
        more, count, looked_at = count_shapes(prefix, n, *table, rule is not None, bends, found)
        if count > found.shape[0]:
            found = np.zeros((2 * count, n - 1), dtype=np.uint8)
            bends = before
            more, count, looked_at = count_shapes(prefix, n, *table, True, bends, found)
        shapes += int(more)
        nodes += int(looked_at)
        stuck.extend(text_of(joints) for joints in found[:count])
    return {"shapes": shapes, "bends": bends.tolist(), "stuck": stuck, "nodes": nodes}


def count_height(n: int, rows: int) -> Result:
    """Count the walks of n edges that fill a rectangle with so many rows.

    Returns
    -------
    dict
        A :class:`~pipeline.census.records.BendsRecord`.
    """
    return {"walks": walks_of_height(n, rows)}


def count_symmetric(n: int, mirrored: bool) -> Result:
    """Count the walks of n edges that a reversal leaves in place; returns what :func:`count_height` does."""
    return {"walks": symmetric_walks(n, mirrored)}


def measure_delayed(rule: Rule, n: int, shapes: Sequence[str]) -> Result:
    """Find the delayed shapes and their depths.

    Parameters
    ----------
    rule : Rule
    n : int
    shapes : sequence of str
        All stuck shapes.

    Returns
    -------
    dict
        A :class:`~pipeline.census.records.DelayedRecord`.

    Raises
    ------
    OutOfBudget
        If they are too many for memory.
    """
    neighbours = Neighbours(n, table_for(rule, n))
    delayed = delayed_shapes(neighbours, (joints_of(shape).tobytes() for shape in shapes))
    reached = Counter(depths_of(delayed).values())
    bends = [len(here) for here in delayed]
    return {
        "bends": bends + [0] * (n - len(bends)),
        "depths": [reached[depth] for depth in range(max(reached, default=-1) + 1)],
    }


def load_bends_kernels() -> None:
    """Compile or load the kernels that count walks."""
    count_height(3, 2)
    count_symmetric(3, False)


def load_delayed_kernels() -> None:
    """Compile or load the kernel of the search for delayed shapes."""
    measure_delayed(swept, 3, ["02"])


def load_search_kernels() -> None:
    """Compile or load the kernels of the pruned search before several threads or processes want them at once."""
    find_stuck(swept, 18, 1, 0, 1)


def load_component_kernels() -> None:
    """The same for the search of components."""
    search_components(swept, 3, ["02"])


def load_exhaustive_kernels() -> None:
    """The same for the exhaustive count."""
    count_block(swept, 3, 1, 0, 1)
