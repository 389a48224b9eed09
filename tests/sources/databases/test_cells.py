"""Cells of Python's drivers as Arrow arrays."""

import datetime
from decimal import Decimal

import pytest

from suffice.sources.databases.cells import array_of

DAY = datetime.date(2024, 1, 2)
TIME = datetime.datetime(2024, 1, 2, 3)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([1, None, 2], [1, None, 2]),
        ([1, 2.5], [1.0, 2.5]),
        ([2**70, 1], [2.0**70, 1.0]),
        ([10**400, -(10**400)], [float("inf"), float("-inf")]),
        ([Decimal("1.50"), Decimal("2.123"), None], [1.5, 2.123, None]),
        ([Decimal(1), 2.5, 3], [1.0, 2.5, 3.0]),
        ([DAY, TIME], [datetime.datetime(2024, 1, 2), TIME]),
        (["a", b"b", None], [b"a", b"b", None]),
        ([True, None], [True, None]),
        ([None, None], [None, None]),
        ([], []),
    ],
)
def test_cells_of_one_kind(cells, expected):
    found = array_of(cells)
    assert found.array.to_pylist() == expected
    assert (found.mixture, found.unreadable) == ("", "")


def test_cells_of_several_kinds():
    found = array_of([None, 1, "n/a", b"x" * 100], 100)
    assert found.array.to_pylist() == [None, "1", "n/a", "x" * 100]
    assert found.mixture == "numbers (1 in row 101) and texts ('n/a' in row 102)"
    assert array_of([True, 2]).mixture == "yes/no (True in row 0) and numbers (2 in row 1)"


def test_cells_that_cannot_be_read():
    class Point:
        pass

    assert array_of([1, Point()]).unreadable == "Point"
