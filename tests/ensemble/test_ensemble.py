"""Laws of `GenerativeEnsemble`: one model of several members over the same columns."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import log_loss

import suffice
from suffice import AveragedDependence, GaussianDiscriminant, GenerativeEnsemble, InputError, MergeError, NaiveBayes
from suffice.exceptions import ConvergenceWarning, NotLinearError
from suffice.families import Gaussian
from suffice.families.multivariate_gaussian import missing_cells
from suffice.learning.hold_out import HoldOut
from suffice.learning.tunable import with_data_prior
from suffice.statistics import Membership


def rows(n=300, seed=0):
    """A frame of numbers, categories and missing cells, whose columns depend on each other."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    a = rng.standard_normal(n) + y
    frame = pd.DataFrame(
        {
            "a": a,
            "b": a + 0.3 * rng.standard_normal(n) + 0.5 * (y == 1),
            "size": np.exp(rng.standard_normal(n) + 0.5 * y),
            "kind": np.array(["red", "green", "blue"], dtype=object)[(rng.integers(0, 3, n) + (y == 2)) % 3],
            "member": rng.random(n) < 0.3 + 0.2 * y,
        }
    )
    frame.loc[rng.random(n) < 0.1, "size"] = np.nan
    frame.loc[rng.random(n) < 0.05, "kind"] = None
    return frame, np.array(["x", "y", "z"])[y]


def like(model):
    return GenerativeEnsemble(model.families_, cuts=model.cuts_, parents=model.parents_)


def same(a, b, X, tolerance=1e-9):
    np.testing.assert_allclose(a.predict_log_proba(X), b.predict_log_proba(X), rtol=tolerance, atol=tolerance)


@pytest.fixture(scope="module")
def fitted():
    X, y = rows()
    return GenerativeEnsemble().fit(X, y), X, y


# ---------------------------------------------------------------------- members and weights


def test_members_are_those_of_the_single_models(fitted):
    model, X, y = fitted
    estimate = model.fitted_.combined
    numbers = X[["a", "b", "size"]].to_numpy()
    alone = {
        "averaged dependence": AveragedDependence(max_parents=8).fit(X, y).predict_joint_log_proba(X),
        "own covariance": GaussianDiscriminant("own").fit(numbers, y).predict_joint_log_proba(numbers),
        "shared covariance": GaussianDiscriminant("shared").fit(numbers, y).predict_joint_log_proba(numbers),
    }
    table = model.fitted_.reader.rows(X, model.fitted_.layout)
    for block, parameters in zip(estimate.blocks, estimate.parameters, strict=True):
        if block.member:
            found = block.family.log_likelihood(parameters, block.take(table)) + estimate.log_prior
            np.testing.assert_allclose(found, alone[block.member], rtol=1e-8)
    naive = NaiveBayes("best").fit(X, y)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), naive.predict_joint_log_proba(X), rtol=1e-10)
    np.testing.assert_allclose(model.score_samples(X), naive.score_samples(X), rtol=1e-10)
    assert model.families_ == naive.families_


def test_the_posterior_is_the_weighted_sum_of_the_members(fitted):
    model, X, _ = fitted
    weights = dict(zip(model.weights_["column"], model.weights_["weight"], strict=True))
    estimate, calibration = model.fitted_.combined, model.calibration_
    table = model.fitted_.reader.rows(X, model.fitted_.layout)
    scores = estimate.log_prior + calibration.offset
    for name, part in estimate.terms(table, densities=True)[:5]:
        scores = scores + weights[name] * part
    for block, parameters in zip(estimate.blocks, estimate.parameters, strict=True):
        if block.member:
            own = block.family.log_likelihood(parameters, block.take(table))
            scores = scores + weights[f"({block.member})"] * own
    posterior = np.exp(scores - scores.max(axis=1, keepdims=True))
    posterior /= posterior.sum(axis=1, keepdims=True)
    mixed = (1 - calibration.outliers) * posterior + calibration.outliers * calibration.share
    np.testing.assert_allclose(model.predict_proba(X), mixed, rtol=1e-9)


