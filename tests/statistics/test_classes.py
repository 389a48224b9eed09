"""Unions of class axes, and memberships on them."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest

from suffice import NaiveBayes
from suffice.exceptions import ClassError
from suffice.statistics import ClassAxis, Membership, Moments, PooledScatter
from suffice.statistics.classes import present_rows


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        ([1, 2, 3], [2]),
        (np.array([1, 2], dtype=np.int64), np.array([2], dtype=np.int8)),
        (["ham", "spam"], ["ham"]),
        (["a", "spam"], ["a"]),  # of a narrower type
        ([False, True], [True]),
    ],
)
def test_union_with_a_subset_is_the_axis_itself(wide, narrow):
    a, b = ClassAxis.of(wide), ClassAxis.of(narrow)
    assert a.union(b) is a
    assert b.union(a) == a
    assert b.union(a).labels.dtype == a.labels.dtype


@pytest.mark.parametrize(
    ("one", "other"), [([1, 2], [3]), ([1, 2], [2.0]), (["a"], ["spam"]), ([1], np.array([1], dtype=np.uint64))]
)
def test_union_of_other_axes(one, other):
    a, b = ClassAxis.of(one), ClassAxis.of(other)
    both = a.union(b)
    assert both.labels.tolist() == sorted(set(a.labels.tolist()) | set(b.labels.tolist()))
    assert both == b.union(a)


def test_true_and_one_are_different_labels():
    with pytest.raises(ClassError, match="labels of different types"):
        ClassAxis.of([0, 1]).union(ClassAxis.of([True]))


def test_membership_on_a_wider_axis():
    rows = Membership(ClassAxis.of(["b", "d"]), codes=np.array([0, 1, -1]), weights=np.array([1.0, 2.0, 3.0]))
    moved = rows.on(ClassAxis.of(["a", "b", "c", "d"]))
    assert moved.codes.tolist() == [1, 3, -1]
    assert moved.weights is rows.weights


def test_a_stream_of_single_rows_equals_a_fit():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((30, 2)), rng.choice(["a", "bb", "ccc"], 30)
    whole, stream = NaiveBayes().fit(x, y), NaiveBayes()
    for i in range(len(x)):
        stream.partial_fit(x[i : i + 1], y[i : i + 1])
    stream.partial_fit(x[:1], y[:1], sample_weight=[0.0])
    assert stream.classes_.tolist() == ["a", "bb", "ccc"]
    assert np.allclose(stream.predict_proba(x), whole.predict_proba(x), rtol=1e-13)


@pytest.mark.parametrize("kind", [Moments, PooledScatter])
def test_copies_of_statistics_have_only_fields(kind):
    rows = np.random.default_rng(1).standard_normal((9, 2))
    statistic = kind.summarize(rows, Membership(ClassAxis.of([0, 1, 2]), codes=np.arange(9) % 3))
    fields = set(statistic.__dataclass_fields__)
    for other in (pickle.loads(pickle.dumps(statistic)), copy.copy(statistic)):
        assert set(vars(other)) == fields
        assert np.array_equal(other.merge(statistic).mean, statistic.merge(other).mean)


def test_memberships_compare_and_count():
    axis = ClassAxis(np.array([0, 1]))
    codes, soft = np.array([0, 1, -1, 0]), np.full((4, 2), 0.5)
    hard, mixed = Membership(axis, codes=codes), Membership(axis, soft=soft)
    assert hard == Membership(axis, codes=codes)
    assert mixed == Membership(axis, soft=soft)
    assert hard.row_counts.tolist() == [2, 1]
    assert mixed.row_counts.tolist() == [0, 0]
    assert len(dataclasses.astuple(mixed)) == 5
    for dtype in ("i4", "i1", ">i8"):
        assert Membership(axis, codes=codes.astype(dtype)).row_counts.tolist() == [2, 1]
    assert dataclasses.replace(hard, codes=codes[:1]).row_counts.tolist() == [1, 0]
    with pytest.raises(ValueError, match="Code 7 is out of range for 2 classes"):
        Membership(axis, codes=np.array([0, 7]))


def test_weights_of_classes_are_sums_of_row_weights():
    axis, codes, weights = (
        ClassAxis.of(["a", "b", "c"]),
        np.array([0, 2, 0, -1, 2]),
        np.array([0.5, 2.0, 1.0, 9.0, 0.0]),
    )
    assert Membership(axis, codes=codes).class_weights().tolist() == [2.0, 0.0, 2.0]
    assert Membership(axis, codes=codes, weights=weights).class_weights().tolist() == [1.5, 0.0, 2.0]
    soft = np.array([[0.25, 0.75, 0.0], [0.5, 0.0, 0.5]])
    assert Membership(axis, soft=soft).class_weights().tolist() == [0.75, 0.75, 0.5]
    assert Membership(axis, soft=soft, weights=np.array([2.0, 4.0])).class_weights().tolist() == [2.5, 1.5, 2.0]


def test_present_rows_have_a_class_and_a_weight():
    codes, weights = np.array([-1, 0, 1]), np.array([1.0, 0.0, 2.0])
    assert present_rows(codes, None).tolist() == [False, True, True]
    assert present_rows(codes, weights).tolist() == [False, False, True]
    assert present_rows(codes[1:], weights[1:]).tolist() == [False, True]
    assert present_rows(codes[1:], None) is None
    assert present_rows(None, weights[[0, 2]]) is None
