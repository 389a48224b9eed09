"""`suffice.fit`: files to a model and its report."""

import pickle
from copy import copy

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from sklearn.base import clone

import suffice
from suffice import GaussianDiscriminant, InputError, NaiveBayes, TextNaiveBayes
from suffice.api import FitReport, fit
from suffice.naive_bayes import GaussianNB
from suffice.sources.files import open_source


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    table = pa.table(
        {"id": np.arange(500), "x": rng.normal(y), "z": rng.normal(-y), "w": rng.random(500), "label": y.astype(str)}
    )
    pa.csv.write_csv(table, tmp_path / "data.csv")
    return tmp_path / "data.csv"


def test_the_report(path):
    seen = []
    model = suffice.fit(
        path, "label", model="naive-bayes", ignore=["id", "w"], progress=lambda source: seen.append(source.n_rows)
    )
    report = model.report_
    assert isinstance(model, NaiveBayes)
    assert isinstance(report, FitReport)
    assert (report.source, report.files) == (str(path), [str(path)])
    assert (report.n_rows, report.skipped, report.faults) == (500, 0, [])
    assert report.types["x"] == "number"
    assert report.seconds > 0
    assert seen == [500]
    assert model.feature_names_in_.tolist() == ["x", "z"]


def test_models_by_name_class_and_object(path):
    how = {"columns": ["x", "z"], "validate": False}
    assert isinstance(fit(path, "label", model="naive-bayes", **how), NaiveBayes)
    assert isinstance(fit(path, "label", model="discriminant", **how), GaussianDiscriminant)
    assert isinstance(fit(path, "label", model=GaussianNB, **how), GaussianNB)
    mine = GaussianDiscriminant("own")
    found = fit(path, "label", model=mine, **how)
    assert found.covariance == "own"
    assert not hasattr(mine, "classes_")
    texts = pa.table({"body": ["a pill", "lunch", "pill", "at lunch"], "y": list("sshh")})
    assert isinstance(fit(texts, "y", model="text"), TextNaiveBayes)
    for wrong in ("forest", 3, dict):
        with pytest.raises(InputError, match=r"There is no model|must be an estimator"):
            fit(path, "label", model=wrong)


def test_weights_and_columns(path):
    found = fit(path, "label", model="naive-bayes", weights="w", columns=["x"])
    table = pa.csv.read_csv(path)
    whole = NaiveBayes().fit(table.select(["x"]), table["label"].cast("string").to_numpy(), table["w"].to_numpy())
    np.testing.assert_allclose(found.means_, whole.means_, rtol=1e-12)
    with pytest.raises(InputError, match="'label' cannot be ignored"):
        fit(path, "label", ignore=["label"])
    with pytest.raises(InputError, match="The source is open already; give 'columns', 'bad_rows' when you open it"):
        fit(open_source(path), "label", columns=["x"], bad_rows="skip")
    with pytest.raises(InputError, match="validate is True, False"):
        fit(path, "label", validate=-1)


def test_numbers_that_are_whole_in_some_files(tmp_path):
    (tmp_path / "a.csv").write_text("x,label\n1,a\n2,b\n3,a\n")
    (tmp_path / "b.csv").write_text("x,label\n1.5,a\n5.25,b\n2,b\n")
    found = fit(tmp_path, "label", model=NaiveBayes(calibrate=True))
    whole = NaiveBayes(calibrate=True).fit([[1], [2], [3], [1.5], [5.25], [2]], list("abaabb"))
    np.testing.assert_allclose(found.means_, whole.means_, rtol=1e-12)
    assert found.calibration_.slope == pytest.approx(whole.calibration_.slope, rel=1e-6)
    some = fit(tmp_path, "label", model=NaiveBayes(calibrate=True), validate=4)
    assert (some.report_.scores.n_rows, some.report_.scores.of_rows) == (4, 6)


def test_going_on_in_a_copy(path):
    table = pa.csv.read_csv(path).drop_columns(["id", "w"])
    old = fit(table.slice(0, 200), "label", model="naive-bayes")
    new = fit(table.slice(200), "label", model=old)
    assert (old.report_.n_rows, new.report_.n_rows) == (200, 300)
    assert old.class_count_.sum() == 200
    whole = fit(table, "label", model="naive-bayes")
    np.testing.assert_allclose(new.means_, whole.means_, rtol=1e-12)


def test_a_report_is_of_its_fit(path, tmp_path):
    model = fit(path, "label", model="naive-bayes", ignore=["id", "w"])
    assert copy(model).report_ is model.report_
    assert pickle.loads(pickle.dumps(model)).report_ == model.report_
    assert not hasattr(clone(model), "report_")
    model.save(tmp_path / "model.suffice")
    again = suffice.load(tmp_path / "model.suffice")
    assert not hasattr(again, "report_")
    again.partial_fit(open_source(path, ignore=["id", "w"]), "label")
    assert again.class_count_.sum() == 1000
    model.fit([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1])
    assert not hasattr(model, "report_")


def test_bad_rows_are_counted(path):
    text = path.read_text().splitlines()
    text[3] = "3,,,,"
    text[9] = "9,infinite,1,1,0"
    path.write_text("\n".join(text) + "\n")
    with pytest.raises(InputError, match=r"data\.csv, line \d"):
        fit(path, "label", types={"x": "number"})
    found = fit(path, "label", model="naive-bayes", types={"x": "number"}, bad_rows="skip", ignore=["id"])
    assert (found.report_.n_rows, found.report_.skipped) == (498, 2)
    assert any("line 4" in each for each in found.report_.faults)
    assert any("line 10" in each for each in found.report_.faults)
