"""Sizes that a sum of sizes would overflow: the C++ functions compare without adding."""

import numpy as np
import pytest

from suffice.kernels import _core

LARGE = (2**63 - 5, 2**63 - 1, 2**62)
BITS = np.full(2, 255, dtype=np.uint8)


def rules():
    return _core.token_rules(0, True, 1, 1, 1, np.zeros(0, np.uint8), np.zeros(0, np.int64), False, 0, 0)


@pytest.mark.parametrize("first", [*LARGE, -1, 13])
def test_position_of_the_first_bit(first):
    with pytest.raises(ValueError, match="bits has too few entries"):
        _core.known_numbers([np.ones(4)], BITS, first, np.empty(4))
    arrays = [np.zeros((1, 1)) for _ in range(5)]
    with pytest.raises(ValueError, match="bits has too few entries"):
        _core.class_moments([(np.ones(4), BITS, first)], np.zeros(4, np.int64), None, None, True, *arrays)


def test_the_last_bit():
    out = np.empty(4)
    _core.known_numbers([np.ones(4)], BITS, 12, out)
    assert out.tolist() == [1.0] * 4


@pytest.mark.parametrize(
    "column", [(np.ones(4),), (np.ones(4), BITS, 2**64), (np.ones(4), BITS, "a"), (), (1, 2, 3, 4)]
)
def test_columns_with_bits_that_are_not_triples(column):
    arrays = [np.zeros((1, 1)) for _ in range(5)]
    with pytest.raises(ValueError, match="tuple of numbers, bits and the position"):
        _core.class_moments([column], np.zeros(4, np.int64), None, None, True, *arrays)


@pytest.mark.parametrize("classes", [*LARGE, -1, 2**31])
def test_classes_of_words(classes):
    documents = _core.documents_of_strings(["one two"])
    with pytest.raises(ValueError, match="too many classes"):
        _core.count_words(documents, rules(), np.zeros(1, np.int64), classes)
    with pytest.raises(ValueError, match="too many classes"):
        _core.count_slots(documents, rules(), np.zeros(1, np.int64), classes, 4)


@pytest.mark.parametrize("rows", LARGE)
@pytest.mark.parametrize("integer", [np.int32, np.int64])
def test_rows_of_a_sparse_matrix(rows, integer):
    bounds, indices = np.array([0, 1], dtype=integer), np.zeros(1, dtype=integer)
    codes = np.zeros(1, np.int64)
    for by_column in (False, True):
        with pytest.raises(ValueError, match=r"shape|length"):
            _core.sparse_sums(bounds, indices, np.ones(1), rows, by_column, codes, None, None, 0, 0.0, np.zeros((1, 1)))
    with pytest.raises(ValueError, match="shape"):
        _core.has_sorted_indices(bounds, indices, rows, 1)
    with pytest.raises(ValueError, match="shape"):
        _core.has_sorted_indices(np.zeros(0, dtype=integer), indices, -1, 1)


def test_arrays_that_are_not_aligned():
    """The Python functions copy them; the C++ functions refuse them."""
    unaligned = np.zeros(33, dtype=np.uint8)[1:].view(np.float64)
    with pytest.raises(ValueError, match="aligned"):
        _core.known_numbers([unaligned], BITS, 0, np.empty(4))
    with pytest.raises(ValueError, match="aligned"):
        _core.class_sums(unaligned[:, None], np.zeros(4, np.int64), None, None, 0, 0.0, False, np.zeros((1, 1)))


@pytest.mark.parametrize("x", [b"x", np.float64(1), np.datetime64(1, "s"), [np.datetime64(1, "s")], memoryview(b"xy")])
def test_rows_that_are_not_arrays(x):
    with pytest.raises(TypeError, match="x must be a NumPy array"):
        _core.class_sums(x, np.zeros(2, np.int64), None, None, 0, 0.0, False, np.zeros((1, 2)))