def test_held_out_parts_are_refits_without_the_row():
    X, y = rows(60)
    X = X.drop(columns="size")  # histograms keep their bins
    model = GenerativeEnsemble("auto").fit(X, y)
    fitted = with_data_prior(model.fitted_)
    table, codes = fitted.reader.rows(X, fitted.layout), fitted.classes.positions(y)
    hold_out = HoldOut(fitted.model, table, Membership(fitted.classes, codes=codes), 100)
    found = hold_out.parts(fitted, np.arange(len(y)))
    assert hold_out.name == "leave-one-out"
    for i in (0, 7, 31):
        rest = np.arange(len(y)) != i
        again = like(model).fit(X[rest], y[rest])
        parts = [part for _, part in again.fitted_.combined.terms(table.take(np.array([i])), densities=True)]
        expected = np.array([part[0] - part[0].mean() for part in parts])
        np.testing.assert_allclose(found[1:, i] - found[1:, i].mean(axis=1, keepdims=True), expected, atol=1e-8)


def test_parts_without_a_closed_form_are_held_out_in_folds():
    X, y = rows(400)
    model = GenerativeEnsemble().fit(X[["a", "b", "size"]], y)
    assert model.calibration_.rule == "10 folds"


# ---------------------------------------------------------------------- learning


def test_a_stream_and_a_merge_are_the_fit_with_the_same_choices(fitted):
    first, X, y = fitted
    more, labels = rows(200, 1)
    streamed = clone(first).partial_fit(X, y).partial_fit(more, labels)
    merged = suffice.merge([first, like(first).fit(more, labels)])
    same(streamed, merged, X)
    whole = like(first).fit(pd.concat([X, more]), np.concatenate([y, labels]))
    parts = [part for _, part in whole.fitted_.combined.terms(whole.fitted_.reader.rows(X, whole.fitted_.layout))]
    for part, (_, other) in zip(
        parts, merged.fitted_.combined.terms(merged.fitted_.reader.rows(X, merged.fitted_.layout)), strict=True
    ):
        np.testing.assert_allclose(part, other, rtol=1e-6, atol=1e-6)


def test_the_first_batch_of_a_stream_is_a_fit(fitted):
    model, X, y = fitted
    same(GenerativeEnsemble().partial_fit(X, y), model, X)
    declared = GenerativeEnsemble().partial_fit(X, y, classes=["x", "y", "z", "later"])
    assert declared.classes_.tolist() == ["later", "x", "y", "z"]
    np.testing.assert_allclose(declared.predict_proba(X)[:, 1:], model.predict_proba(X), rtol=1e-9)


def test_removed_rows_were_never_there():
    X, y = rows(300)
    more, labels = rows(50, 3)
    model = GenerativeEnsemble("auto").fit(X, y)
    before = model.predict_log_proba(X)
    model.partial_fit(more, labels).remove(more, labels)
    np.testing.assert_allclose(model.predict_log_proba(X), before, rtol=1e-6, atol=1e-6)


