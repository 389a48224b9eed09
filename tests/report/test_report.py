"""A report of every model: its summary agrees with the library, and its page is one small file."""

import json
import re
from html.parser import HTMLParser

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

from every_estimator import ESTIMATORS, example
from report_pages import HOSTILE, hostile_table, mixed_table
from suffice import GaussianDiscriminant, InputError, NaiveBayes, TextNaiveBayes
from suffice.exceptions import ClassError
from suffice.model_selection import leave_one_out
from suffice.naive_bayes import BernoulliNB, GaussianNB

VOID = {"meta", "link", "input", "br", "img", "hr"}
SVG_LEAVES = {"path", "rect", "line", "circle"}


class Outline(HTMLParser):
    """Headings, ids, links, and elements that are not closed."""

    def __init__(self, page):
        super().__init__()
        self.open, self.headings, self.ids, self.links, self.tags, self.attributes = [], [], [], [], set(), []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.add(tag)
        self.attributes += list(given)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if "href" in given else []
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        assert tag in SVG_LEAVES

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def outline(page):
    found = Outline(page)
    assert not found.open
    return found


@pytest.fixture(scope="module")
def mixed():
    X, y = mixed_table()
    model = NaiveBayes().fit(X, y)
    return model, X, y


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_every_model(name):
    model, X, y = example(name, np.random.default_rng(0))
    model.fit(X, y)
    alone, scored = model.report(), model.report(X, y)
    assert scored.summary.held_out.rule in ("leave-one-out", "10 folds", "held-out rows")
    for found in (alone, scored):
        page = found.to_html()
        assert len(page.encode()) < 200_000
        outline(page)
        json.dumps(found.to_dict(), allow_nan=False)
        assert [each.label for each in found.summary.classes] == ["0", "1", "2"]
        assert {each.name for each in found.summary.columns} == {str(each) for each in model.fitted_.layout.names}
    assert bool(scored.summary.words) == name.startswith("text")
    assert bool(scored.summary.members) == (name == "ensemble")
    assert (scored.summary.what_if.reason == "") == (name != "text_slots")


def test_page_is_accessible_and_complete(mixed):
    model, X, y = mixed
    page = model.report(X, y).to_html()
    found = outline(page)
    assert found.headings[0] == 1
    assert found.headings.count(1) == 1
    assert all(b <= a + 1 for a, b in zip(found.headings, found.headings[1:], strict=False))
    assert len(found.ids) == len(set(found.ids))
    assert {link for link in found.links if link.startswith("#")} <= {f"#{each}" for each in found.ids}
    assert not re.search(r"https?://", page)
    assert not {"iframe", "img", "object", "base"} & found.tags
    assert not [name for name in found.attributes if name.startswith("on") or name == "style"]
    pictures = re.findall(r'<svg [^>]*role="img".*?</svg>', page, re.DOTALL)
    assert len(pictures) >= len(X.columns) + 3
    assert all("<title>" in each and "<desc>" in each for each in pictures)
    assert "default-src &#39;none&#39;; script-src &#39;sha256-" in page


def test_scores_are_those_of_leave_one_out(mixed):
    model, X, y = mixed
    found = model.report(X, y).summary.held_out
    expected = leave_one_out(NaiveBayes(), X, y)
    assert found.rule == "leave-one-out"
    assert found.log_loss == pytest.approx(metrics.log_loss(y, expected), rel=1e-9)
    predicted = model.classes_[expected.argmax(axis=1)]
    assert found.accuracy == pytest.approx(np.mean(predicted == y))
    assert np.array(found.confusion.rows).tolist() == metrics.confusion_matrix(y, predicted).tolist()
    assert found.baseline_log_loss == pytest.approx(metrics.log_loss(y, np.tile(model.class_prior_, (len(y), 1))))


def test_scores_of_new_rows(mixed):
    model, X, y = mixed
    new, labels = mixed_table(seed=1)
    found = model.report(new, labels).summary.held_out
    assert found.rule == "new rows"
    assert found.log_loss == pytest.approx(metrics.log_loss(labels, model.predict_proba(new)))
    assert model.report(X, y, held_out=False).summary.held_out.log_loss == pytest.approx(
        metrics.log_loss(y, model.predict_proba(X))
    )
    weights = np.arange(len(y)) % 3
    weighted = model.report(X, y, weights).summary.held_out
    assert weighted.log_loss == pytest.approx(metrics.log_loss(y, model.predict_proba(X), sample_weight=weights))


