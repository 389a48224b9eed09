"""One function explains every model: the parts sum to the log-odds."""

import numpy as np
import pytest

from fitted_models import table_of
from suffice import GaussianDiscriminant, InputError, NaiveBayes, TextNaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.families import Bernoulli
from suffice.model.explanation import explain, explain_columns
from suffice.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB, PoissonNB
from suffice.tables import MatrixTable

RNG = np.random.default_rng(0)
Y = np.arange(90) % 3
X = RNG.standard_normal((90, 4)) + Y[:, None]
COUNTS = RNG.poisson(1.0 + Y[:, None], (90, 4)).astype(float)


@pytest.mark.parametrize(
    ("model", "rows", "names"),
    [
        (GaussianDiscriminant(), X, ["(prior)", 0, 1, 2, 3]),
        (GaussianDiscriminant(covariance="own"), X, ["(prior)", 0, 1, 2, 3, "(spread)"]),
        (GaussianDiscriminant(estimation="bayes"), X, ["(prior)", (0, 1, 2, 3)]),
        (LinearDiscriminantAnalysis(), X, ["(prior)", 0, 1, 2, 3]),
        (QuadraticDiscriminantAnalysis(), X, ["(prior)", 0, 1, 2, 3, "(spread)"]),
        (NaiveBayes(), X, ["(prior)", 0, 1, 2, 3]),
        (GaussianNB(), X, ["(prior)", 0, 1, 2, 3]),
        (PoissonNB(), COUNTS, ["(prior)", 0, 1, 2, 3]),
        (MultinomialNB(), COUNTS, ["(prior)", 0, 1, 2, 3]),
        (BernoulliNB(), COUNTS, ["(prior)", 0, 1, 2, 3]),
        (CategoricalNB(), COUNTS, ["(prior)", 0, 1, 2, 3]),
    ],
    ids=repr,
)
def test_parts_sum_to_the_log_odds(model, rows, names):
    model.fit(rows, Y)
    table = table_of(model, rows)
    found = explain(model.fitted_.estimate, table, 2, 0)
    assert found.names == names
    assert found.counts is None
    log_proba = model.predict_log_proba(rows)
    np.testing.assert_allclose(found.log_odds, log_proba[:, 2] - log_proba[:, 0], rtol=1e-9, atol=1e-9)
    best = explain(model.fitted_.estimate, table)
    np.testing.assert_array_equal(best.labels, model.predict(rows))


def test_words_of_a_document_have_counts():
    documents = ["cheap pills", "see you at lunch", "cheap cheap lunch"]
    model = TextNaiveBayes().fit(documents, ["spam", "ham", "spam"])
    found = explain(model.fitted_.estimate, table_of(model, ["cheap, cheap dinner"]))
    assert found.names == [["(prior)", "cheap"]]
    assert [each.tolist() for each in found.counts] == [[1, 2]]
    assert found.unknown == [["dinner"]]
    assert list(found.strongest(0, n=1)) == ["row", "label", "against", "word", "count", "part"]
    assert found.strongest(0, n=1)["word"] == ["cheap"]
    assert list(found.to_frame().columns) == ["row", "label", "against", "word", "count", "part"]


def test_rows_without_odds_are_all_named():
    model = NaiveBayes(Bernoulli("mle")).fit([[1.0, 1.0], [0.0, 0.0], [1.0, 0.0], [0.0, 0.0]], ["a", "b", "c", "d"])
    table = MatrixTable(np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]))
    with pytest.raises(InputError, match="Row 0 is impossible under both classes") as caught:
        explain_columns(model.fitted_.estimate, table, 1, 2)
    assert list(caught.value.rows) == [0, 3]
    nowhere = MatrixTable(np.array([[1.0, 1.0], [0.0, 1.0], [0.0, 0.0], [0.0, 1.0]]))
    for use, said in (
        (lambda: explain(model.fitted_.estimate, nowhere), "Row 1 is so far from every class"),
        (lambda: model.predict_proba(nowhere.x), "Row 1 has probability zero in every class, because of 0 in column 0"),
    ):
        with pytest.raises(InputError, match=said) as caught:
            use()
        assert list(caught.value.rows) == [1, 3]
