"""What once went wrong, or could: each a case that ordinary data does not meet."""

import datetime
import multiprocessing
import os
import signal
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import NotFittedError

from suffice import (
    ClassError,
    EmptyColumnWarning,
    GaussianDiscriminant,
    InputError,
    MergeError,
    NaiveBayes,
    SingularCovarianceError,
    bayes,
    kernels,
)
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.families import Gaussian
from suffice.naive_bayes import GaussianNB
from suffice.statistics import ClassAxis, Membership, Moments, PooledScatter, Scatter

textbook_discriminant = partial(GaussianDiscriminant, estimation="mle")
textbook_bayes = partial(NaiveBayes, estimation=None)

X, Y = load_iris(return_X_y=True)
ALL = [
    NaiveBayes(),
    GaussianDiscriminant(),
    GaussianDiscriminant("own"),
    GaussianNB(),
    LinearDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(),
]


@pytest.mark.parametrize("estimator", ALL, ids=repr)
def test_a_fit_that_fails_leaves_the_model_as_it_was(estimator):
    model = clone(estimator).fit(X, Y)
    before, fitted = model.predict_proba(X), model.fitted_
    wide = np.column_stack([X, X])
    wide[0, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        model.fit(wide, Y)
    assert model.fitted_ is fitted
    np.testing.assert_array_equal(model.predict_proba(X), before)
    with pytest.raises(ValueError, match="8 features"):
        model.predict(wide)
    never = clone(estimator)
    with pytest.raises(ValueError, match="infinity"):
        never.fit(wide, Y)
    with pytest.raises(NotFittedError):
        never.predict(X)


@pytest.mark.parametrize("estimator", ALL, ids=repr)
def test_fit_forgets_what_was_streamed(estimator):
    model = clone(estimator).partial_fit(X * 3, 2 - Y, classes=[0, 1, 2])
    np.testing.assert_array_equal(model.fit(X, Y).predict_proba(X), clone(estimator).fit(X, Y).predict_proba(X))


def test_kernels_refuse_arrays_that_do_not_fit():
    rows, codes = np.ones((5, 2)), np.zeros(5, dtype=np.int64)
    for bad in (
        {"codes": codes[:3]},
        {"codes": codes, "weights": np.ones(4)},
        {"soft": np.ones((5, 3))},
        {"soft": np.ones((4, 2))},
        {},
        {"codes": codes, "soft": np.ones((5, 2))},
    ):
        with pytest.raises(ValueError, match=r"differ|must have|exactly one of"):
            kernels.class_moments(rows, 2, **bad)
    with pytest.raises(TypeError):
        kernels.class_moments(rows, 2, codes=np.zeros(5))
    with pytest.raises(ValueError, match="must have the shape classes x columns"):
        kernels.diagonal_log_likelihood(rows, *np.ones((4, 2, 3)))
    with pytest.raises(TypeError):
        kernels.accumulate(np.ones((2, 2)), np.zeros((2, 2), dtype=np.float32), np.zeros((2, 2)))


def test_membership_refuses_what_does_not_fit():
    axis = ClassAxis.of(["a", "b"])
    for bad, words in (
        ({"codes": np.array([0, 2])}, "Code 2 is out of range"),
        ({"codes": np.array([0, 1]), "weights": np.ones(3)}, "3 weights for 2 rows"),
        ({"soft": np.ones((2, 3))}, "for 2 classes"),
    ):
        with pytest.raises(InputError, match=words):
            Membership(axis, **bad)


def test_weights_that_vanish_with_their_membership():
    members = Membership(ClassAxis.of([0, 1]), soft=np.array([[1.0, 5e-324], [0.5, 0.5]]), weights=np.full(2, 0.4))
    for kind in (Moments, Scatter, PooledScatter):
        assert np.isfinite(kind.summarize(np.array([[1.0], [2.0]]), members).mean).all()


def test_a_forked_child_can_predict():
    model = NaiveBayes().fit(np.tile(X, (200, 1)), np.tile(Y, 200))
    if "fork" not in multiprocessing.get_all_start_methods():
        return
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(0 if model.predict(np.tile(X, (200, 1))).shape == (30_000,) else 1)
    assert os.waitpid(child, 0)[1] == 0


# ---------------------------------------------------------------------- classes never seen


def test_a_shared_variance_is_shared_by_a_class_that_was_never_seen():
    for model in (
        GaussianDiscriminant(shape="diagonal", prior="uniform"),
        NaiveBayes(Gaussian("shared"), prior="uniform"),
    ):
        whole = clone(model).fit(X, Y)
        declared = clone(model).partial_fit(X, Y, classes=[-1, 0, 1, 2])
        theta, theta0 = declared.linear_form()
        score = X @ theta.T + theta0
        assert np.abs(bayes.posterior(score) - declared.predict_proba(X)).max() < 1e-12
        odds = declared.predict_proba(X)[:, 1:]
        assert np.abs(odds / odds.sum(axis=1, keepdims=True) - whole.predict_proba(X)).max() < 1e-12


@pytest.mark.parametrize(
    "estimator",
    [
        *(GaussianDiscriminant("own", shrinkage=s) for s in (0.1, "oas", "ledoit_wolf")),
        LinearDiscriminantAnalysis(),
        LinearDiscriminantAnalysis(solver="lsqr"),
        LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto"),
        QuadraticDiscriminantAnalysis(),
        QuadraticDiscriminantAnalysis(solver="eigen", shrinkage="auto"),
        GaussianNB(),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_a_class_that_was_declared_and_never_seen(estimator):
    model = clone(estimator).partial_fit(X, Y, classes=[0, 1, 2, 3])
    probability = model.predict_proba(X)
    assert (probability[:, 3] == 0).all()
    assert np.abs(probability[:, :3] - clone(estimator).fit(X, Y).predict_proba(X)).max() < 1e-12
    if "priors" in model.get_params():
        given = clone(estimator).set_params(priors=[0.25] * 4).partial_fit(X, Y, classes=[0, 1, 2, 3])
        assert np.isfinite(given.predict_proba(X)).all()


def test_one_class_in_a_stream():
    for model in (
        NaiveBayes(),
        GaussianDiscriminant(),
        *(LinearDiscriminantAnalysis(solver=s) for s in ("svd", "lsqr")),
    ):
        model.partial_fit(X[Y == 1], Y[Y == 1])
        assert set(model.predict(X)) == {1}
        np.testing.assert_array_equal(model.predict_proba(X), np.ones((150, 1)))
        assert model.partial_fit(X, Y).score(X, Y) > 0.9


# ---------------------------------------------------------------------- one model, many answers


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"store_covariance": True, "priors": [0.1, 0.2, 0.7]},
        {"tol": 0.3},
        {"solver": "lsqr", "shrinkage": 0.3, "priors": [0.1, 0.2, 0.7]},
        {"solver": "eigen", "shrinkage": "auto"},
    ],
    ids=str,
)
def test_the_answers_of_a_drop_in_are_of_one_model(options):
    model = LinearDiscriminantAnalysis(**options).fit(X, Y)
    joint = model.predict_joint_log_proba(X)
    assert np.abs(bayes.posterior(joint.copy()) - model.predict_proba(X)).max() < 1e-9
    np.testing.assert_allclose(bayes.log_evidence(joint), model.score_samples(X), rtol=1e-12)
    theta, theta0 = model.linear_form()
    assert np.abs(bayes.posterior(X @ theta.T + theta0) - model.predict_proba(X)).max() < 1e-9


