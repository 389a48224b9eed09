"""The file in docs/adding_a_family.md is a complete family, and the page lists the whole contract."""

import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats

import suffice.families
from suffice import InputError, NaiveBayes, NotLinearError
from suffice.families import Family, contract, family_named, family_names
from suffice.statistics import ClassAxis, Membership, Sums
from suffice.testing import FORMS, LAWS, check_family, example_rows

PAGE = Path(__file__).parents[2] / "docs" / "adding_a_family.md"


@pytest.fixture
def rayleigh(tmp_path):
    """The package with one file more."""
    (file,) = re.findall(r"```python\n(\"\"\".*?)```", PAGE.read_text(), flags=re.DOTALL)
    (tmp_path / "rayleigh.py").write_text(file)
    suffice.families.__path__.append(str(tmp_path))
    yield
    suffice.families.__path__.remove(str(tmp_path))
    contract._REGISTERED.pop("rayleigh", None)
    sys.modules.pop("suffice.families.rayleigh", None)


def test_one_file_is_enough(rayleigh):
    assert "rayleigh" in family_names()
    check_family(family_named("rayleigh"))
    for seed in range(4):
        for form in FORMS.values():
            for law in LAWS:
                rng = np.random.default_rng(seed)
                n, d, k = rng.integers([1, 1, 1], [100, 5, 5])
                law(family_named("rayleigh"), example_rows(family_named("rayleigh"), rng, n, d, k, form), rng)


def test_it_has_all_verbs(rayleigh):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    wind = rng.rayleigh(1.0 + 2 * y)
    wind[::9] = np.nan
    frame = pd.DataFrame({"wind": wind, "gale": wind > 3})
    model = NaiveBayes({"wind": "rayleigh"}).fit(frame, y)
    sigma = model.parameters("wind")["sigma"]
    for k in range(2):
        here = wind[(y == k) & ~np.isnan(wind)]
        assert np.isclose(sigma[k], np.sqrt((here**2).mean() / 2))
        one = NaiveBayes("rayleigh").fit(frame[["wind"]], y).conditional(k).logpdf(frame[["wind"]])
        known = ~np.isnan(wind)
        np.testing.assert_allclose(one[known], stats.rayleigh(scale=sigma[k]).logpdf(wind[known]))
    parts = NaiveBayes({"wind": "rayleigh"}).fit(frame[::2], y[::2])
    parts.merge(NaiveBayes({"wind": "rayleigh"}).fit(frame[1::2], y[1::2]))
    np.testing.assert_allclose(parts.predict_proba(frame), model.predict_proba(frame), rtol=1e-12)
    assert np.abs(model.explain(frame).log_odds - np.diff(model.predict_log_proba(frame))[:, 0]).max() < 1e-12
    drawn, _ = model.sample(10, random_state=0)
    assert list(drawn.columns) == ["wind", "gale"]
    full = np.where(np.isnan(wind), 1.0, wind)[:, None]
    np.testing.assert_allclose(
        NaiveBayes("rayleigh").fit(sparse.csr_array(full), y).predict_proba(sparse.csr_array(full)),
        NaiveBayes("rayleigh").fit(full, y).predict_proba(full),
    )
    with pytest.raises(InputError, match="Column 'wind', row 2 holds -1"):
        model.predict(pd.DataFrame({"wind": [1.0, 2.0, -1.0], "gale": [True, True, True]}))


def test_it_is_gone_again():
    with pytest.raises(InputError, match="no family 'rayleigh'"):
        family_named("rayleigh")


def test_page_names_every_member_of_the_contract():
    page = PAGE.read_text()
    members = {name for name in vars(Family) if not name.startswith("_")} | set(Family.__annotations__)
    assert len(members) > 30
    assert {name for name in members if f"`{name}`" not in page and f"`{name}(" not in page} == set()


def test_family_must_inherit_the_base_class():
    class LooksLikeAFamily:
        name = "looks_like_a_family"

        def summarize(self, x, members, columns): ...

        def estimate(self, statistic, columns): ...

    with pytest.raises(InputError, match=r"is not a family\..* inherits suffice\.families\.Family"):
        NaiveBayes(LooksLikeAFamily()).fit([[1.0], [2.0]], ["a", "b"])
    with pytest.raises(TypeError, match="abstract"):
        type("Half", (Family,), {"name": "half"})()


class Minimal(Family):
    """A family with the required methods alone: normal columns of known variance."""

    name = "minimal"
    accepts_missing = False
    scale_free = False

    def zero(self, classes, n_columns):
        return Sums.zero(classes, n_columns)

    def summarize(self, x, members, columns=None):
        return Sums.summarize(x, members)

    def estimate(self, statistic, columns=None):
        weight = np.where(statistic.weight > 0, statistic.weight, 1.0)
        return statistic.total / weight[:, None]

    def log_likelihood(self, parameters, x):
        return stats.norm.logpdf(x[:, None, :] - parameters).sum(axis=2)

    def sample(self, parameters, codes, rng):
        return parameters[codes] + rng.standard_normal((len(codes), parameters.shape[1]))

    def example(self, rng, codes, n_columns):
        return codes[:, None] + rng.standard_normal((len(codes), n_columns))


def test_every_capability_has_a_default():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 40)
    X = y[:, None] + rng.standard_normal((40, 2))
    family = Minimal()
    model = NaiveBayes(family).fit(X, y)
    parameters, names = family.estimate(family.summarize(X, Membership(ClassAxis.of([0, 1]), codes=y))), ["a", "b"]
    assert model.explain(X).names == ["(prior)", (0, 1)]
    assert family.expected_kind(parameters, 0) == "number"
    assert family.write_posterior(parameters, X, None) is None
    assert family.statistic_columns(2).tolist() == [[0, 1]]
    assert family.log_prior(parameters, None) == 0.0
    np.testing.assert_array_equal(family.relative_log_likelihood(parameters, X), family.log_likelihood(parameters, X))
    with pytest.raises(NotLinearError, match="The log-odds of the family minimal are not linear in x"):
        model.linear_form()
    with pytest.raises(InputError, match="The family minimal has no evidence in closed form"):
        model.log_marginal_likelihood()
    with pytest.raises(InputError, match="The family minimal has no table of its parameters"):
        model.parameters(0)
    with pytest.raises(InputError, match="The family minimal has no discriminant directions"):
        family.directions(parameters, np.ones(2) / 2)
    for query in (lambda: family.aggregates(names), lambda: family.from_aggregates([], names)):
        with pytest.raises(InputError, match="The family minimal cannot be fitted from aggregates"):
            query()
    folds = np.arange(40) % 4
    members = Membership(ClassAxis.of([0, 1]), codes=y)
    parts = family.summarize_folds(X, members, folds, 4, names)
    for f, part in enumerate(parts):
        here = family.summarize(X[folds == f], members.take(folds == f))
        np.testing.assert_allclose(part.total, here.total)
    removed = model.remove(X[:10], y[:10])
    np.testing.assert_allclose(removed.class_count_, np.bincount(y[10:]))
