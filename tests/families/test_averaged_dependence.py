"""Averaged one-dependence estimators: the formula written out, and leave-one-out against refits."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest

from suffice import NaiveBayes
from suffice.exceptions import InputError
from suffice.families import AveragedDependence
from suffice.sources.columns import ColumnTable, ObjectColumn
from suffice.statistics import ClassAxis, Membership
from suffice.statistics.bins import Bins, quantile_cuts
from suffice.tables.mixed_rows import MixedRows

LEVELS = ["a", "b", "c", None]


def mixed(columns):
    """Rows of columns of Python objects."""
    table = ColumnTable(len(columns[0]), [ObjectColumn(list(column)) for column in columns])
    return MixedRows(table, slice(None), range(len(columns)))


def example(seed, n=60):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    size = np.where(rng.random(n) < 0.1, np.nan, rng.standard_normal(n) + y)
    kind = [LEVELS[i] for i in (rng.integers(0, 4, n) + y) % 4]
    flag = (rng.random(n) < 0.3 + 0.2 * y).tolist()
    return [size.tolist(), kind, flag], y, rng.integers(1, 4, n).astype(float)


def binned(columns, bins):
    """The bin of each cell, written out: a number's interval, a level, or None for a missing cell."""
    out = []
    for column, each in zip(columns, bins, strict=True):
        missing = [value is None or value != value for value in column]
        if each.cuts is not None:
            column = [sum(value > cut for cut in each.cuts) for value in column]
        elif each.kept is not None:
            column = [value if value in each.kept else "(other)" for value in column]
        out.append([None if lost else value for value, lost in zip(column, missing, strict=True)])
    return list(zip(*out, strict=True))


def by_hand(rows, y, w, x, k, m, parents):
    """log p(x | k) by loops over the rows."""
    n, total = sum(w[y == k]), sum(w)
    known = [j for j in range(len(x)) if any(row[j] == x[j] for row in rows)]

    def count(*where, of=None):
        here = zip(rows, y, w, strict=True)
        return sum(v for row, c, v in here if (of is None or c == of) and all(row[j] == x[j] for j in where))

    def share(j):
        return (count(j, of=k) + 2 * count(j) / total) / (n + 2)

    def given(j, i):
        return (count(i, j, of=k) + m * share(j)) / (count(i, of=k) + m)

    usable = [i for i in parents if i in known]
    products = [share(i) * np.prod([given(j, i) for j in known if j != i]) for i in usable]
    return np.log(np.mean(products)) if usable else np.log(np.prod([share(j) for j in known]))


def fitted(family, columns, y, w, keep=None):
    keep = np.ones(len(y), dtype=bool) if keep is None else keep
    rows = mixed([list(itertools.compress(column, keep)) for column in columns])
    members = Membership(ClassAxis.of(["a", "b", "c"]), codes=y[keep].astype(np.int64), weights=w[keep])
    statistic = family.summarize(rows, members)
    return family.settled(statistic), statistic, family.estimate(statistic), rows, members


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("m", [5.0, 0.3])
def test_log_likelihood_is_the_formula(seed, m):
    columns, y, w = example(seed)
    family = AveragedDependence(n_bins=4, smoothing=m, max_parents=3 - seed)
    family, statistic, parameters, x, _ = fitted(family, columns, y, w)
    assert len(statistic.parents) == 3 - seed
    rows = binned(columns, statistic.bins)
    found = family.log_likelihood(parameters, x)
    expected = [[by_hand(rows, y, w, row, k, m, statistic.parents) for k in range(3)] for row in rows]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_unseen_levels_are_not_read():
    columns, y, w = example(0)
    family, statistic, parameters, _, _ = fitted(AveragedDependence(), columns, y, w)
    rows = binned(columns, statistic.bins)
    new = mixed([[0.5, np.nan, 0.5], ["new", "new", None], [True, True, False]])
    expected = [
        [by_hand(rows, y, w, row, k, 5.0, statistic.parents) for k in range(3)]
        for row in binned([[0.5, np.nan, 0.5], ["new", "new", None], [True, True, False]], statistic.bins)
    ]
    np.testing.assert_allclose(family.log_likelihood(parameters, new), expected, rtol=1e-12)
    unknown = mixed([[None], ["new"], [None]])
    whole = AveragedDependence(bins=statistic.bins, parents=(1,))
    found = fitted(whole, [[0.0] * 60, columns[1], columns[2]], y, w)
    np.testing.assert_array_equal(whole.log_likelihood(found[2], unknown), np.zeros((1, 3)))


