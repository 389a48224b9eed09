"""Places of columns, and the correlations of a model within its classes."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_iris

from suffice import GaussianDiscriminant, GenerativeEnsemble, InputError, NaiveBayes
from suffice.model.columns import used_column, used_columns
from suffice.model.correlations import model_correlations
from suffice.model.marginals import marginal
from suffice.model.parameter_tables import parameter_table
from suffice.plotting import DependenceDisplay
from suffice.plotting.rows import column_of
from suffice.report.summarizing import summarize

X, Y = load_iris(return_X_y=True)


def test_places_follow_the_rows_whatever_the_blocks():
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=np.where(X[:, 0] > 5, "u", "v"))
    fitted = NaiveBayes({("d", "b"): "multivariate_gaussian"}).fit(frame, Y).fitted_
    places = used_columns(fitted.estimate, fitted.layout.schema)
    assert [(each.name, each.position) for each in places] == list(zip([*"abcd", "kind"], range(5), strict=True))
    found = used_column(fitted.estimate, fitted.layout.schema, "b")
    assert (found.block.names[found.j], found.is_joint, found.kind) == ("b", True, "number")
    assert fitted.estimate.blocks[found.number] is found.block


@pytest.mark.parametrize("column", ["agee", ["age"], {"age"}, 0, None])
def test_unknown_columns_have_one_message(column):
    fitted = NaiveBayes().fit(pd.DataFrame({"age": [1.0, 2.0, 5.0]}), ["a", "a", "b"]).fitted_
    estimate, schema = fitted.estimate, fitted.layout.schema
    calls = (
        lambda: used_column(estimate, schema, column),
        lambda: marginal(estimate, schema, column),
        lambda: parameter_table(estimate, column, schema),
        lambda: column_of(fitted, column),
    )
    messages = set()
    for call in calls:
        with pytest.raises(InputError, match="The model has no column") as caught:
            call()
        assert caught.value.column == column
        messages.add(str(caught.value))
    assert len(messages) == 1


def test_members_of_an_ensemble_are_not_further_columns():
    fitted = GenerativeEnsemble().fit(X, Y).fitted_
    assert [each.name for each in used_columns(fitted.estimate, fitted.layout.schema)] == [0, 1, 2, 3]


@pytest.mark.parametrize("estimation", ["mle", "map", "bayes"])
@pytest.mark.parametrize("covariance", ["own", "shared"])
def test_plot_and_report_show_the_same_correlations(covariance, estimation):
    some = np.r_[0:50, 50:60, 100:120]  # classes of different sizes, so that covariances are shrunk differently
    model = GaussianDiscriminant(covariance, estimation=estimation).fit(X[some], Y[some])
    names, expected = model_correlations(model.fitted_.estimate)
    drawn = DependenceDisplay.from_estimator(model, ax=Figure().subplots())
    assert drawn.columns == names
    np.testing.assert_array_equal(drawn.correlation, expected)
    listed = summarize(model.fitted_).dependence.correlations
    order = [names.index(int(name)) for name in listed.columns]
    np.testing.assert_allclose(listed.matrix, expected[np.ix_(order, order)], atol=6e-4)
    if estimation == "mle" and covariance == "own":
        total = sum(np.mean(Y[some] == k) * np.cov(X[some][Y[some] == k].T, bias=True) for k in range(3))
        np.testing.assert_allclose(expected, total / np.sqrt(np.outer(np.diag(total), np.diag(total))), rtol=1e-9)


def test_blocks_are_uncorrelated_with_each_other_and_t_without_variance_is_left_out():
    model = NaiveBayes({(0, 1): "multivariate_gaussian", (2, 3): "multivariate_gaussian"}, estimation="mle").fit(X, Y)
    names, found = model_correlations(model.fitted_.estimate)
    assert names == [0, 1, 2, 3]
    np.testing.assert_array_equal(found[:2, 2:], 0)
    few = np.r_[0:51]  # one row of the second class
    bayes = GaussianDiscriminant("own", estimation="bayes").fit(X[few], Y[few])
    assert np.isfinite(model_correlations(bayes.fitted_.estimate)[1]).all()
