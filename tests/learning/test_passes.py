"""Bytes and passes: rows are read once, nothing of their size is made beside them, and cost grows as they do."""

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from suffice import GaussianDiscriminant, NaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, PoissonNB
from watching import Rows, allocated, watching

N, K = 40_000, 10  # rows enough for BLAS to multiply them, block by block
PERIOD = 4000  # distinct rows, of all classes
ONCE = 1.05  # pages at the edges of a block are touched by both
SPARE = 8 << 20  # bytes for blocks, whatever the number of rows
PER_ROW = 24  # bytes for codes of labels and the like
# Where one read is not enough: the range of the categories is known before they are counted; and counts are checked,
# summed, and summed once more as logarithms of factorials, which are there for the evidence.
MORE_READS = {"CategoricalNB": 2, "PoissonNB": 4}


def numbers(rng, y):
    return rng.standard_normal((len(y), 50)) + 0.1 * y[:, None]


def counts(rng, y):
    return rng.poisson(1 + 0.2 * y[:, None], (len(y), 50)).astype(float)


def answers(rng, y):
    return (rng.random((len(y), 50)) < 0.2 + 0.05 * y[:, None]).astype(float)


def categories(rng, y):
    return (rng.integers(0, 10, (len(y), 20)) + rng.integers(0, 2, (len(y), 20)) * y[:, None]) % 10


MODELS = {
    "GaussianNB": (GaussianNB(), numbers),
    "NaiveBayes": (NaiveBayes(), numbers),
    "LDA": (LinearDiscriminantAnalysis(), numbers),
    "QDA": (QuadraticDiscriminantAnalysis(), numbers),
    "shared": (GaussianDiscriminant(), numbers),
    "own": (GaussianDiscriminant("own"), numbers),
    "BernoulliNB": (BernoulliNB(), answers),
    "MultinomialNB": (MultinomialNB(), counts),
    "ComplementNB": (ComplementNB(), counts),
    "PoissonNB": (PoissonNB(), counts),
    "CategoricalNB": (CategoricalNB(), categories),
}
SPARSE = ["BernoulliNB", "MultinomialNB", "ComplementNB", "PoissonNB"]
FORMS = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
}
CASES = [(name, form) for name in MODELS for form in FORMS if (name, form) != ("CategoricalNB", "float32")]


def drawn(name, n=N, n_classes=K):
    """A model, and rows that repeat after some thousands, since drawing them takes longer than learning them."""
    y = np.arange(n) % n_classes
    model, rows = MODELS[name]
    some = rows(np.random.default_rng(0), y[:PERIOD])
    return model, np.resize(some, (n, some.shape[1])), y


def verbs(model, X, y):
    """Each verb, in the order in which they are called."""
    yield "fit", lambda: model.fit(X, y)
    yield "predict_proba", lambda: model.predict_proba(X)
    yield "predict", lambda: model.predict(X)


def reads(model, rows, y, monkeypatch, pages=True):
    """How often each verb reads the rows, and the bytes that its kernels are given."""
    found = {}
    with threadpool_limits(1):
        for verb, run in verbs(model, rows.X, y):
            with watching(rows, monkeypatch, pages) as seen:
                run()
            found[verb] = seen
    return found


def assert_read_once(found, times=1):
    for verb, seen in found.items():
        said = f"{verb}: read {seen.times:.2f} times, {seen.by_kernels:.2f} by kernels"
        assert seen.times <= times * ONCE, said
        assert seen.times > 0.3, said  # so that it is known that reads are seen


@pytest.mark.parametrize(("name", "form"), CASES)
def test_rows_are_read_once(name, form, monkeypatch):
    model, X, y = drawn(name)
    assert_read_once(reads(model, Rows(FORMS[form](X)), y, monkeypatch), MORE_READS.get(name, 1))


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_rows_are_read_once(name, monkeypatch):
    model, X, y = drawn(name)
    found = reads(model, Rows(sparse.csr_matrix(X)), y, monkeypatch)
    indices = 4 / 12  # indices of matrices from outside are checked before SciPy reads them
    assert_read_once(found, MORE_READS.get(name, 1) + indices)


@pytest.mark.parametrize("name", ["GaussianNB", "NaiveBayes"])
def test_rows_with_holes_are_read_twice_at_most(name, monkeypatch):
    # That there are holes may be learned by a pass that expects none.
    model, X, y = drawn(name)
    X[np.random.default_rng(1).random(X.shape) < 0.05] = np.nan
    assert_read_once(reads(model, Rows(X), y, monkeypatch), times=2)


@pytest.mark.parametrize("name", MODELS)
def test_kernels_are_given_bytes_in_proportion_to_the_rows(name, monkeypatch):
    handed = []
    for n in (N, 2 * N):
        model, X, y = drawn(name, n)
        found = reads(model, Rows(X), y, monkeypatch, pages=False)
        handed.append({verb: seen.handed for verb, seen in found.items()})
    for verb, before in handed[0].items():
        assert handed[1][verb] <= 2.05 * before, verb


@pytest.mark.parametrize("name", MODELS)
def test_memory_beyond_the_output_does_not_grow_with_the_rows(name):
    peaks, outputs = [], []
    for n in (3 * N, 6 * N):  # several blocks each
        model, X, y = drawn(name, n)
        peaks.append({verb: allocated(run) for verb, run in verbs(model, X, y)})
        outputs.append({"fit": 0, "predict_proba": 8 * K * n, "predict": 8 * n})
        for verb, peak in peaks[-1].items():
            beyond = peak - outputs[-1][verb]
            assert beyond <= SPARE + PER_ROW * n, f"{verb}: {beyond / 2**20:.1f} MiB beside {X.nbytes / 2**20:.0f}"
    for verb in peaks[0]:
        growth = (peaks[1][verb] - peaks[0][verb] - outputs[1][verb] + outputs[0][verb]) / (3 * N)
        assert growth <= PER_ROW, f"{verb}: {growth:.0f} bytes for each row"


@pytest.mark.parametrize("name", sorted(set(MODELS) - {"QDA", "own"}))
def test_a_thousand_classes_cost_no_more_passes(name, monkeypatch):
    model, X, y = drawn(name, n_classes=1000)
    rows = Rows(X)
    with watching(rows, monkeypatch) as seen:
        model.fit(rows.X, y)
    assert seen.times <= MORE_READS.get(name, 1) * ONCE, f"read {seen.times:.2f} times"
    assert allocated(lambda: model.fit(X, y)) < 64 * 2**20 + 8 * size(model)


def size(model):
    """How many numbers a fitted model keeps."""
    statistics = [each for part in model.fitted_.model.statistics for each in vars(part).values()]
    return sum(each.size for each in statistics if isinstance(each, np.ndarray)) + sum(
        each.size for each in vars(model).values() if isinstance(each, np.ndarray)
    )


def test_reads_are_seen(monkeypatch):
    """The watch itself: NumPy's passes and copies are noticed."""
    rows = Rows(np.ones((N, 50)))
    with watching(rows, monkeypatch) as seen:
        rows.X[: N // 2].sum()
    if seen._sees_pages:
        assert 0.3 < seen.elsewhere < 0.55
    model, y = GaussianNB(), np.arange(N) % 2
    with watching(rows, monkeypatch) as seen:
        model.fit(rows.X, y)
        rows.X.sum()
        model.fit(rows.X, y)
    assert seen.by_kernels == pytest.approx(2, rel=0.05)
    if seen._sees_pages:
        assert seen.elsewhere > 0.3
    assert allocated(rows.X.copy) >= rows.nbytes
