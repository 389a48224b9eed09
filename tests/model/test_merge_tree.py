"""Merging in a balanced tree."""

import numpy as np
import pytest

from suffice.model.merge_tree import MergeTree


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13, 100])
def test_values_are_merged_in_their_order(n):
    tree = MergeTree(lambda a, b: a + b)
    for i in range(n):
        tree.add([i])
    assert tree.total() == list(range(n))
    tree.add([n])
    assert tree.total() == list(range(n + 1))


def test_depth_is_logarithmic():
    tree = MergeTree(lambda a, b: 1 + max(a, b))
    for _ in range(1000):
        tree.add(0)
    assert tree.total() <= 2 * np.ceil(np.log2(1000))


def test_no_values():
    assert MergeTree(lambda a, b: a).total() is None