def test_weights_of_rows_are_repeated_rows():
    X, y = rows(120)
    counts = np.random.default_rng(0).integers(1, 3, len(y))
    at = np.repeat(np.arange(len(y)), counts)
    first = GenerativeEnsemble("auto").fit(X, y)
    weighted, repeated = like(first).fit(X, y, sample_weight=counts), like(first).fit(X.iloc[at], y[at])
    for a, b in zip(members(weighted, X), members(repeated, X), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


def members(model, X):
    table = model.fitted_.reader.rows(X, model.fitted_.layout)
    return [part for _, part in model.fitted_.combined.terms(table)]


def test_models_with_other_choices_cannot_be_merged(fitted):
    first, _, _ = fitted
    with pytest.raises(MergeError, match=r"families_|cuts_"):
        suffice.merge([first, GenerativeEnsemble().fit(*rows(200, 5))])


def test_columns_may_come_in_another_order(fitted):
    first, X, _ = fitted
    more, labels = rows(100, 2)
    other = like(first).fit(more[more.columns[::-1]], labels)
    same(suffice.merge([first, other]), suffice.merge([first, like(first).fit(more, labels)]), X)


def test_a_saved_model_is_the_model(fitted, tmp_path):
    model, X, y = fitted
    model.save(tmp_path / "m.suffice")
    loaded = suffice.load(tmp_path / "m.suffice")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    same(loaded.partial_fit(X, y), clone(model).partial_fit(X, y).partial_fit(X, y), X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("form", [pl.DataFrame, pa.table])
def test_every_form_of_rows_gives_the_same_model(form, fitted):
    model, X, y = fitted
    other = form({name: [None if pd.isna(v) else v for v in X[name]] for name in X})
    same(GenerativeEnsemble().fit(other, y), model, X)
    np.testing.assert_allclose(model.predict_proba(other), model.predict_proba(X), rtol=1e-9)


def test_a_file_is_the_rows(tmp_path, fitted):
    _, X, y = fitted
    X.assign(label=y).to_csv(tmp_path / "rows.csv", index=False)
    model = suffice.fit(tmp_path / "rows.csv", "label", model="ensemble")
    assert model.report_.scores.accuracy > 0.6
    assert model.report_.scores.log_loss < model.report_.scores.baseline_log_loss


# ---------------------------------------------------------------------- answers


@pytest.mark.parametrize(("label", "against"), [(None, None), ("z", "x"), ("x", None)])
def test_explanations_sum_to_the_log_odds(label, against, fitted):
    model, X, _ = fitted
    explanation = model.explain(X[:20], label, against)
    at = {name: i for i, name in enumerate(model.classes_)}
    scores = model.fitted_.weighted.relative_joint(model.fitted_.reader.rows(X[:20], model.fitted_.layout))
    scores = scores + model.calibration_.offset
    rows = np.arange(20)
    odds = (
        scores[rows, [at[each] for each in explanation.labels]]
        - scores[rows, [at[each] for each in explanation.against]]
    )
    np.testing.assert_allclose(explanation.log_odds, odds, rtol=1e-9, atol=1e-9)
    assert set(explanation.members) == {
        "",
        "naive bayes",
        "averaged dependence",
        "own covariance",
        "shared covariance",
    }
    columns = explanation.by_column()
    assert columns.names == ["(prior)", "a", "b", "size", "kind", "member", "(spread)"]
    np.testing.assert_allclose(columns.log_odds, odds, rtol=1e-9, atol=1e-9)


def test_samples_and_conditionals_are_those_of_naive_bayes(fitted):
    model, X, y = fitted
    naive = NaiveBayes("best").fit(X, y)
    drawn, labels = model.sample(50, random_state=0)
    again, others = naive.sample(50, random_state=0)
    pd.testing.assert_frame_equal(drawn, again)
    np.testing.assert_array_equal(labels, others)
    np.testing.assert_allclose(model.conditional("x").logpdf(X[:5]), naive.conditional("x").logpdf(X[:5]))


def test_the_log_odds_are_not_linear(fitted):
    with pytest.raises(NotLinearError, match=r"An ensemble has no linear form.*GaussianDiscriminant\(\)") as caught:
        fitted[0].linear_form()
    assert "Share the variance" not in str(caught.value)
    X = np.random.default_rng(0).normal(size=(60, 2))
    for model in (GaussianDiscriminant(), NaiveBayes(Gaussian(variance="shared"))):
        assert len(model.fit(X, np.arange(60) % 2).linear_form().theta) == 2


def test_another_prior_moves_the_probabilities(fitted):
    model, X, _ = fitted
    uniform = suffice.GenerativeEnsemble.from_fitted(model.fitted_).set_params(prior="uniform")
    expected = model.predict_proba(X) / model.class_prior_
    np.testing.assert_allclose(
        uniform.predict_proba(X), expected / expected.sum(axis=1, keepdims=True), rtol=1e-9, atol=1e-12
    )


# ---------------------------------------------------------------------- data of any shape


def test_it_beats_its_members_on_dependent_columns():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 3))
    y = ((X[:, 0] * X[:, 1] > 0) ^ (rng.random(2000) < 0.1)).astype(int)
    ensemble = GenerativeEnsemble().fit(X[::2], y[::2])
    naive = NaiveBayes("best", calibrate=True).fit(X[::2], y[::2])
    losses = [log_loss(y[1::2], each.predict_proba(X[1::2])) for each in (ensemble, naive)]
    assert losses[0] < 0.45 < 0.6 < losses[1]


