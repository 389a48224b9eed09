"""The formulas of docs/models/joint_distribution.md, against counts and brute force."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from suffice import NaiveBayes
from suffice.exceptions import InputError


def rows_and_labels(d=3, n=200, seed=1):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = (rng.random((n, d)) < np.where(y, 0.7, 0.4)[:, None]).astype(int)
    X[:, -1] ^= X[:, 0] & y
    return X, y


def all_cells(d):
    return np.array(list(itertools.product((0, 1), repeat=d)))


def counts_of(X, y):
    return Counter((*map(int, row), int(k)) for row, k in zip(X, y, strict=True))


def table_of(X, y, **settings):
    return NaiveBayes({tuple(range(X.shape[1])): "joint_table"}, **settings).fit(X, y)


@pytest.mark.parametrize("d", [2, 4, 6])
def test_number_of_parameters(d):
    # The prior and each table of each class sum to 1, so one number of each is not free.
    X = np.tile(all_cells(d), (2, 1))
    y = np.repeat([0, 1], 2**d)

    def free(model):
        listing = model.parameters().to_frame()
        lines = len(listing[listing["family"] != "(linear form)"])
        tables = sum(isinstance(columns, tuple) for columns in model.families_)
        return lines - 2 * tables - 1

    assert free(table_of(X, y)) == 2 * 2**d - 1
    assert free(NaiveBayes("bernoulli").fit(X, y)) == 2 * d + 1
    assert free(NaiveBayes({(j, j + 1): "joint_table" for j in range(0, d, 2)}).fit(X, y)) == 3 * d + 1


def test_parameters_are_shares_of_counts():
    X, y = rows_and_labels()
    count, size = counts_of(X, y), Counter(map(int, y))
    model = table_of(X, y, estimation="mle")
    assert model.class_prior_ == pytest.approx([size[0] / len(y), size[1] / len(y)], rel=1e-14)
    listing = model.parameters((0, 1, 2)).to_frame()
    assert len(listing) == 8
    for (_, line), cell in zip(listing.iterrows(), itertools.product((0, 1), repeat=3), strict=True):
        assert line["level"] in (cell, str(cell))
        for k in (0, 1):
            assert line[f"given {k}"] == pytest.approx(float(Fraction(count[*cell, k], size[k])), rel=1e-12)


def test_joint_probability_is_the_share_of_a_cell():
    X, y = rows_and_labels(d=4, seed=2)
    count = counts_of(X, y)
    seen = all_cells(4)[[any(count[*cell, k] for k in (0, 1)) for cell in all_cells(4).tolist()]]
    joint = np.exp(table_of(X, y, estimation="mle").predict_joint_log_proba(seen))
    expected = [[count[*cell, k] / len(y) for k in (0, 1)] for cell in seen.tolist()]
    np.testing.assert_allclose(joint, expected, rtol=1e-12, atol=0)
    assert joint.sum() == pytest.approx(1.0, rel=1e-12)


def test_posterior_is_the_share_among_equal_rows():
    X, y = rows_and_labels(seed=3)
    posterior = table_of(X, y, estimation="mle").predict_proba(X)
    for row, found in zip(X, posterior, strict=True):
        equal = (row == X).all(axis=1)
        assert found[1] == pytest.approx(y[equal].mean(), rel=1e-12)


@pytest.mark.parametrize("smoothing", [0.25, 1.0, 3.0])
def test_smoothing_adds_rows_to_every_cell(smoothing):
    X, y = rows_and_labels(d=5, n=40, seed=4)
    count, size = counts_of(X, y), Counter(map(int, y))
    model = table_of(X, y, smoothing=smoothing)
    expected = [
        [(count[*cell, k] + smoothing) / (size[k] + smoothing * 2**5) * size[k] / len(y) for k in (0, 1)]
        for cell in all_cells(5).tolist()
    ]
    np.testing.assert_allclose(np.exp(model.predict_joint_log_proba(all_cells(5))), expected, rtol=1e-12)


def test_empty_cell_in_every_class_is_an_error():
    X, y = np.array([[0, 0], [0, 1], [1, 0], [0, 0]]), [0, 0, 1, 1]
    with pytest.raises(InputError, match="Row 0 has probability zero in every class"):
        table_of(X, y, estimation="mle").predict_proba([[1, 1]])
    assert np.isfinite(table_of(X, y).predict_proba([[1, 1]])).all()  # with smoothing


@pytest.mark.parametrize(("d", "smoothing"), [(2, 1.0), (2, 0.1), (12, 1.0)])
def test_posterior_of_empty_cells(d, smoothing):
    """Nine tenths of the rows are of class 0: few cells give one half, many cells the class prior."""
    X = np.zeros((1000, d), dtype=int)
    X[:500, 0], X[0, 1:] = 1, 1
    y = np.repeat([1, 0], [100, 900])
    new = np.zeros((1, d), dtype=int)
    new[0, 1] = 1
    assert not (new == X).all(axis=1).any()
    expected = np.array([900 / (900 + smoothing * 2**d), 100 / (100 + smoothing * 2**d)])
    expected /= expected.sum()
    assert table_of(X, y, smoothing=smoothing).predict_proba(new)[0] == pytest.approx(expected, rel=1e-12)
    assert expected[0] == pytest.approx(0.5 if d == 2 else 0.88, abs=0.01)
    balanced = table_of(X, np.arange(1000) % 2, smoothing=smoothing)
    assert balanced.predict_proba(new)[0] == pytest.approx([0.5, 0.5], rel=1e-12)


def test_expected_share_of_unseen_rows():
    # Exactly, by all samples of n = 3 rows of a distribution of four cells; then the case of equal cells.
    p = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 8), Fraction(1, 8)]
    brute = sum(
        math.prod(p[i] for i in sample) * sum(p[x] for x in range(4) if x not in sample)
        for sample in itertools.product(range(4), repeat=3)
    )
    assert brute == sum(each * (1 - each) ** 3 for each in p)
    d, n = 10, 1000
    rng = np.random.default_rng(5)
    shares = [1 - np.isin(rng.integers(0, 2**d, 4000), rng.integers(0, 2**d, n)).mean() for _ in range(50)]
    assert np.mean(shares) == pytest.approx((1 - 2.0**-d) ** n, abs=0.01)
    assert (1 - 2.0**-d) ** n == pytest.approx(math.exp(-n / 2**d), rel=1e-3)


def test_xor_needs_the_joint_table():
    X = np.random.default_rng(6).permutation(np.tile(all_cells(2), (50, 1)))
    y = X[:, 0] ^ X[:, 1]
    assert table_of(X, y).score(X, y) == 1.0
    naive = NaiveBayes("bernoulli").fit(X, y)
    assert naive.score(X, y) == 0.5
    np.testing.assert_allclose(naive.predict_proba(X), 0.5, rtol=1e-12)
