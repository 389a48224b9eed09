"""The family of numbers cut into bins."""

import numpy as np
import pytest

import suffice
from suffice import NaiveBayes
from suffice.exceptions import InputError, MergeError
from suffice.families import Binned
from suffice.model_selection import leave_one_out

RNG = np.random.default_rng(0)
X = np.round(RNG.gamma(2.0, 20.0, (400, 2)), 1)
Y = np.where(X[:, 0] + 20 * RNG.standard_normal(400) > 40, "old", "young")


def _shares(column, cuts, y, label, alpha=1.0):
    at = np.digitize(column[y == label], cuts, right=True)
    count = np.bincount(at, minlength=len(cuts) + 1) + alpha
    return count / count.sum()


def test_given_cuts_are_laplace_smoothed_shares():
    cuts = (18.0, 30.0, 65.0)
    model = NaiveBayes(Binned(cuts)).fit(X, Y)
    table = model.parameters(0)
    assert list(table["level"]) == ["≤ 18", "18 to 30", "30 to 65", "> 65"]
    for label in ("old", "young"):
        np.testing.assert_allclose(table[f"given {label}"], _shares(X[:, 0], cuts, Y, label))
    on_cut, inside = model.predict_proba([[30.0, 20.0], [18.1, 20.0]])
    np.testing.assert_array_equal(inside, on_cut)  # a value on a cut is in the bin below


@pytest.mark.parametrize("cuts", ["quantile", "width"])
def test_cuts_from_the_data(cuts):
    column = X[:, 0]
    bounds = NaiveBayes(Binned(cuts, n_bins=5)).fit(X, Y).fitted_.estimate.parameters[0].columns[0].cuts
    assert len(bounds) == 4
    if cuts == "width":
        np.testing.assert_allclose(bounds, np.linspace(column.min(), column.max(), 6)[1:-1])
    else:
        assert np.bincount(np.digitize(column, bounds)).tolist() == pytest.approx([80] * 5, abs=8)


@pytest.mark.parametrize("family", [Binned(), Binned("width"), Binned((20.0, 50.0))])
def test_streams_and_merges_equal_a_fit(family, tmp_path):
    whole = NaiveBayes(family).fit(X, Y)
    merged = suffice.merge(NaiveBayes(family).fit(X[i::4], Y[i::4]) for i in range(4))
    stream = NaiveBayes(family)
    for rows in np.array_split(RNG.permutation(400), 30):
        stream.partial_fit(X[rows], Y[rows])
    whole.save(tmp_path / "model.suffice")
    for other in (merged, stream, suffice.load(tmp_path / "model.suffice")):
        np.testing.assert_array_equal(other.predict_proba(X), whole.predict_proba(X))
    left = stream.remove(X[:50], Y[:50])
    if not isinstance(family.cuts, str):
        np.testing.assert_array_equal(left.predict_proba(X), NaiveBayes(family).fit(X[50:], Y[50:]).predict_proba(X))


def test_models_with_different_cuts_do_not_merge():
    one, other = (NaiveBayes(Binned((20.0, cut))).fit(X, Y) for cut in (50.0, 60.0))
    with pytest.raises(MergeError, match="Fit both models with the same cuts"):
        suffice.merge([one, other])


def test_leave_one_out_is_a_refit():
    family = Binned((20.0, 50.0))
    found = leave_one_out(NaiveBayes(family), X, Y, method="predict_proba")
    for i in (0, 7, 200):
        rest = np.arange(400) != i
        expected = NaiveBayes(family).fit(X[rest], Y[rest]).predict_proba(X[[i]])[0]
        np.testing.assert_allclose(found[i], expected, atol=1e-12)


def test_smoothing_is_tuned():
    model = NaiveBayes("binned", smoothing="auto").fit(X, Y)
    assert model.families_[0].smoothing == model.smoothing_
    assert np.isfinite(model.tuning_.log_loss).all()


def test_samples_stay_in_their_bins():
    model = NaiveBayes(Binned((20.0, 50.0))).fit(X, Y)
    rows, labels = model.sample(4000, random_state=0)
    shares = _shares(np.asarray(rows)[:, 0], (20.0, 50.0), np.asarray(labels), "old", 0.0)
    np.testing.assert_allclose(shares, _shares(X[:, 0], (20.0, 50.0), Y, "old"), atol=0.05)


def test_settings_are_checked():
    for settings, text in (
        ({"cuts": "tree"}, "cuts must be 'quantile', 'width' or increasing numbers"),
        ({"cuts": (3.0, 3.0)}, "cuts must be at most 127 increasing finite numbers"),
        ({"cuts": ("a",)}, "cuts must be at most 127"),
        ({"n_bins": 0}, "n_bins must be a whole number from 1"),
    ):
        with pytest.raises(InputError, match=text):
            Binned(**settings)
