"""The page of a report in Chromium: what-if gives the library's posteriors, by keyboard, on a phone and in the dark."""

import numpy as np
import pandas as pd
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from every_estimator import ESTIMATORS, example
from pages import SET_VALUE, console_messages, network_requests
from report_pages import HOSTILE, hostile_table, mixed_table
from suffice import GenerativeEnsemble, NaiveBayes, TextNaiveBayes
from suffice.naive_bayes import BernoulliNB

TEXTS = [
    "cheap pills, buy now",
    "Lunch at noon?",
    "buy cheap watches, cheap!",
    "the report for tomorrow",
    "see you at lunch, the report is late",
    "NOW cheap: pills and watches",
    "straße und 日本, unknown words",
    "",
    "lunch lunch lunch pills",
    "noon\ntomorrow\tbuy 🎈",
]
FIND_FIELD = """
const fields = [...document.querySelectorAll(".field")];
const names = [arguments[0], `column ${arguments[0]}`];
return fields.find((each) => names.includes(each.querySelector("label bdi").textContent));
"""
CONTRAST = """
const luminance = (color) => {
  const parts = color.match(/[\\d.]+/g).slice(0, 3).map((each) => each / 255);
  const linear = parts.map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
};
const page = luminance(getComputedStyle(document.body).backgroundColor);
const texts = "h1, p, td, th, a, dt, dd, label, summary, svg text:not(.inverse)";
return [...document.querySelectorAll(texts)].map((each) => {
  const style = getComputedStyle(each);
  const text = luminance(each instanceof SVGElement ? style.fill : style.color);
  return (Math.max(text, page) + 0.05) / (Math.min(text, page) + 0.05);
});
"""


@pytest.fixture(scope="module")
def mixed():
    X, y = mixed_table()
    return NaiveBayes().fit(X, y), X, y


@pytest.fixture
def opened(browser, tmp_path):
    """A function that opens a report and returns the browser; the page must not log errors or ask for anything."""

    def open_report(report):
        path = tmp_path / "report.html"
        report.save(path)
        console_messages(browser), network_requests(browser)
        browser.get(path.as_uri())
        return browser

    yield open_report
    assert console_messages(browser) == []
    assert network_requests(browser) == []
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


def one(page, selector):
    return page.find_element(By.CSS_SELECTOR, selector)


def posterior(page):
    """Probabilities that the page shows, to the last digit."""
    items = page.find_elements(By.CSS_SELECTOR, "[data-posterior] [data-class]")
    found = {int(each.get_attribute("data-class")): float(each.get_attribute("data-p")) for each in items}
    return np.array([found[k] for k in sorted(found)])


def field_of(page, column):
    return page.execute_script(FIND_FIELD, column)


def enter(page, column, value):
    """Type or choose a value in the field of a column."""
    field = field_of(page, column)
    if isinstance(value, bool | np.bool_ | str):
        Select(one(field, "select")).select_by_visible_text(str(value))
    elif isinstance(value, pd.Timestamp):
        page.execute_script(SET_VALUE, one(field, "input[type=datetime-local]"), value.strftime("%Y-%m-%dT%H:%M:%S"))
    else:
        one(field, "input[type=number]").send_keys(repr(float(value)))


@pytest.mark.parametrize(
    ("make", "n_rows"), [(NaiveBayes, 6), (lambda: NaiveBayes("best", calibrate=True), 1), (GenerativeEnsemble, 1)]
)
def test_what_if_of_a_mixed_table(opened, make, n_rows):
    X, y = mixed_table()
    model = make().fit(X, y)
    page, expected = opened(model.report(X, y)), model.predict_proba(X)
    incomplete = np.flatnonzero(X.isna().any(axis=1))[: 4 if n_rows > 1 else 2]
    for i in [*range(n_rows), *incomplete.tolist()]:
        one(page, "[data-missing]").click()
        for column in X:
            if not pd.isna(X[column].iloc[i]):
                enter(page, column, X[column].iloc[i])
        assert posterior(page) == pytest.approx(expected[i], abs=1e-9)
    assert "Most probable" in one(page, "[data-status]").text


