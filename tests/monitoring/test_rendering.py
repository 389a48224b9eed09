"""The page of a drift: complete, one file, accessible, and safe with any names; and its sentences."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import suffice
from report_pages import HOSTILE, hostile_table, mixed_table
from suffice import NaiveBayes
from suffice.monitoring.candidates import NO_PROFILE
from suffice.monitoring.rendering import MOST_ROWS, render
from suffice.monitoring.result import ClassShares, Drift, Finding
from suffice.monitoring.wording import OF_ROWS, advice, figure_text, headline, withheld_reasons

VOID = {"meta", "link", "br"}


class Outline(HTMLParser):
    """Headings, ids, tags and names of attributes; every element is closed."""

    def __init__(self, page):
        super().__init__()
        self.open, self.headings, self.ids, self.tags, self.attributes, self.texts = [], [], [], set(), [], []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += [name for name, _ in attrs]
        self.ids += [value for name, value in attrs if name == "id"]
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def changed(X):
    X = X.copy()
    X["age"] += 20
    X.loc[::3, "region"] = "elsewhere"
    return X


@pytest.fixture(scope="module")
def drift():
    X, y = mixed_table(400)
    monitor = suffice.fit(X, y, model="naive-bayes").monitor()
    X, y = mixed_table(300, seed=1)
    return monitor.check(monitor.window(changed(X), y))


def test_the_page_is_complete_and_accessible(drift):
    page = drift.to_html()
    found = Outline(page)
    assert found.headings[0] == 1
    assert found.headings.count(1) == 1
    assert all(b <= a + 1 for a, b in zip(found.headings, found.headings[1:], strict=False))
    assert len(found.ids) == len(set(found.ids))
    assert set(re.findall(r'href="#([^"]*)"', page)) <= set(found.ids)
    assert set(re.findall(r'aria-labelledby="([^"]*)"', page)) <= set(found.ids)
    assert not re.search(r"https?://", page)
    assert not {"script", "iframe", "img", "object", "base", "form"} & found.tags
    assert not [name for name in found.attributes if name.startswith("on") or name == "style"]
    assert "default-src &#39;none&#39;; style-src &#39;sha256-" in page
    assert len(page.encode()) < 60_000
    pictures = re.findall(r'<svg [^>]*role="img".*?</svg>', page, re.DOTALL)
    assert len(pictures) == 2
    assert all("<title>" in each and "<desc>" in each for each in pictures)
    assert {"result", "findings", "classes", "density", "labels", "tests"} <= set(found.ids)


def test_the_page_says_what_the_drift_holds(drift):
    texts = "".join(Outline(drift.to_html()).texts)
    assert headline(drift) in texts
    assert all(each in texts for each in advice(drift))
    assert all(each.sentence in texts for each in drift.significant)
    assert {each.column for each in drift.significant} >= {"age", "region"}
    for each in drift.findings:
        assert str(each.column or "(rows)") in texts
    rows = re.findall(r"<tr>", drift.to_html().split('id="tests"')[1])
    assert len(rows) == 1 + sum(not each.withheld for each in drift.findings)


def test_title_and_source():
    page = render(Drift((), 0.05, 3, 0), title="<A>", source="a&b.csv")
    assert "<title>&lt;A&gt;</title>" in page
    assert "0 rows of <bdi>a&amp;b.csv</bdi>" in page
    assert "No rows, so nothing was compared." in page
    assert "No test was made." in page
    Outline(page)


def test_hostile_names_and_values():
    X, y = hostile_table(120)
    monitor = NaiveBayes().fit(X, y).monitor(X, y)
    other = X.sample(frac=1, random_state=0).iloc[:60].copy()
    for name in X.columns:
        if X[name].dtype == object:
            other[name] = HOSTILE[1]
    drift = monitor.check(monitor.window(other, np.resize(np.array(HOSTILE[:2], dtype=object), len(other))))
    assert drift.alarm
    page = drift.to_html()
    found = Outline(page)
    assert not {"script", "img", "iframe"} & found.tags
    assert not [name for name in found.attributes if name.startswith("on")]
    json.loads(drift.to_json())


def test_large_results_are_limited():
    found = tuple(
        Finding(f"column {i}", "missing", 9.0, 1e-9, 0.01, True, f"Column {i} changed.", 0.1, 0.3, 0.2)
        for i in range(MOST_ROWS + 100)
    )
    page = render(Drift(found, 0.05, 0, 1000))
    assert "100 more are not shown." in page
    assert len(page) < 300_000


def test_sentences():
    missing = Finding("age", "missing", 9.0, 1e-9, 0.01, True, "Missing cells rose.", 0.1, 0.3, measure="share missing")
    mean = Finding("size", "numbers", 9.0, 0.2, 0.01, False, "No.", 1234.0, 2.0, measure="mean")
    shares = Finding(None, "class shares", 9.0, 1e-9, 0.01, True, "Yes.", 0.5, 0.3, measure="mean p('a')")
    accuracy = Finding(None, "accuracy", 9.0, 1e-9, 0.01, True, "Yes.", 0.9, 0.3, measure="accuracy")
    time = Finding("day", "numbers", 9.0, 0.2, 0.01, False, "No.", 86400.0, 2.0, measure="mean time")
    gap = Finding(None, "calibration", 0, 0.2, 0.01, False, "No.", -0.0004, 0.0, measure="accuracy minus confidence")
    unknown = Finding("text", "unknown words", 0, 0.2, 0.01, False, "No.", 0.1, 0.2)
    unknown = replace(unknown, measure="mean of the share of unknown words")
    withheld = Finding("city", "levels", np.nan, np.nan, 0.01, False, "City was not tested.")

    def drift(*findings):
        return Drift(findings, 0.05, 0, 2000)

    assert headline(drift(mean)) == "No drift in 2,000 rows."
    assert headline(drift(missing, mean)) == "Drift in 1 of 2 columns ('age'), in 2,000 rows."
    assert headline(drift(missing, mean, shares)) == (
        "Drift in 1 of 2 columns ('age') and in the class shares, in 2,000 rows."
    )
    assert headline(drift(shares, accuracy)) == "Drift in the class shares and in the accuracy, in 2,000 rows."
    assert headline(drift(withheld)) == "Nothing could be tested in 2,000 rows."
    assert advice(drift(mean)) == []
    assert "adapt_prior" in advice(drift(shares))[0]
    assert "Check the source of 'age'" in advice(drift(missing))[0]
    assert "do not rely" in advice(drift(accuracy))[-1]
    assert figure_text(mean, mean.reference) == "1,234"
    assert figure_text(gap, gap.reference) == "−0.04 %"
    assert figure_text(unknown, unknown.observed) == "20.0 %"
    assert figure_text(missing, missing.observed) == "30.0 %"
    assert figure_text(shares, shares.observed) == "30.0 %"
    assert figure_text(time, time.reference) == "1970-01-02"
    assert figure_text(withheld, None) == "–"
    unknown = [replace(withheld, column=None, test=each, sentence=f"x: {NO_PROFILE}") for each in OF_ROWS]
    unknown += [replace(withheld, column=i, sentence=f"x: {NO_PROFILE}") for i in range(20)]
    assert withheld_reasons(drift(withheld, *unknown[:1])) == ["City was not tested.", f"x: {NO_PROFILE}"]
    assert withheld_reasons(drift(withheld, *unknown[:2])) == [
        f"Not tested: log p(x) and the share of impossible rows, because {NO_PROFILE}",
        "City was not tested.",
    ]
    assert "column 0 and 19 more, because" in withheld_reasons(drift(*unknown))[0]
    assert withheld_reasons(drift(mean, withheld, withheld)) == ["City was not tested."]


def test_control_characters_are_escaped_in_headings_and_tables():
    name, label = "a\x1b[31m\nb\u202ec", "\x07x"
    found = Finding(name, "missing", 9.0, 1e-9, 0.01, True, "Missing cells rose.", 0.1, 0.3, measure="share missing")
    shares = ClassShares((label, "y"), (0.5, 0.5), (0.4, 0.6), (0.1, 0.1), 100)
    page = render(Drift((found,), 0.05, 0, 9, shares), title=name, source=name)
    assert not set(page) & set("\x1b\x07\u202e")
    assert page.count(r"a\x1b[31m\nb\u202ec") >= 4
    assert r"\x07x" in page


def test_the_picture_of_the_tail_says_what_its_height_means():
    page = render(Drift((), 0.05, 0, 9, None, {"0.100": 0.32, "0.500": 0.6}))
    assert "From the least likely (0) to the most likely training rows (1)." in page
    assert "stands for 3.2 times as many rows as in training" in page