@pytest.mark.parametrize("n", [4, 10, 50])
def test_few_rows_give_modest_probabilities(n):
    rng = np.random.default_rng(n)
    X, y = rng.standard_normal((n, 6)), np.arange(n) % 2
    model = GenerativeEnsemble().fit(X, y)
    probability = model.predict_proba(rng.standard_normal((200, 6)))
    assert np.isfinite(probability).all()
    assert log_loss(rng.integers(0, 2, 200), probability) < 1.5


def test_two_hundred_classes():
    rng = np.random.default_rng(0)
    y = np.arange(600) % 200
    X = rng.standard_normal((200, 4))[y] * 3 + rng.standard_normal((600, 4))
    model = GenerativeEnsemble().fit(X, y)
    assert model.score(X, y) > 0.5
    assert model.predict_proba(X[:5]).shape == (5, 200)


@pytest.mark.parametrize(
    "column",
    [
        lambda rng, n: np.full(n, 3.0),
        lambda rng, n: np.full(n, np.nan),
        lambda rng, n: 1e300 * rng.standard_normal(n),
        lambda rng, n: 1e-300 * rng.standard_normal(n),
        lambda rng, n: np.where(np.arange(n) == 3, 1e12, rng.standard_normal(n)),
    ],
)
def test_odd_columns_do_not_spoil_the_others(column):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = np.column_stack([rng.standard_normal((200, 2)) + 1.5 * y[:, None], column(rng, 200)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", suffice.EmptyColumnWarning)
        model = GenerativeEnsemble().fit(X, y)
    assert model.score(X, y) > 0.85
    assert np.isfinite(model.predict_log_proba(X)).all()


def test_one_column_is_naive_bayes_with_a_weight():
    X, y = load_iris(return_X_y=True)
    model = GenerativeEnsemble().fit(X[:, 3:], y)
    assert len(model.fitted_.blocks) == 1
    assert model.score(X[:, 3:], y) > 0.9
    with pytest.raises(AttributeError, match="averaged dependence"):
        model.cuts_  # noqa: B018


def test_columns_of_documents_take_part():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    text = [" ".join(rng.choice(["cheap", "pills"] if k else ["lunch", "over"], 4)) for k in y]
    frame = pd.DataFrame({"a": rng.standard_normal(200), "b": rng.standard_normal(200), "text": text})
    model = GenerativeEnsemble({"text": "text"}).fit(frame, y)
    assert model.score(frame, y) > 0.95
    assert "text" not in model.cuts_
    ignored = GenerativeEnsemble({"text": None}).fit(frame, y)
    assert ignored.score(frame, y) < 0.7


def test_calibration_and_accuracy_on_breast_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    model = GenerativeEnsemble().fit(X[::2], y[::2])
    assert log_loss(y[1::2], model.predict_proba(X[1::2])) < 0.13


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_bins": 1}, "n_bins"),
        ({"max_parents": 0}, "max_parents"),
        ({"cuts": {"nothing": [1.0]}}, "has no bins here"),
        ({"parents": ["nothing"]}, "has no bins here"),
        ({"families": "bset"}, "bset"),
        ({"impossible": "maybe"}, "impossible"),
    ],
)
def test_settings_are_checked(settings, message):
    with pytest.raises(InputError, match=message):
        GenerativeEnsemble(**settings).fit(*rows(50))


def test_one_class_is_an_error():
    X, _ = rows(20)
    with pytest.raises(suffice.ClassError, match="two classes"):
        GenerativeEnsemble().fit(X, ["x"] * 20)


def test_what_needs_a_density_of_its_own_is_refused(fitted):
    model, X, y = fitted
    with pytest.raises(InputError, match="unlabelled rows"):
        GenerativeEnsemble().fit(X, y, unlabelled=X)
    with pytest.raises(InputError, match="no evidence"):
        model.log_marginal_likelihood()