@pytest.mark.filterwarnings("ignore::suffice.SingularCovarianceWarning")
def test_the_density_of_a_singular_covariance_is_that_of_its_subspace():
    more = np.column_stack([X, X[:, 0] - X[:, 1]])
    model = textbook_discriminant().fit(more, Y)
    for k in range(3):
        scipys = multivariate_normal(model.means_[k], model.covariance_, allow_singular=True)
        np.testing.assert_allclose(model.conditional(k).logpdf(more), scipys.logpdf(more), rtol=1e-9)
    larger = textbook_discriminant().fit(1000 * more, Y)
    np.testing.assert_allclose(
        larger.score_samples(1000 * more), model.score_samples(more) - 4 * np.log(1000), rtol=1e-9
    )


def test_finite_rows_beyond_all_scales():
    far = np.vstack([X[:2], np.full((1, 4), 1e308), np.full((1, 4), -1e308)])
    for estimator in ALL:
        model = clone(estimator).fit(X, Y)
        assert not np.isnan(model.score_samples(far)).any()
        assert not np.isnan(model.predict_joint_log_proba(far)).any()
        for method in ("predict", "predict_proba", "predict_log_proba"):
            try:
                answer = getattr(model, method)(far)
            except InputError as error:
                assert "Row" in str(error)  # noqa: PT017
            else:
                assert method == "predict" or not np.isnan(answer).any()


