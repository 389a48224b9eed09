"""Codes of text labels: the kernel against `numpy.unique`."""

import numpy as np
import pytest

from suffice.kernels import text_codes

LABELS = {
    "two": ["spam", "ham"],
    "one": ["only"],
    "empty": ["", "a", "aa", "a a"],
    "unicode": ["ä", "z", "猫", "😀", "a"],
    "long": [f"a label of many characters, number {i:03}" for i in range(300)],
}


@pytest.mark.parametrize("kind", ["fixed", "same objects", "other objects", "list"])
@pytest.mark.parametrize("names", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("n", [1, 7, 70_000])
def test_codes_are_those_of_sorted_labels(names, kind, n):
    labels = np.array(names)[np.random.default_rng(0).integers(0, len(names), n)]
    if kind == "same objects":
        labels = np.array(names, dtype=object)[np.searchsorted(sorted(names), labels)]
    elif kind == "other objects":
        labels = np.array(labels.tolist(), dtype=object)
    expected, codes = np.unique(labels, return_inverse=True)
    rows, found = text_codes(labels.tolist() if kind == "list" else labels)
    assert labels[rows].tolist() == expected.tolist()
    np.testing.assert_array_equal(found, codes)


@pytest.mark.parametrize("odd", [3, None, np.nan, b"ham", np.str_("ham")], ids=repr)
def test_an_object_that_is_not_a_string_is_left_to_the_caller(odd):
    assert text_codes(np.array(["ham", "spam", odd], dtype=object)) is None
    assert text_codes(["ham", "spam"] * 40_000 + [odd]) is None


def test_many_different_labels_are_left_to_sorting():
    labels = np.array([f"{i}" for i in range(5000)])
    assert text_codes(labels) is None
    assert text_codes(labels.astype(object)) is None
    assert text_codes(labels[:4096]) is not None


def test_strided_labels():
    labels = np.array(["a", "x", "b", "x", "a", "x"])
    assert text_codes(labels[::2])[1].tolist() == [0, 1, 0]
    assert text_codes(labels.astype(object)[::2])[1].tolist() == [0, 1, 0]
