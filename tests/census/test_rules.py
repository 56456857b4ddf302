"""Stuck and locked shapes under rules that make them common: pruned, exhaustive and plain search agree."""

from __future__ import annotations

import pytest

from pipeline import Census
from pipeline.census.rules import Rule
from pipeline.census.tasks import count_block, find_stuck
from tests.census.clinging import NEAR, census, clinging, half_clinging


@pytest.mark.parametrize("n", range(2, 10))
@pytest.mark.parametrize("rule", [clinging, half_clinging])
def test_shape_by_shape(rule: Rule, n: int) -> None:
    stuck, locked = census(n, NEAR[rule])
    pruned = Census(n, rule=rule).run()
    assert set(pruned.stuck_shapes) == stuck
    assert set(pruned.locked_shapes) == locked
    assert set(Census(n, exhaustive=True, rule=rule).run().stuck_shapes) == stuck


def test_the_rules_make_stuck_and_closed_components_common() -> None:
    stuck, locked = census(9, NEAR[clinging])
    assert len(stuck) > 100
    assert len(locked) > 500
    stuck, locked = census(9, NEAR[half_clinging])
    assert len(stuck) > 10
    assert not locked


@pytest.mark.parametrize("rule", [clinging, half_clinging])
def test_pruned_against_exhaustive_where_plain_search_is_too_slow(rule: Rule) -> None:
    for n in (12, 14):
        assert stuck_by_pruning(rule, n, n // 3) == stuck_by_counting(rule, n)


@pytest.mark.parametrize("rule", [clinging, half_clinging])
@pytest.mark.parametrize("edges", [1, 2, 5, 9, 12])
def test_any_prefixes_do(rule: Rule, edges: int) -> None:
    assert stuck_by_pruning(rule, 12, edges) == stuck_by_counting(rule, 12)


def test_through_both_windows() -> None:
    # More than 15 edges from the end, the pruned search looks through its larger window.
    assert stuck_by_pruning(half_clinging, 17, 1) == stuck_by_counting(half_clinging, 17)


@pytest.mark.slow
@pytest.mark.parametrize("rule", [clinging, half_clinging])
def test_further_through_both_windows(rule: Rule) -> None:
    assert stuck_by_pruning(rule, 18, 1) == stuck_by_counting(rule, 18)
    assert stuck_by_pruning(half_clinging, 20, 1) == stuck_by_counting(half_clinging, 20)


def stuck_by_pruning(rule: Rule, n: int, edges: int) -> set[str]:
    """Stuck shapes, with prefixes of so many edges."""
    return set(find_stuck(rule, n, edges, 0, 1)["shapes"])


def stuck_by_counting(rule: Rule, n: int) -> set[str]:
    """Stuck shapes among all."""
    return set(count_block(rule, n, 1, 0, 1)["stuck"])