def test_leave_one_out_keeps_the_families():
    X, y = load_iris(return_X_y=True)
    X, y = X[::8], y[::8]
    found = suffice.model_selection.leave_one_out(GenerativeEnsemble(), X, y)
    assert log_loss(y, found) < 0.5


def test_a_faded_model_shows_its_families(fitted):
    model, X, y = fitted
    faded = clone(model).fit(X, y).decay(0.5)
    assert repr(faded) == repr(model)
    assert float(faded.class_count_.sum()) == len(y) / 2


def test_columns_that_are_mostly_missing_are_quick(tmp_path, monkeypatch):
    """The Gaussians of all folds take few steps of EM each, and a file keeps that."""
    steps = []
    em_step = missing_cells.em_step
    monkeypatch.setattr(missing_cells, "em_step", lambda *args: steps.append(1) or em_step(*args))
    rng = np.random.default_rng(0)
    y = np.arange(240) % 2
    X = rng.normal(size=(240, 4)) @ (rng.normal(size=(4, 4)) + np.eye(4)) + y[:, None]
    X[20:, 3] = np.nan
    X[:20, 0] = 1.0
    X[20::3, 2] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = GenerativeEnsemble("gaussian").fit(X, y)
        probability = model.predict_proba(X)
    assert len(steps) <= 33 * 33  # own covariances of two classes and a shared one: all rows and ten folds
    model.save(tmp_path / "model.suffice")
    np.testing.assert_array_equal(suffice.load(tmp_path / "model.suffice").predict_proba(X), probability)


def test_a_merge_that_fails_names_the_arguments_of_all_choices(fitted):
    first, _, _ = fitted
    X, y = rows(200, 5)
    choices = r"families=first.families_, cuts=first.cuts_, parents=first.parents_"
    with pytest.raises(MergeError, match=choices):
        suffice.merge([first, GenerativeEnsemble(first.families_).fit(X, y)])
    with pytest.raises(MergeError, match=choices):
        suffice.merge([first, GenerativeEnsemble(first.families_, cuts=first.cuts_, parents=["a"]).fit(X, y)])


def test_scores_of_noise_are_those_of_the_class_shares():
    """Held-out scores are those of weights that were fitted to other rows."""
    rng = np.random.default_rng(0)
    scores = suffice.fit(rng.standard_normal((900, 20)), rng.integers(0, 2, 900)).report_.scores
    assert scores.log_loss > scores.baseline_log_loss - 0.005
    assert scores.rule == "10 folds"


def test_noise_in_many_columns_hardly_changes_the_probabilities():
    rng = np.random.default_rng(1)
    model = GenerativeEnsemble().fit(rng.standard_normal((120, 40)), rng.integers(0, 2, 120))
    assert log_loss(rng.integers(0, 2, 500), model.predict_proba(rng.standard_normal((500, 40)))) < 0.75


def test_sparse_rows_are_explained():
    rng = np.random.default_rng(0)
    X = sparse.random(200, 6, 0.3, format="csr", random_state=0)
    y = rng.integers(0, 2, 200)
    model = GenerativeEnsemble().fit(X, y)
    np.testing.assert_allclose(model.explain(X[:5]).parts, model.explain(X[:5].toarray()).parts, rtol=1e-9, atol=1e-9)


def test_the_choices_of_a_model_hold_for_columns_whose_squares_overflow():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 3)), np.arange(300) % 2
    X[:, 1] *= 1e300
    first = GenerativeEnsemble().fit(X, y)
    assert float(first.merge(like(first).fit(X, y)).class_count_.sum()) == 600


def test_small_weights_of_rows_do_not_weaken_the_members():
    X, y = load_iris(return_X_y=True)
    model = GenerativeEnsemble().fit(X, y, sample_weight=np.full(150, 1 / 150))
    assert model.score(X, y) > 0.9
    assert log_loss(y, model.predict_proba(X)) < 0.4