def test_missing_and_unseen_cells(mixed):
    model, X, _ = mixed
    learned = {each.name: each for each in model.report().summary.columns}
    given = {each.name: each for each in model.report(X).summary.columns}
    for name in X:
        assert learned[name].missing == pytest.approx(X[name].isna().mean())
        assert given[name].missing == pytest.approx(X[name].isna().mean())
    other = X.copy()
    other.loc[:59, "region"] = "centre"
    found = {each.name: each for each in model.report(other).summary.columns}["region"]
    assert found.unseen == pytest.approx(60 / len(X))
    assert any("has not seen" in each for each in model.report(other).summary.warnings)


def test_information_and_parameters(mixed):
    model, _, _ = mixed
    found = model.report().summary.columns
    listing = model.mutual_information()
    assert [each.name for each in found] == listing["column"]
    assert [each.bits for each in found] == pytest.approx(listing["bits"])
    age = next(each for each in found if each.name == "age")
    assert [row[0] for row in age.parameters.rows] == ["bronze", "gold", "silver"]
    x, density = np.array(age.curves.values), np.array(age.curves.density)
    assert np.trapezoid(density, x, axis=1) == pytest.approx(1, abs=0.02)
    spread = next(each for each in found if each.name == "region").curves
    assert np.sum(spread.density, axis=1) == pytest.approx(1)


def test_dependence_and_findings(mixed):
    model, X, y = mixed
    found = model.report(X, y).summary
    matrix, names = np.array(found.dependence.correlations.matrix), list(found.dependence.correlations.columns)
    residual = X[["income", "debt"]] - X[["income", "debt"]].groupby(y).transform("mean")
    expected = residual.corr().iloc[0, 1]
    assert matrix[names.index("income"), names.index("debt")] == pytest.approx(expected, abs=1e-3)
    assert found.dependence.slope < 1
    assert any(each.check == "dependence" and each.significant for each in found.findings)
    assert found.findings[0].advice in model.report(X, y).to_html().replace("&#39;", "'")


def test_hostile_names():
    X, y = hostile_table()
    model = NaiveBayes().fit(X, y)
    for page in (model.report(X, y, title="<script>alert('t')</script>").to_html(), model._repr_html_()):
        assert "<script>alert" not in page
        assert "<img" not in page
        assert "<i>no" not in page
        assert "{{ 7 * 7 }}" in page  # a name is not a template
    page = model.report(X, y).to_html()
    found = outline(page)
    assert "img" not in found.tags
    data = re.search(r'<script type="application/json" id="what-if-data">(.*?)</script>', page, re.DOTALL)[1]
    names = {each["column"] for each in json.loads(data)["fields"]}
    assert names == {*HOSTILE, "<b>level</b>"}


def test_columns_with_an_offset():
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    report = NaiveBayes().fit(np.column_stack([1e9 + rng.normal(y, 0.3), rng.normal(y)]), y).report()
    (column,) = [each for each in report.summary.columns if each.name in (0, "0")]
    assert len(set(column.curves.values)) == len(column.curves.values)
    assert "1,000,000,000" in report.to_html()


def test_many_columns():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 2000))
    X[:, 1234] += 3 * y
    report = NaiveBayes().fit(X, y).report()
    assert len(report.summary.columns) == len(report.summary.what_if.fields) == 50
    assert report.summary.columns[0].name == "1234"
    page = report.to_html()
    assert "The 50 most informative of 2,000 columns" in page
    assert "the other 1,950 are missing" in page
    assert len(page.encode()) < 700_000


@pytest.mark.parametrize("families", ["gaussian", "histogram", "categorical"])
def test_size_of_fifty_columns(families):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, 400)
    X = rng.normal(size=(400, 50)) + y[:, None] * rng.random(50)
    page = NaiveBayes(families).fit(np.round(X) if families == "categorical" else X, y).report().to_html()
    assert len(page.encode()) < 700_000