def test_points_of_one_column():
    model = GaussianDiscriminant().fit(X[:, :1], Y)
    one = model.conditional(0)
    np.testing.assert_allclose(
        one.logpdf([5.0, 6.0, 7.0]), multivariate_normal(one.mean, one.cov).logpdf([5.0, 6.0, 7.0])
    )
    assert one.rvs(5).shape == (5,)
    with pytest.raises(InputError, match="size is a number of rows"):
        one.rvs((2, 3))


# ---------------------------------------------------------------------- labels and axes


def test_labels_that_a_common_type_would_confuse():
    large = ClassAxis.of(np.array([2**53, 2**53 + 1]))
    with pytest.raises(ClassError, match="some different labels would become equal"):
        large.union(ClassAxis.of([0.5]))
    with pytest.raises(ClassError, match="labels of different types"):
        ClassAxis.of([True, False]).union(ClassAxis.of([0, 1]))
    assert ClassAxis.of([0, 1]).union(ClassAxis.of([1.0, 2.0])).labels.tolist() == [0, 1, 2]


def test_an_axis_cannot_lose_a_class():
    whole = Moments.summarize(X, Membership(ClassAxis.of([0, 1, 2]), codes=Y))
    with pytest.raises(MergeError, match="Class 2 is not on the axis"):
        whole.on(ClassAxis.of([0, 1]))
    empty = Moments.zero(ClassAxis.of([7, 9]), 4)
    np.testing.assert_array_equal(whole.subtract(empty).m2, whole.m2)


@pytest.mark.parametrize("kind", [Moments, Scatter, PooledScatter])
def test_what_is_left_of_a_constant_column_is_constant(kind):
    rows = np.column_stack([X[:, 0], np.where(Y == 0, 3.7, X[:, 1] * 1e3)])
    members = Membership(ClassAxis.of(["a"]), codes=np.zeros(150, dtype=np.int64))
    whole = kind.summarize(rows, members)
    left = whole.subtract(kind.summarize(rows[50:], members.rows(50, 150)))
    variance = left.m2[0] if kind is Moments else np.diagonal(left.scatter, axis1=-2, axis2=-1).reshape(-1)
    assert variance[1] == 0
    assert variance[0] == pytest.approx(X[:50, 0].var() * 50, rel=1e-9)


# ---------------------------------------------------------------------- settings


def test_settings_of_the_moment_hold():
    model = GaussianDiscriminant("own").partial_fit(X, Y)
    model.set_params(shrinkage=0.5, prior="uniform")
    expected = GaussianDiscriminant("own", shrinkage=0.5, prior="uniform").fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-13)
    with pytest.raises(MergeError, match="Cannot merge models with different settings"):
        model.set_params(shrinkage="ledoit_wolf").partial_fit(X, Y)
    linear = LinearDiscriminantAnalysis(solver="lsqr").partial_fit(X, Y).set_params(priors=[0.1, 0.2, 0.7])
    with pytest.raises(MergeError, match="Call fit again"):
        linear.predict(X)


def test_mix_is_one_covariance_at_its_end():
    for shape in ("full", "diagonal"):
        model = GaussianDiscriminant("own", mix=1, shape=shape).fit(X, Y)
        assert model.covariance_.shape == (4, 4)
        model.linear_form()


def test_nothing_varies_in_any_shape():
    for shape in ("full", "diagonal", "spherical"):
        with pytest.raises(SingularCovarianceError, match="No column varies within any class"):
            GaussianDiscriminant(shape=shape).fit([[1.0, 2.0], [3.0, 4.0]], ["a", "b"])


def test_gaussian_nb_without_smoothing_refuses_a_flat_class():
    rows = X.copy()
    rows[Y == 1, 2] = 4.0
    with pytest.raises(SingularCovarianceError, match=r"class 1 .* column 2, and var_smoothing=0"):
        GaussianNB(var_smoothing=0).fit(rows, Y)


