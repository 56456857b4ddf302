"""Sizes and numbers for people."""

from __future__ import annotations

import click
import pytest

from cli.sizes import Duration, Size, duration, short
from storage.sizes import size


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("2GiB", 2 << 30),
        ("2 gib", 2 << 30),
        ("500MB", 500_000_000),
        ("1.5G", 1_500_000_000),
        ("1073741824", 1 << 30),
        (1 << 30, 1 << 30),
    ],
)
def test_sizes_are_read(text, count):
    assert Size().convert(text, None, None) == count


@pytest.mark.parametrize("text", ["", "GiB", "2XB", "-1GiB", "0", "1e99", "nan", "inf", True])
def test_other_things_are_not_sizes(text):
    with pytest.raises(click.BadParameter):
        Size().convert(text, None, None)


def test_sizes_are_written():
    assert [size(count) for count in (0, 1023, 1536, 150 << 20, 3 << 40)] == [
        "0 B", "1023 B", "1.50 KiB", "150 MiB", "3.00 TiB",
    ]  # fmt: skip


def test_numbers_are_written():
    assert [short(count) for count in (0, 9999, 12_345, 999_999, 2_905_751, 1.05e13)] == [
        "0", "9999", "12.3 k", "1000 k", "2.91 M", "10.5 T",
    ]  # fmt: skip


def test_durations_are_written():
    assert [duration(seconds) for seconds in (0, 0.35, 12.3, 185, 3723)] == ["0 s", "0.35 s", "12 s", "3:05", "1:02:03"]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("1.5h", 5400), ("90 min", 5400), ("90m", 5400), ("2d", 172800), ("1:30:00", 5400), ("2:05", 125)],
)
def test_times(text, seconds):
    assert Duration().convert(text, None, None) == seconds
