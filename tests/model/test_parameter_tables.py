"""Tables of parameters show times as times."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from suffice import AveragedDependence, GenerativeEnsemble, MergeError, NaiveBayes
from suffice.families import Binned
from suffice.tables.times import time_text

N = 120
Y = np.arange(N) % 2
FRAME = pd.DataFrame(
    {"when": pd.Timestamp("2021-03-01") + pd.to_timedelta(np.arange(N) // 2 + 100 * Y, unit="D"), "x": np.arange(N) % 7}
)


@pytest.mark.parametrize("family", ["gaussian", "histogram"])
def test_means(family):
    means = NaiveBayes({"when": family}).fit(FRAME, Y).parameters("when")["mean"]
    assert [mean[:7] for mean in means] == ["2021-03", "2021-07"]
    block = NaiveBayes({("when", "x"): "multivariate_gaussian"}).fit(FRAME, Y).parameters(("when", "x"))
    assert [mean[:7] for mean in block["mean of when"]] == ["2021-03", "2021-07"]
    assert block["mean of x"][0] == pytest.approx(FRAME["x"][Y == 0].mean(), rel=1e-3)


def test_cuts():
    june = pd.Timestamp("2021-06-01").timestamp()
    given = NaiveBayes({"when": Binned((june,))}).fit(FRAME, Y)
    assert given.parameters("when")["level"] == ["≤ 2021-06-01", "> 2021-06-01"]
    averaged = AveragedDependence(cuts={"when": [june]}).fit(FRAME, Y).parameters("when")
    assert averaged["level"] == ["≤ 2021-06-01", "> 2021-06-01", "(missing)"]
    assert averaged["given 1"][1] > 0.9
    numbers = NaiveBayes({"x": Binned((3,))}).fit(FRAME, Y).parameters("x")["level"]
    assert numbers == ["≤ 3", "> 3"]
    assert GenerativeEnsemble().fit(FRAME, Y).cuts_["when"][0] > 1.6e9  # seconds, which a parameter takes


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0, "1970-01-01"), (-1.0, "1969-12-31 23:59:59"), (1e300, "1e+300"), (np.nan, "nan")]
)
def test_time_text(seconds, text):
    assert time_text(seconds) == text


@pytest.mark.parametrize("estimator", [AveragedDependence(), GenerativeEnsemble()])
def test_an_error_about_cuts_shows_times(estimator):
    first, second = clone(estimator).fit(FRAME, Y), clone(estimator).fit(FRAME[:80], Y[:80])
    if isinstance(estimator, GenerativeEnsemble):
        second = clone(estimator).set_params(families=first.families_).fit(FRAME[:80], Y[:80])
    with pytest.raises(MergeError, match=r"Column 'when' is divided at 2021-\d\d-\d\d, "):
        first.merge(second)