@pytest.mark.parametrize("kind", ["multinomial", "bernoulli"])
def test_what_if_of_texts(opened, kind):
    model = TextNaiveBayes(kind).fit(TEXTS[:6], ["spam", "ham", "spam", "ham", "ham", "spam"])
    page, expected = opened(model.report()), model.predict_proba(TEXTS)
    area = one(page, "textarea")
    for i, text in enumerate(TEXTS):
        area.clear()
        if text.isascii() and "\t" not in text:
            area.send_keys(text)
        else:  # a tab leaves the field, and the driver cannot type emoji
            page.execute_script(SET_VALUE, area, text)
        assert posterior(page) == pytest.approx(expected[i], abs=1e-9)
    assert "日本" not in one(page, "[data-parts]").text
    one(page, "input[type=checkbox]").click()
    assert posterior(page) == pytest.approx(model.predict_proba([None])[0], abs=1e-9)


def test_missing_and_unseen_cells(opened, mixed):
    model, _, _ = mixed
    page = opened(model.report())
    one(page, "[data-missing]").click()
    prior = posterior(page)
    assert prior == pytest.approx(model.class_prior_, abs=1e-9)
    enter(page, "region", "(another level)")
    assert posterior(page) == pytest.approx(prior, abs=1e-9)  # unseen="ignore"
    assert "region" in one(page, "[data-status]").text
    enter(page, "age", 41.0)
    assert posterior(page) != pytest.approx(prior, abs=1e-3)
    one(field_of(page, "age"), "button").click()
    assert posterior(page) == pytest.approx(prior, abs=1e-9)


def test_empty_texts_and_columns_with_an_offset(opened):
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = pd.DataFrame({"city": rng.choice(["", "Ulm", "Bonn"], 80), "sensor": 1e9 + rng.normal(y, 0.5)})
    model = NaiveBayes().fit(X, y)
    page = opened(model.report(X, y))
    enter(page, "city", "(empty)")
    sensor = float(one(field_of(page, "sensor"), "input[type=number]").get_attribute("value"))
    assert X["sensor"].min() <= sensor <= X["sensor"].max()
    expected = model.predict_proba(pd.DataFrame({"city": [""], "sensor": [sensor]}))[0]
    assert posterior(page) == pytest.approx(expected, abs=1e-9)


def test_many_columns(opened):
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    X = rng.normal(size=(100, 300))
    X[:, 123] += 2 * y
    model = NaiveBayes().fit(X, y)
    page = opened(model.report())
    row = np.full((1, 300), np.nan)
    row[0, 123] = 1.5
    one(page, "[data-missing]").click()
    enter(page, "123", 1.5)
    assert posterior(page) == pytest.approx(model.predict_proba(row)[0], abs=1e-9)
    assert len(page.find_elements(By.CSS_SELECTOR, ".field")) == 50


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_every_model_opens(opened, name):
    model, X, y = example(name, np.random.default_rng(0))
    page = opened(model.fit(X, y).report(X, y))
    assert len(page.find_elements(By.CSS_SELECTOR, "section")) >= 8
    if name != "text_slots":
        assert posterior(page).sum() == pytest.approx(1)
        one(page, "[data-typical]").click()
        assert posterior(page).sum() == pytest.approx(1)


def test_keyboard(opened, mixed):
    model, X, y = mixed
    page = opened(model.report(X, y))
    one(page, "body").send_keys(Keys.TAB)
    assert page.switch_to.active_element.text == "Skip to the report"
    page.switch_to.active_element.send_keys(Keys.ENTER)
    assert page.switch_to.active_element.get_attribute("id") == "main"
    reachable = "a[href], button, input, select, textarea, summary, [tabindex='0']"
    wanted = {each.id for each in page.find_elements(By.CSS_SELECTOR, reachable) if each.is_displayed()}
    page.execute_script("document.activeElement.blur(); scrollTo(0, 0)")
    one(page, "body").send_keys(Keys.TAB)
    reached = set()
    for _ in range(3 * len(wanted)):
        active = page.switch_to.active_element
        reached.add(active.id)
        outline = active.value_of_css_property("outline-style")
        assert active.tag_name == "body" or outline != "none", active.get_attribute("outerHTML")[:100]
        if wanted <= reached:
            break
        active.send_keys(Keys.TAB)
    assert wanted <= reached
    slider = one(field_of(page, "age"), "input[type=range]")
    number, before = one(field_of(page, "age"), "input[type=number]"), posterior(page)
    start = float(number.get_attribute("value"))
    slider.send_keys(Keys.ARROW_RIGHT)
    assert float(number.get_attribute("value")) > start
    assert (posterior(page) != before).any()
    summary = one(page, "summary")
    summary.send_keys(Keys.ENTER)
    assert summary.find_element(By.XPATH, "..").get_attribute("open")


