"""The discrete drop-ins read their rows once: the same errors, numbers and state as with checks of their own."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import sklearn.naive_bayes as theirs
from scipy import sparse

import suffice.naive_bayes as ours
from suffice.model_selection import cross_val_predict, leave_one_out
from suffice.tables.table import MatrixTable

FREQUENCIES = ["MultinomialNB", "ComplementNB"]
DENSE_AND_SPARSE = [np.asarray, sparse.csr_matrix, sparse.csc_array]


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    return rng.poisson(np.array([[0.2, 1, 2, 0.5], [1, 1, 0.1, 3], [2, 0.3, 1, 0.1]])[y]).astype(float), y


@pytest.mark.parametrize("form", DENSE_AND_SPARSE)
@pytest.mark.parametrize("name", [*FREQUENCIES, "BernoulliNB"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, bool])
def test_as_scikit_learn(rows, name, form, dtype):
    X, y = rows
    X = form(X.astype(dtype))
    weight = np.random.default_rng(1).random(len(y))
    mine, other = getattr(ours, name)().fit(X, y, weight), getattr(theirs, name)().fit(X, y, weight)
    np.testing.assert_allclose(mine.feature_count_, other.feature_count_, rtol=1e-12)
    np.testing.assert_allclose(mine.predict_proba(X), other.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("form", DENSE_AND_SPARSE)
@pytest.mark.parametrize("threshold", [0.0, 0.5, 2.0, None])
def test_thresholds(rows, threshold, form):
    X, y = rows
    X = form(X if threshold is not None else (X > 1).astype(float))
    mine = ours.BernoulliNB(binarize=threshold).fit(X, y)
    other = theirs.BernoulliNB(binarize=threshold).fit(X, y)
    np.testing.assert_array_equal(mine.feature_count_, other.feature_count_)
    np.testing.assert_allclose(mine.predict_proba(X), other.predict_proba(X), rtol=1e-9)
    mine.set_params(binarize=1.0)  # rows to predict for are read by the setting of that moment, as in scikit-learn
    other.set_params(binarize=1.0)
    np.testing.assert_allclose(mine.predict_proba(X), other.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("form", DENSE_AND_SPARSE)
def test_a_threshold_goes_with_the_rows_that_are_left_out(rows, form):
    X, y = rows
    plain, binary = ours.BernoulliNB(binarize=None), form((X > 1.5).astype(float))
    model = ours.BernoulliNB(binarize=1.5)
    np.testing.assert_allclose(leave_one_out(model, form(X), y), leave_one_out(plain, binary, y), rtol=1e-10)
    found = cross_val_predict(model, form(X), y, method="predict_proba")
    np.testing.assert_allclose(found, cross_val_predict(plain, binary, y, method="predict_proba"), rtol=1e-10)
    with_more, expected = (
        each.fit(rows_[:200], y[:200], unlabelled=rows_[200:]) if form is not sparse.csc_array else each.fit(rows_, y)
        for each, rows_ in ((model, form(X)), (plain, binary))
    )
    np.testing.assert_allclose(with_more.feature_log_prob_, expected.feature_log_prob_, rtol=1e-9)


@pytest.mark.parametrize("form", DENSE_AND_SPARSE)
def test_missing_answers_say_nothing(rows, form):
    X, y = rows
    X = X.copy()
    X[np.random.default_rng(2).random(X.shape) < 0.2] = np.nan
    weight = np.random.default_rng(3).random(len(y))
    model = ours.BernoulliNB(binarize=0.5).fit(form(X), y, weight)
    for k in range(3):
        here = (y == k)[:, None] & ~np.isnan(X)
        known = (here * weight[:, None]).sum(axis=0)
        yes = ((X > 0.5) * here * weight[:, None]).sum(axis=0)
        np.testing.assert_allclose(model.feature_log_prob_[k], np.log((yes + 1) / (known + 2)), rtol=1e-12)
    joint = np.tile(model.class_log_prior_, (len(X), 1))
    log_yes = model.feature_log_prob_
    log_no = np.log1p(-np.exp(log_yes))
    for j in range(X.shape[1]):
        cell = np.where((X[:, [j]] > 0.5), log_yes[:, j], log_no[:, j])
        joint += np.where(np.isnan(X[:, [j]]), 0.0, cell)
    np.testing.assert_allclose(model.predict_joint_log_proba(form(X)), joint, rtol=1e-9)


BAD = {
    "negative": (-1.0, "Negative values in data passed to"),
    "missing": (np.nan, "Column 2, row 17: .*contains NaN"),
    "infinite": (np.inf, "Column 2, row 17: .*contains infinity"),
}


@pytest.mark.parametrize("form", DENSE_AND_SPARSE)
@pytest.mark.parametrize("name", FREQUENCIES)
@pytest.mark.parametrize("what", BAD)
@pytest.mark.parametrize("weightless", [False, True])
def test_values_that_are_no_frequencies(rows, what, name, form, weightless):
    X, y = rows
    value, message = BAD[what]
    wrong = X.copy()
    wrong[17, 2] = value
    weight = np.ones(len(y))
    weight[17] = not weightless
    model = getattr(ours, name)()
    for learn in (
        lambda: model.fit(form(wrong), y, weight),
        lambda: model.partial_fit(form(wrong), y, classes=[0, 1, 2], sample_weight=weight),
        lambda: cross_val_predict(model, form(wrong), y),
        lambda: leave_one_out(model, form(wrong), y),
    ):
        with pytest.raises(ValueError, match=message):
            learn()
        assert not hasattr(model, "classes_")
    model.fit(X, y)
    before = model.feature_count_
    for learn in (lambda: model.fit(form(wrong)[:, [2, 2]], y), lambda: model.partial_fit(form(wrong), y)):
        with pytest.raises(ValueError, match=message.replace("Column 2", "Column [02]")):
            learn()
        assert model.n_features_in_ == 4
        np.testing.assert_array_equal(model.feature_count_, before)
    if what != "negative":
        with pytest.raises(ValueError, match=message):
            model.predict(form(wrong))


@pytest.mark.parametrize("form", DENSE_AND_SPARSE)
def test_an_infinite_value_is_no_answer(rows, form):
    X, y = rows
    wrong = X.copy()
    wrong[17, 2] = np.inf
    model = ours.BernoulliNB()
    with pytest.raises(ValueError, match=r"Column 2, row 17: .*contains infinity"):
        model.fit(form(wrong), y)
    model.fit(X, y)
    with pytest.raises(ValueError, match=r"Column 2, row 17: .*contains infinity"):
        model.predict_proba(form(wrong))
    with pytest.raises(ValueError, match=r"Column 2, row 17: .*contains infinity"):
        model.fit(form(wrong), y)
    np.testing.assert_allclose(model.predict_proba(X), theirs.BernoulliNB().fit(X, y).predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("name", [*FREQUENCIES, "BernoulliNB", "PoissonNB", "CategoricalNB"])
def test_parameters_are_of_the_settings_of_the_fit(rows, name):
    """They are made when they are first needed, and may be stored before."""
    X, y = rows
    model = getattr(ours, name)(alpha=2.0).fit(X, y)
    expected = getattr(ours, name)(alpha=2.0).fit(X, y).predict_proba(X)
    model.set_params(alpha=0.1)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), expected)
    np.testing.assert_array_equal(model.predict_proba(X), expected)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array])
def test_cells_stored_twice_or_out_of_order_are_one(kind):
    x = kind((np.array([1.0, 2.0, -1.0, 3.0]), np.array([2, 0, 2, 1]), np.array([0, 3, 4])), shape=(2, 3))
    for name in ("MultinomialNB", "BernoulliNB"):
        found = getattr(ours, name)().fit(x, [0, 1]).feature_count_
        np.testing.assert_array_equal(found, getattr(ours, name)().fit(x.toarray(), [0, 1]).feature_count_)
    assert x.nnz == 4


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_matrix])
def test_rows_of_a_sparse_table_share_its_memory(kind):
    table = MatrixTable(kind(np.arange(12.0).reshape(4, 3)), above=2.0)
    part = table.rows(1, 3)
    np.testing.assert_array_equal(part.x.toarray(), [[3, 4, 5], [6, 7, 8]])
    assert part.above == 2.0
    assert table.take(np.array([2, 0])).above == 2.0
    assert part.rows(5, 9).x.shape == (0, 3)
    if kind is sparse.csr_matrix:
        assert np.shares_memory(part.x.data, table.x.data)


MEMORY = """
import sys, numpy as np
from pathlib import Path
from scipy import sparse
from suffice.naive_bayes import MultinomialNB
def status(key):
    text = Path("/proc/self/status").read_text()
    return float(next(line for line in text.splitlines() if line.startswith(key)).split()[1]) / 1024
rng = np.random.default_rng(0)
n, d, k, each = 20_000, 20_000, 500, 50
x = sparse.csr_matrix((np.ones(n * each), rng.integers(0, d, n * each), np.arange(0, n * each + 1, each)), shape=(n, d))
x.sum_duplicates()
y = np.arange(n) % k
MultinomialNB().fit(x[:100], y[:100])
Path("/proc/self/clear_refs").write_text("5")
before = status("VmRSS")
model = MultinomialNB().fit(x, y)
print(status("VmHWM") - before, model.feature_count_.nbytes / 2**20)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_with_many_classes():
    done = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True)
    peak, statistic = map(float, done.stdout.split())
    assert peak < statistic + 64