def test_bins_sum_to_one():
    columns, y, w = example(1)
    family, statistic, parameters, _, _ = fitted(AveragedDependence(n_bins=3), columns, y, w)
    numbers = statistic.bins[0].cuts
    every = list(itertools.product([*numbers, numbers[-1] + 1, np.nan], LEVELS, [False, True]))
    total = np.exp(family.log_likelihood(parameters, mixed(list(zip(*every, strict=True))))).sum(axis=0)
    np.testing.assert_allclose(total, 1.0, rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_leave_one_out_is_a_refit_without_the_row(seed):
    columns, y, w = example(seed)
    columns[1][7] = "only here"
    family = AveragedDependence(n_bins=4, max_parents=3 - seed)
    family, statistic, parameters, x, members = fitted(family, columns, y, w)
    found = family.leave_one_out(statistic, parameters, x, members, range(3))
    for i in range(len(y)):
        without = np.arange(len(y)) != i
        again, _, rest, _, _ = fitted(family, columns, y, w, without)
        expected = again.log_likelihood(rest, x.take([i]))
        np.testing.assert_allclose(found[i], expected[0], rtol=1e-11)


def test_leave_one_out_with_fractional_weights():
    columns, y, w = example(4)
    w = w * 0.1
    family, statistic, parameters, x, members = fitted(AveragedDependence(), columns, y, w)
    found = family.leave_one_out(statistic, parameters, x, members, range(3))
    again, _, rest, _, _ = fitted(family, columns, y, w, np.arange(len(y)) != 5)
    np.testing.assert_allclose(found[5], again.log_likelihood(rest, x.take([5]))[0], rtol=1e-9)


def test_terms_sum_to_the_log_likelihood_also_of_unknown_cells():
    columns, y, w = example(2)
    for most in (1, 3):
        family, _, parameters, _, _ = fitted(AveragedDependence(max_parents=most), columns, y, w)
        x = mixed([[0.5, np.nan, 99.0], ["new", None, "a"], [True, None, False]])
        parts = family.terms(parameters, x)
        np.testing.assert_allclose(parts.sum(axis=2), family.log_likelihood(parameters, x), rtol=1e-12)
        assert (parts[0, :, 1] == 0).all()  # a level that was never seen


def test_products_of_many_columns_do_not_underflow():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (40, 1500)).astype(float)
    y = rng.integers(0, 2, 40)
    members = Membership(ClassAxis.of([0, 1]), codes=y)
    from suffice.tables import MatrixTable

    rows = MixedRows(MatrixTable(x), slice(None), range(1500))
    family = AveragedDependence(smoothing=0.01)
    parameters = family.estimate(family.summarize(rows, members))
    found = family.log_likelihood(parameters, rows)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found, family.terms(parameters, rows).sum(axis=2), rtol=1e-10)


def test_the_most_informative_columns_are_parents():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 500)
    x = rng.standard_normal((500, 6))
    x[:, [1, 4]] += 2 * y[:, None]
    from suffice.tables import MatrixTable

    rows = MixedRows(MatrixTable(x), slice(None), range(6))
    statistic = AveragedDependence(max_parents=2).summarize(rows, Membership(ClassAxis.of([0, 1]), codes=y))
    assert statistic.parents == (1, 4)
    assert statistic.pairs.shape == (2, 12, 36)


def test_frequent_levels_are_kept_apart():
    columns, y, w = [["a"] * 5 + ["b"] * 4 + ["c"] * 3 + ["d"] * 2 + [None]], np.arange(15) % 3, np.ones(15)
    family, statistic, parameters, _, _ = fitted(AveragedDependence(max_levels=2), columns, y, w)
    assert statistic.bins == (Bins(kept=("a", "b")),)
    names, shares = family.level_table(parameters, 0)
    assert names == ["a", "b", "(other)", "(missing)"]
    np.testing.assert_allclose(shares.sum(axis=0), 1.0)
    # A level that comes later is in the bin of all others.
    found = family.log_likelihood(parameters, mixed([["c", "new"]]))
    np.testing.assert_array_equal(found[0], found[1])


def test_later_levels_are_added():
    one = AveragedDependence().summarize(
        mixed([["a", "b"], [True, False]]), Membership(ClassAxis.of([0, 1]), codes=np.array([0, 1]))
    )
    family = AveragedDependence().settled(one)
    two = family.summarize(mixed([["0", "c"], [True, True]]), Membership(ClassAxis.of([0, 1]), codes=np.array([0, 1])))
    both = one.merge(two)
    assert both.levels[0].values == ("0", "a", "b", "c")
    assert both.subtract(two).axes() == one.axes()
    assert both.flaw() is None


