"""Sparse matrices whose parts contradict each other: SciPy would read and write outside their arrays."""

import numpy as np
import pytest
from scipy import sparse

from suffice import NaiveBayes
from suffice.exceptions import InputError
from suffice.model_selection import cross_val_predict, cross_validate, leave_one_out
from suffice.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, PoissonNB
from suffice.tables.sparse_checks import check_cells
from suffice.text import WordCounts

N, D = 40, 7
LABELS = np.arange(N) % 2
ESTIMATORS = [BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, NaiveBayes, PoissonNB]
FORMATS = ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]
KINDS = [*(f"{each}_{kind}" for each in FORMATS for kind in ("matrix", "array"))]


def dense():
    return np.random.default_rng(0).integers(0, 3, size=(N, D)).astype(float)


def outside(x, index=10**7):
    """The matrix with one index outside its shape; SciPy has noted that its cells are in order."""
    x = x.copy()
    if x.format in ("csr", "csc", "bsr"):
        x.indices[3] = index
    elif x.format == "coo":
        x.coords[1][3] = index
    elif x.format == "lil":
        x.rows[3] = [*x.rows[3][:-1], index]
    elif x.format == "dok":
        x._dict[0, index] = 1.0
    else:
        x.offsets = x.offsets[:-1]
    return x


def with_parts(kind, indices, indptr, count):
    """A CSR matrix with other arrays than its constructor accepts."""
    x = sparse.csr_array((N, D))
    x.data, x.indices, x.indptr = np.ones(count), np.array(indices, dtype=kind), np.array(indptr, dtype=kind)
    return x


def same_lines(step):
    return np.arange(N + 1) * step


BROKEN = {
    "negative": ([-1] * N, same_lines(1), N),
    "beyond": ([D] * N, same_lines(1), N),
    "decreasing": ([0] * N, [0, 5, 3, *range(3, N + 1)], N),
    "more than stored": ([0] * N, same_lines(10**6), N),
    "fewer values": ([0] * N, same_lines(1), N - 1),
    "not from zero": ([0] * N, same_lines(1) + 1, N + 1),
    "too short": ([0] * N, same_lines(1)[:-5], N),
    "negative pointer": ([0] * N, [0, -5, *range(2, N + 1)], N),
}


@pytest.mark.parametrize("kind", KINDS)
def test_an_index_outside_is_an_error_in_every_format(kind):
    x = getattr(sparse, kind)(dense())
    check_cells(x)
    for index in (10**7, N, -1) if x.format != "dia" else (0,):
        with pytest.raises(InputError, match="not a valid sparse matrix of shape"):
            check_cells(outside(x, index))


@pytest.mark.parametrize("integer", [np.int32, np.int64])
@pytest.mark.parametrize("case", BROKEN)
def test_indices_and_pointers_are_checked(case, integer):
    x = with_parts(integer, *BROKEN[case])
    for known in (True, None):  # whether SciPy has noted before that the cells are in order
        if known:
            x.has_canonical_format = True
        for model in (MultinomialNB(), NaiveBayes(), GaussianNB()):
            with pytest.raises(ValueError, match=r"sparse matrix|indptr"):
                model.fit(x, LABELS)


@pytest.mark.parametrize("kind", ["csr_matrix", "csc_matrix", "csr_array", "csc_array", "coo_array", "lil_matrix"])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_estimator_and_method(estimator, kind):
    good = getattr(sparse, kind)(dense())
    bad = outside(good)
    model = estimator().fit(good, LABELS)
    calls = [lambda name=name: getattr(model, name)(bad, LABELS) for name in ("fit", "partial_fit", "score", "remove")]
    names = ("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba", "score_samples", "explain")
    calls += [lambda name=name: getattr(model, name)(bad) for name in names[: 4 if estimator is ComplementNB else 6]]
    for call in calls:
        with pytest.raises(ValueError, match="sparse matrix"):
            call()
    model.predict(good)


@pytest.mark.parametrize("function", [cross_val_predict, cross_validate, leave_one_out])
def test_cross_validation(function):
    for kind in (sparse.csr_matrix, sparse.csc_matrix):
        with pytest.raises(ValueError, match="sparse matrix"):
            function(MultinomialNB(), outside(kind(dense())), LABELS)


def test_words_of_a_matrix():
    counts = WordCounts().fit(["one two three", "four five six seven"])
    with pytest.raises(InputError, match="sparse matrix"):
        counts.inverse_transform(outside(sparse.csc_array(dense())))


def test_arrays_of_other_types_and_dimensions():
    for parts in ({"indices": np.zeros(N)}, {"indices": np.zeros((N, 1), dtype=np.int32)}, {"data": np.ones((N, 1))}):
        x = with_parts(np.int32, [0] * N, same_lines(1), N)
        for name, value in parts.items():
            setattr(x, name, value)
        with pytest.raises(InputError, match="sparse matrix"):
            check_cells(x)
    with pytest.raises(InputError, match="two dimensions"):
        NaiveBayes().fit(sparse.coo_array(np.ones(3)), [0, 1, 0])


def test_cells_in_any_order_are_valid():
    x = sparse.csr_array((np.ones(4), np.array([2, 0, 2, 1]), np.array([0, 3, 4])), shape=(2, 3))
    x.has_canonical_format = True  # which is wrong
    check_cells(x)
    assert not x.has_canonical_format
    assert MultinomialNB().fit(x, [0, 1]).feature_count_.tolist() == [[1, 0, 2], [0, 1, 0]]
    assert GaussianNB().fit(x, [0, 1]).theta_.tolist() == [[1, 0, 2], [0, 1, 0]]
