"""Cuts mean the same in all families, and samples keep to numbers that were seen."""

from dataclasses import replace

import numpy as np
import pytest

from suffice import AveragedDependence, NaiveBayes
from suffice.exceptions import InputError
from suffice.families import Binned, Histogram

Y = np.repeat(["a", "b"], 100)
RNG = np.random.default_rng(0)


def test_a_number_equal_to_a_cut_is_in_the_lower_bin_of_every_family():
    x = np.repeat([[5.0], [6.0]], 100, axis=0)
    for model in (
        AveragedDependence(cuts={0: [5.0]}),
        NaiveBayes(Binned((5.0,))),
        NaiveBayes(Histogram(edges=(5.0,), width=0.0)),
    ):
        model.fit(x, Y)
        assert model.predict([[5.0], [np.nextafter(5.0, 6.0)]]).tolist() == ["a", "b"], model
    tables = [AveragedDependence(cuts={0: [5.0]}), NaiveBayes(Binned((5.0,)))]
    named = [list(model.fit(x, Y).parameters(0)["level"])[:2] for model in tables]
    assert named == [["≤ 5", "> 5"]] * 2


@pytest.mark.parametrize("cuts", [(2.0, 1.0), (np.nan,), (np.inf,), "12", 3, (1.0, 1.0), ("x",), [[1.0, 2.0]]])
def test_invalid_cuts_are_refused_everywhere(cuts):
    x = RNG.normal(size=(200, 1))
    for make in (lambda: AveragedDependence(cuts={0: cuts}), lambda: NaiveBayes(Binned(cuts))):
        with pytest.raises(InputError, match=r"increasing numbers|increasing finite numbers"):
            make().fit(x, Y)


def test_bins_are_limited():
    with pytest.raises(InputError, match="from 1 to 1,024"):
        Binned(n_bins=10**6)
    with pytest.raises(InputError, match="from 2 to 1,024"):
        Histogram(bins=5000)


def discrete_rows():
    small = RNG.integers(0, 3, 200)
    many = RNG.integers(0, 40, 200)
    tail = np.exp(2 * RNG.normal(size=200))
    return np.column_stack([np.full(200, 7.25), small, many, tail]).astype(float)


@pytest.mark.parametrize(
    "make",
    [AveragedDependence, lambda: NaiveBayes(Binned()), lambda: NaiveBayes(Binned(n_bins=2))],
)
def test_samples_keep_to_numbers_that_were_seen(make):
    x = discrete_rows()
    drawn = np.asarray(make().fit(x, Y).sample(2000, random_state=0)[0], dtype=float)
    assert (drawn[:, 0] == 7.25).all()
    assert set(np.unique(drawn[:, 1])) == {0.0, 1.0, 2.0}
    assert (drawn[:, 2] == np.rint(drawn[:, 2])).all()
    assert (drawn.min(axis=0) >= x.min(axis=0)).all()
    assert (drawn.max(axis=0) <= x.max(axis=0)).all()


def test_samples_of_merged_and_updated_models_know_the_numbers_of_all_rows():
    x = discrete_rows()
    first = AveragedDependence().fit(x[::2], Y[::2])
    second = AveragedDependence(cuts=first.cuts_, parents=first.parents_).fit(x[1::2] * 3, Y[1::2])
    for model in (first.merge(second), first.partial_fit(x[1::2] * 3, Y[1::2])):
        drawn = np.asarray(model.sample(2000, random_state=0)[0], dtype=float)
        assert drawn[:, 3].max() > x[::2, 3].max()
        assert drawn[:, 3].max() <= 3 * x[:, 3].max()


def test_samples_without_parents_have_independent_columns():
    x = np.column_stack([np.repeat([0.0, 1.0], 100), np.tile([2.0, 3.0], 100)])
    model = AveragedDependence(parents=[0]).fit(x, Y)
    estimate = model.fitted_.estimate
    parameters = replace(estimate.parameters[0], counts=estimate.parameters[0].counts.columns([1]))
    assert parameters.counts.parents == ()
    drawn = estimate.blocks[0].family.sample(parameters, np.repeat([0, 1], 200), np.random.default_rng(0))
    assert set(np.unique(drawn.columns[0].stored)) == {2.0, 3.0}