def test_priors_of_drop_ins():
    slightly = [0.333333, 0.333333, 0.333333]
    for model in (LinearDiscriminantAnalysis(priors=slightly), QuadraticDiscriminantAnalysis(priors=slightly)):
        assert model.fit(X, Y).sample(5, random_state=0)[0].shape == (5, 4)
    with pytest.raises(ValueError, match="non-negative"):
        QuadraticDiscriminantAnalysis(priors=[-0.5, 0.5, 1.0]).fit(X, Y)


def test_merge_refuses_the_others_covariance_estimator():
    from sklearn.covariance import OAS

    other = LinearDiscriminantAnalysis(solver="lsqr", covariance_estimator=OAS()).fit(X, Y)
    with pytest.raises(InputError, match="all rows at once"):
        LinearDiscriminantAnalysis(solver="lsqr").fit(X, Y).merge(other)


def test_types_survive_a_stream():
    rows = X.astype(np.float32)
    model = LinearDiscriminantAnalysis().partial_fit(rows, Y)
    assert model.coef_.dtype == np.float32
    assert LinearDiscriminantAnalysis().merge(model).coef_.dtype == np.float32


def test_directions_of_classes_with_a_prior():
    model = GaussianDiscriminant().partial_fit(X, Y, classes=[0, 1, 2, 9])
    assert model.transform(X).shape == (150, 2)
    wine, kind = load_wine(return_X_y=True)
    round_ = GaussianDiscriminant(shape="spherical").fit(wine, kind)
    metric = round_.directions_.T @ round_.covariance_ @ round_.directions_
    np.testing.assert_allclose(metric, np.eye(2), atol=1e-12)


# ---------------------------------------------------------------------- numbers


def test_a_class_that_hardly_varies_in_a_column_that_does():
    rows = np.array([[0.0, 1.0], [1e-200, 2.0], [1.0, 4.0], [2.0, 3.0]])
    for model in (NaiveBayes(), GaussianNB(), GaussianDiscriminant(shrinkage="oas")):
        assert np.isfinite(clone(model).fit(rows, [0, 0, 1, 1]).predict_proba(rows)).all()


@pytest.mark.parametrize("size", [1e-170, 1e160])
@pytest.mark.parametrize("estimator", [NaiveBayes(), GaussianDiscriminant(), LinearDiscriminantAnalysis()], ids=repr)
def test_a_stream_refuses_what_a_fit_refuses(size, estimator):
    def stream():
        model = clone(estimator)
        for i in range(150):
            model.partial_fit(X[i : i + 1] * size, Y[i : i + 1])

    with pytest.raises(InputError, match="Rescale"):
        stream()


def test_what_a_model_shows_is_no_handle_on_it():
    for model, names in (
        (GaussianNB(), ("theta_", "var_", "class_count_", "class_prior_")),
        (GaussianDiscriminant(), ("means_", "covariance_", "class_count_")),
        (LinearDiscriminantAnalysis(), ("means_",)),
    ):
        model.fit(X, Y)
        for name in names:
            with pytest.raises(ValueError, match="read-only"):
                getattr(model, name)[0] = 0


def test_ill_conditioned_streams_are_fits():
    rng = np.random.default_rng(5)
    q = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    root = q * np.geomspace(1, 1e-4, 5) @ q.T
    y = np.arange(60) % 2
    rows = rng.standard_normal((60, 5)) @ root + (rng.standard_normal((2, 5)) @ root)[y]
    for model in (textbook_discriminant(), textbook_discriminant("own")):
        whole, stream = clone(model).fit(rows, y), clone(model)
        for i in range(60):
            stream.partial_fit(rows[i : i + 1], y[i : i + 1])
        assert np.linalg.cond(whole.covariance_).max() > 1e7
        assert np.abs(whole.predict_proba(rows) - stream.predict_proba(rows)).max() < 1e-11


def test_amounts_of_shrinkage():
    large = GaussianDiscriminant("own", shrinkage="oas").fit(X, Y, sample_weight=np.full(150, 1e13))
    assert large.shrinkage_.max() < 1e-10
    rare = np.r_[Y[:-3], [7, 7, 8]]
    ends = [GaussianDiscriminant("own", mix=m, shrinkage="oas").fit(X, rare).predict_proba(X) for m in (1, 1 - 1e-9)]
    assert np.abs(ends[0] - ends[1]).max() < 1e-6


def test_linear_discriminant_analysis_with_a_small_tolerance():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    rows = rng.standard_normal((60, 200)) + y[:, None] * 0.3
    assert np.abs(LinearDiscriminantAnalysis(tol=1e-8).fit(rows, y).coef_).max() < 10