def test_many_classes_and_one():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(200), 5)
    X = rng.normal(size=(1000, 2)) + y[:, None]
    found = NaiveBayes().fit(X, y).report(X, y)
    assert [len(each.curves.classes) for each in found.summary.columns] == [10, 10]
    assert "the 10 most frequent of 200 classes" in found.to_html()
    assert found.summary.held_out.confusion.errors is not None
    one = GaussianNB().fit(X, np.zeros(1000, dtype=int)).report(X, np.zeros(1000, dtype=int))
    assert any("one class" in each for each in one.summary.warnings)
    outline(one.to_html())


def test_settings_and_choices():
    X, y = mixed_table()
    model = NaiveBayes("best", smoothing="auto", calibrate=True, blocks="auto").fit(X, y)
    found = model.report().summary
    values = {row[0]: row for row in found.settings.rows}
    assert values["smoothing"][2] == "chosen on held-out rows"
    assert values["prior"][1:] == ("data", "default")
    assert values["calibrate"][1:] == ("True", "set")
    titles = " ".join(each.title for each in found.choices)
    for word in ("Settings that were tried", "Families that were tried", "Blocks", "Calibration"):
        assert word in titles


def test_words():
    texts = ["cheap pills <b>", "cheap cheap", "lunch at noon", "at noon then"]
    model = TextNaiveBayes().fit(texts, ["spam", "spam", "ham", "ham"])
    found = {each.label: [word.word for word in each.words] for each in model.report().summary.words}
    assert found["spam"][0] == "cheap"
    assert "noon" in found["ham"]


def test_notebooks(mixed):
    model, _, _ = mixed
    assert "suffice-model" not in NaiveBayes()._repr_html_()
    shown = model._repr_mimebundle_()
    assert shown["text/plain"] == repr(model)
    assert "region" in shown["text/html"]
    assert "Strongest words" in TextNaiveBayes().fit(["one two", "three four"], [0, 1])._repr_html_()


def test_bad_input(mixed, tmp_path):
    model, X, y = mixed
    with pytest.raises(InputError, match="X is missing"):
        model.report(y=y)
    with pytest.raises(InputError, match="no rows"):
        model.report(X.iloc[:0], y[:0])
    with pytest.raises(InputError, match="inconsistent numbers of samples"):
        model.report(X, y[:-1])
    with pytest.raises(ClassError, match="No label is a class of the model"):
        model.report(X, np.full(len(X), "tin"))
    with pytest.raises(InputError, match="held_out must be"):
        model.report(X, y, held_out="perhaps")
    with pytest.raises(InputError, match="cannot be saved"):
        model.report().save(tmp_path / "none" / "report.html")
    labels = y.copy()
    labels[:5] = "tin"
    found = model.report(X, labels).summary
    assert found.held_out.rule == "new rows"
    assert any("tin" in each for each in found.warnings)


def test_source(tmp_path):
    X, y = mixed_table()
    path = tmp_path / "rows.csv"
    X.assign(grade=y).to_csv(path, index=False)
    model = NaiveBayes().fit(str(path), "grade")
    X.to_csv(tmp_path / "unlabelled.csv", index=False)
    for rows in (X, str(tmp_path / "unlabelled.csv")):
        alone = model.report(rows).summary
        assert alone.held_out is None or alone.held_out.source == "fit"
        assert dict(alone.provenance.data.rows)["rows"] == "240"
        shares = {column.name: column.missing for column in alone.columns}
        assert shares == pytest.approx({name: X[name].isna().mean() for name in X})
    found = model.report(str(path), "grade").summary
    assert found.held_out.rule == "leave-one-out"
    assert found.title == "NaiveBayes model of grade"
    assert dict(row[:2] for row in found.provenance.learned.rows)["rows read"] == "240"
    assert found.provenance.data.rows[0] == ("source", str(path))
    assert any(each.check == "dependence" for each in found.findings)


