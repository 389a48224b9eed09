"""The file in docs/adding_a_family.md is a family, by being there."""

import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats

import suffice.families
from suffice import InputError, NaiveBayes
from suffice.families import contract, family_named, family_names
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
    for seed in range(20):
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