def test_remedies_that_can_work():
    with pytest.raises(SingularCovarianceError) as caught:
        textbook_discriminant("own", mix=0.1).fit(np.column_stack([X, X[:, 0]]), Y)
    assert "mix=" not in str(caught.value)
    assert "shrinkage=0.1" in str(caught.value)
    marked = X.copy()
    marked[:, 2] = Y
    with pytest.warns(UserWarning, match="column 2"):
        textbook_discriminant("own", shape="diagonal", mix=0.3).fit(marked, Y)
    with pytest.warns(UserWarning, match="column 4"):
        textbook_discriminant(shape="diagonal").fit(np.column_stack([X, np.ones(150)]), Y)


def test_a_drop_in_that_saw_no_rows_says_so():
    for model in (LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()):
        with pytest.raises(InputError, match="seen no rows yet"):
            model.partial_fit(X[:0], Y[:0], classes=[0, 1]).predict(X)


def test_declared_classes_are_labels():
    for bad in ([np.nan, 1.0], [[0, 1], [1, 2]], 3):
        with pytest.raises(ClassError, match="list of labels"):
            NaiveBayes().partial_fit(X, Y, classes=bad)


def test_a_series_is_a_mapping():
    import pandas as pd

    model = GaussianDiscriminant(prior=pd.Series({2: 0.5, 1: 0.3, 0: 0.2})).fit(X, Y)
    assert model.class_prior_.tolist() == [0.2, 0.3, 0.5]


def test_priors_and_classes_of_gaussian_nb_must_agree():
    model = GaussianNB(priors=[0.5, 0.5]).fit(X[:100], Y[:100]).merge(GaussianNB().fit(X[50:], Y[50:]))
    with pytest.raises(ValueError, match="Number of priors"):
        model.predict(X)


def test_what_needs_no_covariance_is_shown_without_one():
    model = GaussianDiscriminant("own").partial_fit(X[:60:10], Y[:60:10])
    assert model.class_prior_.sum() == 1


def test_spherical_columns_never_seen_do_not_count():
    holes = X.copy()
    holes[:, 0] = np.nan
    with pytest.warns(EmptyColumnWarning, match="column 0"):
        found = NaiveBayes(Gaussian(spherical=True)).fit(holes, Y).variances_[:, 1]
    np.testing.assert_allclose(found, NaiveBayes(Gaussian(spherical=True)).fit(X[:, 1:], Y).variances_[:, 0])


@pytest.mark.parametrize("model", [textbook_bayes(), textbook_discriminant(), textbook_discriminant("own")])
def test_squares_near_the_end_of_the_range_are_joined_and_taken_out(model):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)) * 1e152, np.arange(60) % 2
    model = clone(model).fit(X[:40], y[:40]).partial_fit(X[40:], y[40:]).remove(X[:10], y[:10]).decay(0.5)
    again = clone(model).fit(X[10:], y[10:])
    np.testing.assert_allclose(model.predict_proba(X), again.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("estimator", [GaussianDiscriminant(), GaussianNB()])
def test_models_of_matrices_refuse_times(estimator):
    times = (np.datetime64("2020-01-01") + np.arange(40).reshape(20, 2)).astype("M8[ns]")
    y = np.arange(20) % 2
    spans = times - times[0, 0]
    frame = pd.DataFrame(times, columns=["a", "b"])
    for rows, held in (
        (times, "X holds dates"),
        (spans, "X holds durations"),
        (frame, "'a', 'b' hold dates"),
        (frame - times[0, 0], "'a', 'b' hold durations"),
        (pl.DataFrame({"a": times[:, 0]}), "'a' holds dates"),
    ):
        with pytest.raises(InputError, match=rf"takes numbers, but {held}\..* or use NaiveBayes"):
            clone(estimator).fit(rows, y)
    hours = pl.DataFrame({"a": times[:, 0], "b": [datetime.time(i) for i in range(20)]})
    with pytest.raises(InputError, match=r"but 'b' holds times of day\. .* such as hours since midnight\.$"):
        clone(estimator).fit(hours, y)
    numbers = clone(estimator).fit(spans / np.timedelta64(1, "D") + y[:, None], y)
    with pytest.raises(InputError, match="X holds dates"):
        numbers.predict(times)