@pytest.mark.parametrize(
    ("values", "n_bins", "cuts"),
    [
        (np.arange(100.0), 4, (24.0, 49.0, 74.0)),
        (np.repeat([0.0, 1.0], [90, 10]), 5, (0.0,)),
        (np.repeat([0.0, 1.0], [10, 90]), 5, (0.0,)),
        (np.repeat([1.0, 2.0, 3.0], [10, 80, 10]), 5, (1.0, 2.0)),
        (np.array([7.0]), 5, (7.0,)),
    ],
)
def test_quantile_cuts(values, n_bins, cuts):
    assert quantile_cuts(values, n_bins) == cuts
    assert quantile_cuts(-values[::-1] * 2.0**40, n_bins, np.ones(len(values)))  # another order and unit
    # A row of weight k counts as k rows.
    distinct, times = np.unique(values, return_counts=True)
    assert quantile_cuts(distinct, n_bins, times.astype(float)) == cuts


@pytest.mark.parametrize(
    "settings",
    [
        {"n_bins": 1},
        {"n_bins": 2.5},
        {"smoothing": 0.0},
        {"smoothing": np.nan},
        {"max_parents": 0},
        {"max_levels": True},
    ],
)
def test_settings_are_checked(settings):
    with pytest.raises(InputError, match=next(iter(settings))):
        AveragedDependence(**settings)


def test_categories_of_a_frame_keep_their_type():
    frame = pd.DataFrame({"n": pd.Categorical([3, 1, 3, 2]), "when": pd.date_range("2020-01-01", periods=4)})
    from suffice import AveragedDependence as Estimator

    model = Estimator().fit(frame, ["a", "b", "a", "b"])
    assert model.cuts_["n"] == "levels"
    assert len(model.cuts_["when"]) == 3


def test_scores_are_those_with_a_row_of_weight_zero_held_out():
    rng = np.random.default_rng(3)
    n, d = 3000, 23
    common = rng.standard_normal(n)
    columns = [list(common * rng.random() + rng.standard_normal(n)) for _ in range(d)]
    columns.append(list(rng.choice(["a", "b", "c"], n)))
    y, w = rng.integers(0, 3, n), np.ones(n)
    for most in (7, 50):
        _, _, parameters, rows, _ = fitted(AveragedDependence(max_parents=most), columns, y, w)
        cells = parameters.rows(rows).cells(0, n)
        cells[rng.random(cells.shape) < 0.1] = -1
        cells[0] = -1
        nothing = np.full(n, -1), np.zeros(n)
        np.testing.assert_allclose(
            parameters.scores(cells), parameters.held_out_scores(cells, *nothing), rtol=1e-12, atol=1e-12
        )


def test_tables_for_predictions_are_not_pickled():
    columns, y, w = example(0)
    family, _, parameters, rows, _ = fitted(AveragedDependence(), columns, y, w)
    before = len(pickle.dumps(parameters))
    found = family.log_likelihood(parameters, rows)
    assert len(pickle.dumps(parameters)) == before
    np.testing.assert_array_equal(family.log_likelihood(pickle.loads(pickle.dumps(parameters)), rows), found)


def test_without_parents_columns_are_independent():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    x = rng.integers(0, 3, (60, 2)) + (y == 1)[:, None]
    family = AveragedDependence(parents=())
    model = NaiveBayes({(0, 1): family}, calibrate=True).fit(x, y)
    plain = NaiveBayes({(0, 1): family}).fit(x, y)
    alone = [NaiveBayes({(0,): AveragedDependence(parents=())}).fit(x[:, [j]], y) for j in range(2)]
    expected = sum(np.log(each.predict_proba(x[:, [j]])) for j, each in enumerate(alone)) - np.log(plain.class_prior_)
    expected = np.exp(expected - np.logaddexp.reduce(expected, axis=1, keepdims=True))
    np.testing.assert_allclose(plain.predict_proba(x), expected, rtol=1e-9)
    assert np.isfinite(model.predict_proba(x)).all()
    parts = plain.explain(x, label=1, against=0)
    odds = plain.predict_log_proba(x)
    np.testing.assert_allclose([sum(each) for each in parts.parts], odds[:, 1] - odds[:, 0], rtol=1e-9)
    assert plain.sample(5, random_state=0)[0].shape == (5, 2)
