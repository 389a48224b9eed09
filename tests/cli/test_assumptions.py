"""`suffice inspect MODEL DATA --assumptions`."""

import json

import numpy as np
import pandas as pd
import pytest

import suffice
from cli.made import ran, refused
from suffice.cli.assumptions import _show
from suffice.cli.output import Page


@pytest.fixture
def rows(folder):
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 300)
    size = rng.normal(y)
    frame = pd.DataFrame({"size": size, "weight kg": size + 0.5 * rng.normal(size=300), "label": y})
    frame["income"] = rng.lognormal(y, 0.8)
    frame.to_csv("rows.csv", index=False)
    ran("fit", "rows.csv", "-t", "label", "--model", "naive-bayes", "-o", "rows.suffice")
    return frame


def test_json_has_the_diagnosis_and_options_of_the_command(rows):
    found = json.loads(ran("inspect", "rows.suffice", "rows.csv", "--assumptions", "--json"))
    expected = suffice.diagnose(suffice.load("rows.suffice"), "rows.csv", "label")
    options = [each.pop("options") for each in found["findings"]]
    assert {name: found[name] for name in expected.to_dict()} == expected.to_dict()
    by_check = dict(zip([each["check"] for each in found["findings"]], options, strict=True))
    assert by_check["shape"] == "It fits better with --family income=log_normal."
    assert by_check["dependence"] == (
        "Model it with --family 'size,weight kg=multivariate_gaussian' or --blocks auto or --calibrate columns."
    )


def test_advised_options_are_options_of_fit(rows):
    fit = ["fit", "rows.csv", "-t", "label", "--model", "naive-bayes", "-o", "better.suffice"]
    ran(*fit, "--family", "income=log_normal", "--family", "size,weight kg=multivariate_gaussian")
    found = json.loads(ran("inspect", "better.suffice", "rows.csv", "--assumptions", "--json"))
    assert not any(each["significant"] for each in found["findings"])


def test_page(rows):
    text = ran("inspect", "rows.suffice", "rows.csv", "--assumptions")
    assert "rows.csv: NaiveBayes, 300 rows: 2 significant findings (level 0.05)." in text
    assert "'size' and 'weight kg' are dependent" in text
    assert "--family income=log_normal" in text
    assert "Dependence within the classes" in text.splitlines()
    assert "nats of log-loss" in text
    assert "(p < 1e-12)" in text
    assert "Double counting costs" in text


def test_lines_of_a_finding_are_indented(rows, monkeypatch, capsys):
    found = suffice.diagnose(suffice.load("rows.suffice"), "rows.csv", "label")
    _show(Page(width=60), found, "rows.csv")
    lines = capsys.readouterr().out.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("  1. "))
    assert lines[first + 1].startswith("     ")
    assert not lines[first + 1].startswith("      ")
    assert max(map(len, lines[: first + 2])) <= 60


def fitted_to(frame):
    frame.to_csv("rows.csv", index=False)
    ran("fit", "rows.csv", "-t", "label", "--model", "naive-bayes", "-o", "rows.suffice")
    found = json.loads(ran("inspect", "rows.suffice", "rows.csv", "--assumptions", "--json"))
    return {each["check"]: each["options"] for each in found["findings"] if each["significant"]}


def test_own_covariances_are_searched(folder):
    rng = np.random.default_rng(4)
    y, a = rng.integers(0, 2, 400), rng.normal(size=400)
    frame = pd.DataFrame({"a": a, "b": np.where(y == 0, 1, -1) * a + rng.normal(size=400), "label": y})
    options = fitted_to(frame)["dependence"]
    assert options.startswith("Model it with --blocks auto")
    assert "Multivariate" not in options
    ran("fit", "rows.csv", "-t", "label", "--model", "naive-bayes", "--blocks", "auto", "-o", "better.suffice")
    found = json.loads(ran("inspect", "better.suffice", "rows.csv", "--assumptions", "--json"))
    assert not any(each["significant"] for each in found["findings"])


def test_names_with_commas_are_not_part_of_options(folder):
    rng = np.random.default_rng(4)
    y, a = rng.integers(0, 2, 400), rng.normal(size=400)
    frame = pd.DataFrame({"visits": a + y, "a,b": a + y + rng.normal(size=400), "label": y})
    assert fitted_to(frame)["dependence"] == "Model it with --blocks auto or --calibrate columns."
    frame["visits"] = rng.choice(list("uv"), 400)
    frame["a,b"] += frame["visits"] == "u"
    options = fitted_to(frame)["dependence"]
    assert "--family" not in options
    assert options == (
        "The columns cannot be named in an option, because of their commas. In Python: Model it with "
        "families={('visits', 'a,b'): 'averaged_dependence'}."
    )
    frame["a,b"] = rng.lognormal(y, 0.8)
    assert fitted_to(frame)["shape"] == "It fits better with --family a,b=log_normal."
    ran("fit", "rows.csv", "-t", "label", "--model", "naive-bayes", "--family", "a,b=log_normal", "-o", "b.suffice")


def test_level_and_target(rows):
    found = json.loads(
        ran("inspect", "rows.suffice", "rows.csv", "--assumptions", "--level", "1e-300", "-t", "label", "--json")
    )
    assert found["level"] == 1e-300
    assert not any(each["significant"] for each in found["findings"])


def test_refusals(rows):
    assert "--assumptions needs labelled rows" in refused("inspect", "rows.suffice", "--assumptions", code=2)
    assert "Add --assumptions, or remove DATA" in refused("inspect", "rows.suffice", "rows.csv", code=2)
    assert "no column 'species'" in refused("inspect", "rows.suffice", "rows.csv", "--assumptions", "-t", "species")
    rows.drop(columns="size").to_csv("other.csv", index=False)
    assert "no column 'size'" in refused("inspect", "rows.suffice", "other.csv", "--assumptions")
