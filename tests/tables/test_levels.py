"""Levels of a column: those seen, and those that its type declares."""

import pytest

from suffice.tables.levels import Levels

SEEN, DECLARED = Levels(("a", "b")), Levels(("a", "b"), frozenset({"a", "b"}))


@pytest.mark.parametrize(
    ("first", "second", "values", "declared"),
    [
        (SEEN, DECLARED, "ab", "ab"),
        (DECLARED, SEEN, "ab", "ab"),
        (Levels(("a", "b", "c")), DECLARED, "abc", "ab"),
        (DECLARED, Levels(("a", "b", "c")), "abc", "ab"),
        (Levels(("a",), frozenset("a")), Levels(("b",), frozenset("b")), "ab", "ab"),
        (Levels(("a", "b"), frozenset("a")), Levels(("a", "b"), frozenset("b")), "ab", "ab"),
        (Levels(()), DECLARED, "ab", "ab"),
    ],
)
def test_a_union_has_the_values_and_the_declarations_of_both(first, second, values, declared):
    both = first.union(second)
    assert (both.values, both.declared) == (tuple(values), frozenset(declared))


def test_levels_are_declared_only_where_a_type_lists_them():
    assert Levels.of(["b", "a", "b"]).declared == frozenset()
    assert Levels.of(["b", "a"], declared=True).declared == {"a", "b"}