def test_model_of_given_parameters():
    model = GaussianDiscriminant.from_parameters({"a": 0.4, "b": 0.6}, [[0, 0], [1, 2]], [[1, 0.2], [0.2, 1]])
    report = model.report()
    assert report.summary.rows is None
    assert not report.summary.warnings
    assert "given parameters" in report.to_html()
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = np.array(["a", "b"])[np.arange(40) % 2]
    assert model.report(X, y).summary.held_out.rule == "new rows"
    with pytest.raises(InputError, match="built from parameters"):
        model.report(X, y, held_out=True)


def test_save_replaces_the_file(mixed, tmp_path):
    model, _, _ = mixed
    path = tmp_path / "report.html"
    path.write_text("old")
    model.report().save(path)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]
    assert "<iframe srcdoc=" in model.report()._repr_html_()


@pytest.mark.parametrize("weight", [None, "w"])
def test_files_of_many_rows_are_recognised_by_all_of_them(tmp_path, weight):
    rng = np.random.default_rng(0)
    paths = {}
    for rule in ("leave-one-out", "new rows"):
        y = np.repeat(["a", "b"], 55_000)
        rows = pd.DataFrame({"x": rng.integers(0, 20_000, len(y)).astype(str), "y": y})
        if weight is not None:
            rows[weight] = rng.permutation(np.tile([1.0, 2.0], 55_000))
        paths[rule] = str(tmp_path / f"{rule}.parquet")
        rows.to_parquet(paths[rule])
    model = NaiveBayes("categorical").fit(paths["leave-one-out"], "y", sample_weight=weight)
    for rule, path in paths.items():
        scores = model.report(path, "y", weight).summary.held_out
        assert (scores.rule, scores.of_rows) == (rule, 110_000)
        assert model.plot(path, "y", kind="roc", sample_weight=weight).rule == rule
    plt.close("all")


def test_advice_names_settings_that_the_model_has():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    copies = np.repeat(rng.normal(y, 2)[:, None], 12, axis=1)
    for model, has in ((NaiveBayes(), True), (GaussianNB(), False)):
        found = model.fit(copies, y).report(copies, y).summary
        advice = [text for text in (*found.warnings, *found.dependence.sentences) if "calibrate=True" in text]
        assert bool(advice) == has
        assert any("counted as separate evidence" in text for text in found.dependence.sentences)


def test_independent_columns_are_not_blamed():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    sentences = NaiveBayes("histogram").fit(X, y).report(X, y).summary.dependence.sentences
    assert "No two of these columns" in sentences[0]
    assert "separate evidence" not in sentences[-1]


def test_rows_of_one_class():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 50)
    X = rng.normal(9 * y[:, None], size=(100, 1))
    warnings = NaiveBayes().fit(X, y).report(X[:20], y[:20]).summary.warnings
    assert not any("class shares alone predict better" in text for text in warnings)


def test_labels_that_are_missing_are_an_error():
    y = np.repeat([0.0, 1.0], 20)
    X = np.random.default_rng(0).normal(y[:, None])
    model = NaiveBayes().fit(X, y)
    y[3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.report(X, y)


def test_units_and_thresholds_of_fields():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100)
    table = pd.DataFrame(
        {
            "day": pd.Timestamp("2024-01-01", tz="Europe/Berlin") + pd.to_timedelta(rng.integers(0, 90, 100), "D"),
            "wait": pd.to_timedelta(rng.exponential(1 + y, 100), "h"),
            "size": rng.normal(y),
        }
    )
    summary = NaiveBayes().fit(table, y).report(table, y).summary
    assert {field.column: field.unit for field in summary.what_if.fields} == {
        "day": "UTC",
        "wait": "seconds",
        "size": "",
    }
    X = rng.normal(8 + 2 * y[:, None], 2, (100, 2))
    fields = BernoulliNB(binarize=8).fit(X, y).report(X, y).summary.what_if.fields
    assert {(each.kind, each.low, each.high, each.start) for each in fields} == {("above", 8.0, 16.0, 1)}


def test_a_constant_column_has_no_information():
    X = np.column_stack([np.full(40, 3.0), np.arange(40.0)])
    found = NaiveBayes().fit(X, np.repeat([0, 1], 20)).report().summary.columns
    assert [(column.name, column.bits > 0) for column in found] == [("1", True), ("0", False)]