def test_single_precision_raises_no_warnings():
    X, y = load_iris(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = GenerativeEnsemble().fit(X.astype(np.float32), y)
        assert np.isfinite(model.predict_proba(X.astype(np.float32))).all()


def test_the_data_choose_the_families_of_columns_that_a_mapping_does_not_name():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    frame = pd.DataFrame({"a": rng.gamma(2.0, 1.0 + y), "b": rng.normal(3 * (-1.0) ** rng.integers(0, 2, 200), 0.3)})
    frame["c"] = 0.0
    frame.loc[y == 0, "b"] = rng.normal(0, 3.0, 100)
    named = GenerativeEnsemble({"a": "gamma", "c": None}).fit(frame, y)
    chosen = GenerativeEnsemble().fit(frame, y)
    assert type(chosen.families_["b"]).__name__ == "Histogram"
    assert list(named.families_) == ["a", "b", "c"]
    assert named.families_["a"].name == "gamma"
    assert named.families_["b"] == chosen.families_["b"]
    assert named.families_["c"] is None


@pytest.mark.parametrize("estimator", [GenerativeEnsemble(), NaiveBayes(), AveragedDependence()])
def test_columns_without_values_are_warned_about_once(estimator):
    y = np.arange(60) % 2
    frame = pd.DataFrame({"none": [None] * 60, "x": np.arange(60) % 7 + y, "nan": np.nan})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clone(estimator).fit(frame, y)
    messages = [str(each.message) for each in caught if issubclass(each.category, suffice.EmptyColumnWarning)]
    assert len(messages) == 1
    assert "columns 'none', 'nan'" in messages[0]


def test_a_first_batch_of_one_class_is_an_error():
    X = np.random.default_rng(0).normal(size=(40, 2))
    with pytest.raises(suffice.ClassError, match=r"only one class: 'a'.*In a stream, the first batch must hold at"):
        GenerativeEnsemble().partial_fit(X, ["a"] * 40, classes=["a", "b"])


def test_rows_without_evidence_do_not_shift_the_others():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1000)
    words = np.array(["red apple pie today", "green pear tart today"])
    noise = np.array([" ".join(rng.choice(["one", "two", "three", "four"], 3)) for _ in y])
    text = np.where(rng.random(1000) < 0.8, words[y], words[1 - y]).astype(object) + " " + noise
    missing = rng.random(1000) < np.where(y == 1, 0.8, 0.2)
    text[missing] = None
    model = GenerativeEnsemble().fit(text[:, None], y)
    p = model.predict_proba(text[~missing][:, None])[:, 1]
    alone = GenerativeEnsemble().fit(text[~missing][:, None], y[~missing]).predict_proba(text[~missing][:, None])[:, 1]
    assert np.abs(p - alone).max() < 0.05
    empty = np.array([[None]], dtype=object)
    np.testing.assert_allclose(model.predict_proba(empty)[0], np.bincount(y) / len(y), rtol=1e-9)


@pytest.mark.parametrize("weight", [1.0, 60.0])
def test_a_constant_weight_does_not_change_how_rows_are_held_out(weight):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 8300)
    X = rng.standard_normal((8300, 2)) + y[:, None]
    assert GenerativeEnsemble().fit(X, y, np.full(len(y), weight)).calibration_.rule == "10 folds"


def test_columns_of_many_decades_are_in_naive_bayes_and_averaged_dependence_alone():
    wide = np.array([1e-200, 2e-200, 1e-200, 3e-200, 1e200, 2e200])
    for X in (wide[:, None], np.column_stack([wide, np.arange(6.0)]), np.column_stack([wide, wide])):
        model = GenerativeEnsemble().fit(X, [0, 1] * 3)
        assert np.isfinite(model.predict_proba(X)).all()
        assert "covariance" not in str(model.weights_)
    one_row_each = GenerativeEnsemble().fit([[1e200, 1.0], [1.0, 2.0]], [0, 1])
    assert np.isfinite(one_row_each.predict_proba([[1e200, 1.0]])).all()


def test_a_number_beyond_the_range_of_naive_bayes_is_named():
    X = np.array([[1.0, 2, 3, 4, 5, 1.7e308], [1.0, 2, 3, 4, 5, 6]]).T
    with pytest.raises(InputError, match=r"row 5 holds 1.7e\+308, but a histogram column holds numbers up to 1e307"):
        GenerativeEnsemble().fit(X, [0, 1] * 3)