@pytest.mark.parametrize("kind", ["mixed", "hostile", "text"])
def test_width_of_a_phone(opened, browser, mixed, kind):
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True},
    )
    if kind == "mixed":
        model, X, y = mixed
    elif kind == "hostile":
        X, y = hostile_table()
        model = NaiveBayes().fit(X, y)
    else:
        X, y = TEXTS[:6], ["spam", "ham", "spam", "ham", "ham", "spam"]
        model = TextNaiveBayes().fit(X, y)
    page = opened(model.report(X, y))
    page.execute_script("for (const each of document.querySelectorAll('details')) each.open = true;")
    assert page.execute_script("return document.documentElement.scrollWidth") <= 360
    small = page.execute_script(
        "return [...document.querySelectorAll('button, input:not([type=checkbox]), select')]"
        ".filter((each) => each.getBoundingClientRect().width > 360).length"
    )
    assert small == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours(opened, mixed, scheme):
    model, X, y = mixed
    page = opened(model.report(X, y))
    page.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    ratios = page.execute_script(CONTRAST)
    assert len(ratios) > 50
    assert min(ratios) >= 4.5
    background = page.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") == (scheme == "light")


def test_print(opened, mixed):
    model, X, y = mixed
    page = opened(model.report(X, y))
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    page.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert not one(page, "nav").is_displayed()
    assert not one(page, "#what-if").is_displayed()
    assert one(page, "details table").is_displayed()


def test_hostile_names_are_text(opened):
    X, y = hostile_table()
    model = NaiveBayes().fit(X, y)
    page = opened(model.report(X, y))
    headings = [each.get_attribute("textContent") for each in page.find_elements(By.CSS_SELECTOR, "article h3")]
    assert {name.replace("\x00", "") for name in HOSTILE} <= set(headings)
    assert page.find_elements(By.TAG_NAME, "img") == []
    one(page, "[data-missing]").click()
    for column in X:
        enter(page, column, X[column].iloc[0])
    assert posterior(page) == pytest.approx(model.predict_proba(X.iloc[:1])[0], abs=1e-9)


def test_what_if_of_a_threshold(opened):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = rng.normal(8 + 2 * y[:, None], 2, (200, 2))
    model = BernoulliNB(binarize=8).fit(X, y)
    page = opened(model.report(X, y))
    for cells in ([3, 3], [3, 12], [12, 12]):
        for column, cell in enumerate(cells):
            choice = "above 8" if cell > 8 else "at most 8"
            Select(one(field_of(page, str(column)), "select")).select_by_visible_text(choice)
        assert posterior(page) == pytest.approx(model.predict_proba([cells])[0], abs=1e-9)


@pytest.mark.parametrize("calibrate", [False, True, "columns"])
def test_parts_of_a_calibrated_model(opened, calibrate):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = rng.normal(y[:, None], 1, (200, 2))[:, [0, 0, 1]]
    model = NaiveBayes(calibrate=calibrate).fit(X, y)
    page = opened(model.report(X, y))
    first, *others = [each.text for each in page.find_elements(By.CSS_SELECTOR, "[data-parts] .top")]
    expected = {False: "log-odds of", True: "log-odds before calibration of", "columns": "weighted log-odds of"}
    assert first.startswith(expected[calibrate])
    if calibrate != "columns":  # whose outliers may change the second decimal, or not
        assert any(text.startswith("log-odds of the probabilities above") for text in others) == calibrate


@pytest.mark.parametrize(("unseen", "is_ignored"), [("ignore", True), ("share", False)])
def test_another_level_is_missing_or_not(opened, unseen, is_ignored):
    table = pd.DataFrame({"city": ["Ulm", "Bonn", "Ulm", "Bonn", "Bonn"], "size": [1.0, 2.0, 5.0, 6.0, 5.5]})
    model = NaiveBayes(unseen=unseen).fit(table, list("aabbb"))
    page = opened(model.report())
    one(page, "[data-missing]").click()
    Select(one(field_of(page, "city"), "select")).select_by_visible_text("(another level)")
    new = pd.DataFrame({"city": ["Köln"], "size": [np.nan]})
    assert posterior(page) == pytest.approx(model.predict_proba(new)[0], abs=1e-9)
    assert ("count as missing" in one(page, "[data-status]").text) == is_ignored
