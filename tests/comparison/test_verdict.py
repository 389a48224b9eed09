"""Sentences and plots from made-up scores."""

import json
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from click.testing import CliRunner
from matplotlib.figure import Figure

from suffice import InputError
from suffice.cli.group import suffice
from suffice.comparison import Comparison, LearningCurves
from suffice.comparison.scores import Score
from suffice.plotting import figures

SIZES = [10, 20, 40, 80]


def draws(means, error):
    """Four draws at each size, with the given means and standard error."""
    step = error * np.sqrt(3)
    return np.array([[m - step, m + step, m - step, m + step] for m in means])


def score(model, loss, behind=0.0, error=0.0):
    return Score(model, 0.9, loss, 0.1, 0.02, 0.01, 0.02, behind, error, 0.001, 0.85, 0.95)


def comparison(losses, results, **options):
    curves = LearningCurves(SIZES, losses, {name: 1 - values / 10 for name, values in losses.items()})
    names = [name for name in losses if "logistic" not in name]
    return Comparison(1000, 3, 5, {"a": 600, "b": 400}, results, curves, names, [], **options)


@pytest.fixture
def made():
    flat = np.zeros((4, 4))
    return comparison(
        {
            "GDA (shared covariance)": draws([0.2, 0.2, 0.15, 0.16], 0.01),
            "logistic regression": flat + np.array([[0.5], [0.3], [0.151], [0.1]]),
            "logistic regression (no penalty)": flat + 0.9,
        },
        [
            score("logistic regression", 0.1),
            score("GDA (shared covariance)", 0.101, 0.001, 0.002),
            score("x", 0.2, 0.1, 0.01),
        ],
    )


def test_neighbouring_sizes_with_the_same_outcome_are_joined(made):
    assert made.verdict == [
        "In 5 folds of 1,000 rows, logistic regression has the lowest log-loss, 0.100; GDA (shared covariance) is "
        "level with it.",
        "GDA (shared covariance) against logistic regression, by log-loss: ahead from 10 to 20 rows (0.200 against "
        "0.500 with 10, ± 0.010); level with 40 rows (0.150 against 0.151, ± 0.010); behind with 80 rows (0.160 "
        "against 0.100, ± 0.010).",
        "GDA (shared covariance) against logistic regression (no penalty), by log-loss: ahead from 10 rows on (0.150 "
        "against 0.900 with 40, ± 0.010).",
    ]


def test_a_clear_winner_is_compared_with_the_next_model():
    losses = {"A": draws([0.2] * 4, 0.01), "logistic regression": draws([0.2] * 4, 0.02)}
    losses["A"][0, 1] = np.nan
    found = comparison(losses, [score("A", 0.1), score("logistic regression", 0.2, 0.1, 0.02)]).verdict
    assert found[0].endswith("A has the lowest log-loss, 0.100; next is logistic regression, 0.100 ± 0.020 behind.")
    assert found[1].endswith(
        "level from 20 rows on (0.200 against 0.200 with 80, ± 0.010); not fitted in some draws of 10 rows."
    )


def test_a_comparison_is_shown_and_listed(made):
    text = repr(made)
    assert text.splitlines()[0].split()[:3] == ["model", "accuracy", "balanced_accuracy"]
    assert "class shares alone: accuracy 0.6, log-loss 0.673" in text
    assert made.verdict[1] in text
    frame = made.to_frame()
    assert frame["model"].tolist() == ["logistic regression", "GDA (shared covariance)", "x"]
    found = json.loads(json.dumps(made.to_dict(), allow_nan=False))
    assert found["classes"] == {"a": 600, "b": 400}
    assert found["curves"][0] == pytest.approx(
        {
            "model": "GDA (shared covariance)",
            "rows": 10,
            "accuracy": 0.98,
            "accuracy_error": 0.001,
            "log_loss": 0.2,
            "log_loss_error": 0.01,
        }
    )
    assert [each["generative"] for each in found["scores"]] == [False, True, False]


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_plots_are_reproducible_files(made, tmp_path, kind):
    first, second = tmp_path / f"a.{kind}", tmp_path / f"b.{kind}"
    made.plot(first, title="Rows")
    made.plot(str(second), title="Rows")
    assert first.read_bytes() == second.read_bytes()
    assert len(first.read_bytes()) > 1000
    if kind == "svg":
        words = {each.text for each in ElementTree.parse(first).iter("{http://www.w3.org/2000/svg}text")}
        assert {"Rows", "GDA (shared covariance)", "logistic regression", "training rows", "80"} <= words


def test_a_plot_has_a_line_for_each_model(made):
    figure = made.plot()
    for axes, score in zip(figure.axes, ("log_loss", "accuracy"), strict=True):
        lines = {container.get_label(): container.lines[0] for container in axes.containers}
        assert list(lines) == list(made.curves.log_loss)
        for name, line in lines.items():
            np.testing.assert_allclose(line.get_xdata(), SIZES)
            np.testing.assert_allclose(line.get_ydata(), made.curves.points(name, score)[0])


def test_a_plot_on_given_axes(made):
    figure = Figure()
    assert made.plot(figure.subplots(2, 1)) is figure
    with pytest.raises(InputError, match="two axes; got 1"):
        made.plot(Figure().subplots())


def test_invalid_plots(made, tmp_path):
    with pytest.raises(InputError, match=r"must end in \.svg, \.png or \.pdf; got .*curves\.txt"):
        made.plot(tmp_path / "curves.txt")
    with pytest.raises(InputError, match="cannot be written") as caught:
        made.plot(tmp_path / "nowhere" / "curves.svg")
    assert caught.value.file == str(tmp_path / "nowhere" / "curves.svg")
    empty = Comparison(10, 1, 2, {}, made.results, None, [], [])
    assert len(empty.verdict) == 1
    assert empty.to_dict()["curves"] is None
    with pytest.raises(InputError, match="no learning curves to plot"):
        empty.plot()


def test_invisible_differences_count_as_level():
    """Models that differ only by rounding are level, however significant the difference is."""
    flat = np.full((4, 4), 0.3)
    found = comparison(
        {"naive Bayes": flat + 1e-6, "logistic regression": flat},
        [score("logistic regression", 0.3), score("naive Bayes", 0.3, 1e-6, 1e-9)],
    )
    assert found.verdict[0].endswith("naive Bayes is level with it.")
    assert "level from 10 rows on" in found.verdict[1]


def test_missing_matplotlib_is_reported_before_the_comparison(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(figures, "find_spec", lambda name: None)
    result = CliRunner().invoke(suffice, ["compare", "none.csv", "--target", "y", "--plot", "curves.svg"])
    assert result.exit_code == 1
    assert "A plot needs Matplotlib: pip install 'suffice[plots]'." in result.stderr
