"""The page of a running server in Chromium: its answers are the library's, and a person can do everything with it."""

import json
import urllib.request

import numpy as np
import pandas as pd
import pytest
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait
from sklearn.datasets import load_iris

import suffice
from every_estimator import ESTIMATORS, example
from pages import CONTRAST, SET_VALUE, console_messages, network_requests
from report_pages import HOSTILE, hostile_table, mixed_table
from running_server import running_server
from suffice import NaiveBayes, TextNaiveBayes
from suffice.text.mail import read_mail

MAILS = ["cheap pills, buy now", "Lunch at noon?", "buy cheap watches, cheap!", "the report for tomorrow"]
SET_VALUES = 'element.value = 1 + i / 80; element.dispatchEvent(new Event("input", { bubbles: true }));'
POSTERIOR = """
const items = document.querySelectorAll(".views:not([hidden]) [data-posterior] [data-class]");
return Object.fromEntries([...items].map((each) => [each.dataset.class, each.dataset.p]));
"""
FIELD = """
const fields = document.querySelectorAll(".views:not([hidden]) .field");
return [...fields].find((each) => each.dataset.column === arguments[0]);
"""
NUMBERS = """
const fields = document.querySelectorAll(".views:not([hidden]) .field");
const cells = [...fields].map((each) => [each.dataset.column, each.querySelector("input[type=number]").value]);
return Object.fromEntries(cells);
"""
PARTS = """
const items = document.querySelectorAll(".views:not([hidden]) [data-parts] li");
return [...items].map((each) => [each.querySelector("bdi").textContent, each.dataset.part]);
"""
TABLE_COLUMN = """
const table = document.querySelector(".views:not([hidden]) [data-table]");
const heads = [...table.tHead.rows[0].cells].map((each) => each.innerText.replace(/[▲▼]/, "").trim());
const place = heads.indexOf(arguments[0]);
return [...table.tBodies[0].rows].map((each) => each.cells[place].dataset.value ?? each.cells[place].innerText);
"""
CONTROLS = """
const found = document.querySelectorAll("a, button, input, select, textarea, summary, svg");
return [...found].filter((each) => each.checkVisibility() && !each.ariaHidden && !each.closest("[inert]"));
"""
SHOWN = ".views:not([hidden])"
VIEWS = ("predict", "file", "drift", "about")
SECONDS = 20  # that a page may take to answer


def wide_table(n=600, seed=0):
    """Fifty columns of numbers, and ten classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 10, n)
    X = rng.normal(size=(n, 50)) + 0.5 * rng.normal(size=(10, 50))[y]
    return pd.DataFrame(X, columns=[f"sensor {j}" for j in range(50)]), np.array([f"machine {k}" for k in y])


def many_classes(n=1000, seed=0):
    """Three columns of numbers, and a thousand classes."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n), 4)
    X = 5 * rng.normal(size=(n, 3))[y] + rng.normal(size=(4 * n, 3))
    return pd.DataFrame(X, columns=["x", "y", "z"]), np.array([f"class {k}" for k in y])


def blank_table(n=60):
    """Levels that differ in blanks and in capitals alone."""
    levels = np.array([" a", "a", "a ", "A", "a  b", "a b"], dtype=object)
    return pd.DataFrame({"level": levels[np.arange(n) % 6]}), np.where(np.arange(n) % 7 < 3, "in", "out")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with models and tables."""
    path = tmp_path_factory.mktemp("served")
    data = load_iris(as_frame=True)
    flowers = data.data.assign(species=data.target_names[data.target])
    flowers.to_csv(path / "flowers.csv", index=False)
    flowers.to_parquet(path / "flowers.parquet")
    moved = pd.concat([flowers.assign(**{"petal length (cm)": flowers["petal length (cm)"] + 2})] * 2)
    moved.drop(columns="species").to_csv(path / "moved.csv", index=False)
    suffice.fit(path / "flowers.csv", "species").save(path / "flowers.suffice")
    X, y = mixed_table()
    X[:40].assign(tier=y[:40]).to_csv(path / "mixed.csv", index=False)
    NaiveBayes().fit(X, y).save(path / "mixed.suffice")
    NaiveBayes().fit(*hostile_table()).save(path / "hostile.suffice")
    NaiveBayes().fit(*wide_table()).save(path / "wide.suffice")
    NaiveBayes().fit(*many_classes()).save(path / "many.suffice")
    NaiveBayes().fit(*blank_table()).save(path / "blanks.suffice")
    TextNaiveBayes().fit(MAILS, ["spam", "ham", "spam", "ham"]).save(path / "spam.suffice")
    return path


@pytest.fixture(scope="module")
def address(folder):
    """The address of a server of all models, which learns."""
    models = sorted(each.name for each in folder.glob("*.suffice"))
    with running_server(folder, *models, "--learn", "--port", 0) as (address, _):
        yield address


@pytest.fixture
def page(browser, address, tmp_path):
    """A function that opens a view of a model; afterwards nothing may have been logged or asked of others."""
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})

    def open_view(model, view="predict"):
        browser.get("about:blank")
        console_messages(browser), network_requests(browser)
        browser.get(f"{address}/#{model}/{view}")
        return Page(browser).ready()

    yield open_view
    assert console_messages(browser) == []
    assert [url for url in network_requests(browser) if not url.startswith(address)] == []
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


class Page:
    """The page as a person uses it."""

    def __init__(self, browser):
        self.browser = browser

    def wait(self, condition, what):
        """Wait until a condition holds, and return its value; its elements may be replaced meanwhile."""
        replaced = [StaleElementReferenceException]
        return WebDriverWait(self.browser, SECONDS, 0.02, replaced).until(lambda _: condition(), what)

    def download(self, button, path):
        """Press a button, and wait until its file is there."""
        self.one(button).click()
        self.wait(lambda: path.exists() and path.stat().st_size, path.name)
        self.wait(lambda: not list(path.parent.glob("*.crdownload")), path.name)

    def root(self):
        """The views of the model that is shown."""
        return self.browser.find_element(By.CSS_SELECTOR, SHOWN)

    def all(self, selector):
        """Elements of the shown view."""
        return self.browser.find_elements(By.CSS_SELECTOR, f"{SHOWN} [data-view]:not([hidden]) {selector}")

    def one(self, selector):
        """The first element of the shown view."""
        return self.wait(lambda: self.all(selector), selector)[0]

    def ready(self):
        """Wait until the page shows the answer about the form."""
        answered = f"{SHOWN} [data-view=predict][aria-busy=false]"
        self.wait(lambda: self.browser.find_elements(By.CSS_SELECTOR, answered), "an answer")
        return self

    def field(self, column):
        """The field of a column."""
        return self.browser.execute_script(FIELD, column)

    def enter(self, column, value):
        """Type or choose a cell; None clears it."""
        field = self.field(column)
        if field.find_elements(By.CSS_SELECTOR, "select"):
            text = "(missing)" if pd.isna(value) else str(value)
            Select(field.find_element(By.CSS_SELECTOR, "select")).select_by_visible_text(text)
        elif pd.isna(value):
            field.find_element(By.CSS_SELECTOR, ".clear").click()
        else:
            text = value.strftime("%Y-%m-%dT%H:%M:%S") if isinstance(value, pd.Timestamp) else repr(float(value))
            self.set(field.find_element(By.CSS_SELECTOR, "input:not([type=range])"), text)

    def set(self, element, text):
        """Set the value of a field at once, as a paste does."""
        self.browser.execute_script(SET_VALUE, element, text)

    def posterior(self):
        """Probabilities that the page shows, to the last digit."""
        self.ready()
        found = self.browser.execute_script(POSTERIOR)
        return np.array([float(found[str(k)]) for k in range(len(found))])

    def parts(self):
        """Parts of the log-odds by their names."""
        return {name: float(part) for name, part in self.browser.execute_script(PARTS)}

    def send(self, path):
        """Choose a file, and wait until its answers or an error are there."""
        self.browser.execute_script("arguments[0].hidden = true", self.one("[data-scored]"))
        self.root().find_element(By.CSS_SELECTOR, "input[type=file]").send_keys(str(path))
        self.wait(
            lambda: self.one("[data-scored]").is_displayed() or self.one("[data-error]").is_displayed(), "answers"
        )

    def column(self, title):
        """The cells of a column of the table of answers."""
        return self.browser.execute_script(TABLE_COLUMN, title)


def row_of(page, model, columns):
    """The numbers of the form as the library takes them."""
    cells = page.browser.execute_script(NUMBERS)
    return pd.DataFrame({column: [float(cells[column]) if cells[column] else np.nan] for column in columns})


def served_model(address, name):
    """The model as the server has it now."""
    with urllib.request.urlopen(f"{address}/models/{name}/model") as answer:
        return suffice.loads(answer.read())


def ask(address, value, content_type="application/json"):
    """Send a request as another client does."""
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    urllib.request.urlopen(urllib.request.Request(address, body, {"Content-Type": content_type})).close()


def visible_lines(page):
    """Colours of the lines of the curve that can be seen."""
    script = "return [...arguments[0].querySelectorAll('path.line')].map((each) => getComputedStyle(each).stroke)"
    return [each for each in page.browser.execute_script(script, page.one("[data-curve]")) if each != "none"]


# ---------------------------------------------------------------------- one row


def test_predictions_and_parts_are_those_of_the_library(page, folder):
    model = suffice.load(folder / "mixed.suffice")
    shown = page("mixed")
    X, _ = mixed_table()
    rows = [0, 1, *np.flatnonzero(X.isna().any(axis=1))[:3].tolist()]
    for i in rows:
        for column in X:
            shown.enter(column, X[column].iloc[i])
        expected = model.predict_proba(X.iloc[[i]])[0]
        assert shown.posterior() == pytest.approx(expected, abs=1e-9)
        explanation = model.explain(X.iloc[[i]])
        wanted = dict(zip(map(str, explanation.names), explanation.parts[0], strict=True))
        wanted["class shares (prior)"] = wanted.pop("(prior)")
        found = shown.parts()
        assert found.pop("log-odds") == pytest.approx(explanation.log_odds[0], abs=1e-9)
        assert found == pytest.approx({name: part for name, part in wanted.items() if part}, abs=1e-9)
        assert "Most probable" in shown.wait(lambda: shown.one("[data-status]").get_attribute("textContent"), "status")


def test_two_classes_can_be_compared(page, folder):
    model = suffice.load(folder / "flowers.suffice")
    shown = page("flowers")
    Select(shown.one("[data-label]")).select_by_visible_text("setosa")
    Select(shown.one("[data-against]")).select_by_visible_text("virginica")
    shown.ready()
    explanation = model.explain(row_of(shown, model, model.feature_names_in_), "setosa", "virginica")
    total = float(shown.one("[data-parts] li").get_attribute("data-part"))
    assert total == pytest.approx(explanation.log_odds[0], abs=1e-9)
    Select(shown.one("[data-against]")).select_by_visible_text("setosa")
    shown.wait(lambda: shown.one("[data-same]").is_displayed(), "a sentence")
    Select(shown.one("[data-against]")).select_by_visible_text("next class")
    shown.wait(lambda: shown.all("[data-parts] li"), "parts")


def test_dragging_a_value(page, folder):
    model = suffice.load(folder / "flowers.suffice")
    shown = page("flowers")
    columns = model.feature_names_in_
    before = shown.posterior()
    shown.one("[data-curve] .now")
    for place in (-150, 40, 170):  # in the picture of the curve
        drag = ActionChains(shown.browser).move_to_element(shown.one("svg.curve")).click_and_hold()
        drag.move_by_offset(place // 2, 0).move_by_offset(place // 2, 5).release().perform()
        row = row_of(shown, model, columns)
        assert shown.posterior() == pytest.approx(model.predict_proba(row)[0], abs=1e-9)
    assert np.abs(shown.posterior() - before).max() > 0.1
    slider = shown.field("sepal width (cm)").find_element(By.CSS_SELECTOR, "input[type=range]")
    ActionChains(shown.browser).click_and_hold(slider).move_by_offset(20, 0).move_by_offset(-60, 0).release().perform()
    row = row_of(shown, model, columns)
    assert row["sepal width (cm)"][0] < 3
    assert shown.posterior() == pytest.approx(model.predict_proba(row)[0], abs=1e-9)
    shown.wait(lambda: "sepal width" in shown.one("[data-curve-title]").text, "the curve of the dragged column")


def test_the_last_answer_is_that_of_the_last_change(page, folder):
    model = suffice.load(folder / "flowers.suffice")
    shown = page("flowers")
    box = shown.field("petal length (cm)").find_element(By.CSS_SELECTOR, "input[type=number]")
    fast = f"const [element] = arguments; for (let i = 0; i < 400; i++) {{ {SET_VALUES} }}"
    shown.browser.execute_script("performance.clearResourceTimings()")
    shown.browser.execute_script(fast, box)
    row = row_of(shown, model, model.feature_names_in_)
    assert shown.posterior() == pytest.approx(model.predict_proba(row)[0], abs=1e-9)
    asked = shown.browser.execute_script("return performance.getEntriesByType('resource').map((each) => each.name)")
    assert sum(each.endswith("/explain") for each in asked) <= 3


def test_texts(page, folder):
    model = suffice.load(folder / "spam.suffice")
    shown = page("spam")
    for text in ("cheap watches for lunch", "the report\n🎈 <b>noon</b>", ""):
        shown.set(shown.one("textarea"), text)
        assert shown.posterior() == pytest.approx(model.predict_proba([text])[0], abs=1e-9)
    shown.set(shown.one("textarea"), "cheap watches")
    shown.posterior()
    assert {"cheap", "watches"} <= set(shown.parts())


def test_errors_are_sentences(page, browser):
    shown = page("flowers")
    before = shown.posterior()
    shown.enter("petal length (cm)", 1e300)
    assert "This row is so far" in shown.wait(lambda: shown.one("[data-error]").text, "a sentence")
    shown.enter("petal length (cm)", 1.5)
    shown.wait(lambda: not shown.one("[data-error]").is_displayed(), "no sentence")
    assert all("422" in each for each in console_messages(browser))
    box = shown.field("petal length (cm)").find_element(By.CSS_SELECTOR, "input[type=number]")
    box.clear()
    box.send_keys("1e")
    assert "must be a number" in shown.wait(lambda: shown.one("[data-error]").text, "a sentence")
    shown.enter("petal length (cm)", 1.5)
    assert (shown.posterior() != before).any()
    assert not shown.one("[data-error]").is_displayed()


def test_levels_outside_and_missing_cells(page, folder):
    model = suffice.load(folder / "mixed.suffice")
    shown = page("mixed")
    shown.one("[data-missing]").click()
    assert shown.posterior() == pytest.approx(model.class_prior_, abs=1e-9)
    shown.enter("region", "(another level)")
    assert shown.posterior() == pytest.approx(model.class_prior_, abs=1e-9)
    shown.enter("age", 400.0)
    assert "outside" in shown.field("age").text
    shown.one("[data-typical]").click()
    assert "outside" not in shown.field("age").text
    shown.one("[data-draw]").click()
    assert shown.posterior().sum() == pytest.approx(1)
    for column in ("age", "income", "debt"):
        cell = shown.field(column).find_element(By.CSS_SELECTOR, "input[type=number]").get_attribute("value")
        assert len(cell) <= 8  # all digits can be read


# ---------------------------------------------------------------------- files


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files(page, folder, tmp_path, kind):
    model = suffice.load(folder / "flowers.suffice")
    table = pd.read_csv(folder / "flowers.csv")
    expected = model.predict_proba(table[list(model.feature_names_in_)])
    shown = page("flowers", "file")
    shown.send(folder / f"flowers.{kind}")
    assert "150 rows" in shown.one("[data-file-facts]").text
    for k, label in enumerate(model.classes_):
        got = [float(each) for each in shown.column(f"p({label})")]
        assert got == pytest.approx(expected[:50, k], abs=1e-9)
    assert shown.column("predicted") == model.classes_[expected[:50].argmax(axis=1)].tolist()
    shown.one("[data-after]").click()
    assert shown.column("row") == [str(i + 1) for i in range(50, 100)]
    head = next(each for each in shown.all("[data-table] thead button") if each.text == "p(virginica)")
    head.click()
    got = [float(each) for each in shown.column("p(virginica)")]
    assert got == pytest.approx(np.sort(expected[:, 2])[::-1][:50], abs=1e-9)
    Select(shown.one("[data-filter-class]")).select_by_visible_text("setosa")
    shown.wait(lambda: shown.one("[data-page-text]").text.endswith("of 50"), "the rows of a class")
    Select(shown.one("[data-filter-class]")).select_by_visible_text("all classes")
    shown.one("[data-filter-wrong]").click()
    wrong = int((model.classes_[expected.argmax(axis=1)] != table["species"]).sum())
    assert 0 < wrong == len(shown.column("row"))
    shown.one("[data-filter-wrong]").click()
    shown.one("[data-filter-text]").send_keys("versic")
    shown.wait(lambda: "150" not in shown.one("[data-page-text]").text, "the rows with a text")
    assert set(shown.column("species")) | set(shown.column("predicted")) >= {"versicolor"}
    saved = tmp_path / "flowers-predicted.csv"
    shown.download("[data-download]", saved)
    found = pd.read_csv(saved)
    np.testing.assert_allclose(found[[f"p({label})" for label in model.classes_]], expected, rtol=0, atol=1e-12)
    pd.testing.assert_frame_equal(found[list(table)], table)


def test_a_row_of_a_file_opens_in_the_form(page, folder):
    X = mixed_table()[0][:40]
    expected = suffice.load(folder / "mixed.suffice").predict_proba(X)
    shown = page("mixed", "file")
    shown.send(folder / "mixed.csv")
    for i in (3, int(np.flatnonzero(X.isna().any(axis=1))[0])):
        shown.all("[data-table] tbody th button")[i].click()
        shown.wait(lambda: shown.all("[data-posterior]"), "the form")
        assert shown.posterior() == pytest.approx(expected[i], abs=1e-9)
        shown.browser.back()
        shown.wait(lambda: shown.all("[data-table]"), "the table")


def test_bad_files_are_refused_with_a_sentence(page, browser, folder):
    shown = page("flowers", "file")
    (folder / "notes.docx").write_bytes(b"PK")
    shown.send(folder / "notes.docx")
    assert "not a file that is read here" in shown.one("[data-error]").text
    (folder / "other.csv").write_text("a,b\n1,2\n")
    shown.send(folder / "other.csv")
    shown.wait(lambda: "sepal length (cm)" in shown.one("[data-error]").text, "the missing columns")
    (message,) = console_messages(browser)
    assert "422" in message
    shown.send(folder / "flowers.csv")
    assert not shown.one("[data-error]").is_displayed()


def test_a_mail(page, folder, tmp_path):
    (tmp_path / "mail.eml").write_text("Subject: lunch\nFrom: a@example.org\n\ncheap pills at noon\n")
    shown = page("spam", "file")
    shown.send(tmp_path / "mail.eml")
    expected = suffice.load(folder / "spam.suffice").predict_proba([read_mail(tmp_path / "mail.eml").text])[0]
    assert [float(shown.column(f"p({label})")[0]) for label in ("ham", "spam")] == pytest.approx(expected, abs=1e-9)


def test_a_dropped_file(page, folder):
    shown = page("flowers", "file")
    drop = """
    const [zone, text] = arguments;
    const data = new DataTransfer();
    data.items.add(new File([text], "dropped.csv"));
    for (const name of ["dragenter", "dragover", "drop"]) {
      zone.dispatchEvent(new DragEvent(name, { bubbles: true, cancelable: true, dataTransfer: data }));
    }
    """
    shown.browser.execute_script(drop, shown.one("[data-drop]"), (folder / "flowers.csv").read_text())
    shown.wait(lambda: shown.one("[data-scored]").is_displayed(), "answers")
    assert shown.one("[data-file-title]").text == "dropped.csv"
    shown = page("flowers")  # anywhere else it opens the view of files, and the browser does not leave the page
    shown.browser.execute_script(drop, shown.one("[data-answer]"), "sepal length (cm)\nlong\n")
    shown.wait(lambda: shown.browser.current_url.endswith("/file"), "the view of files")
    assert "The file, line 2, column 'sepal length (cm)'" in shown.wait(
        lambda: shown.one("[data-error]").text, "a sentence"
    )
    (message,) = console_messages(shown.browser)
    assert "422" in message


def test_a_large_file(page, folder, tmp_path):
    table = pd.concat([pd.read_csv(folder / "flowers.csv")] * 2_000)
    table.to_csv(tmp_path / "many.csv", index=False)
    shown = page("flowers", "file")
    shown.send(tmp_path / "many.csv")
    assert "300,000 rows" in shown.one("[data-file-facts]").text
    assert "first 10,000" in shown.one("[data-file-facts]").text
    saved = tmp_path / "many-predicted.csv"
    shown.download("[data-download]", saved)
    with open(saved) as file:
        assert sum(1 for _ in file) == 300_001


# ---------------------------------------------------------------------- teaching


def test_teach_and_undo(page, address):
    shown = page("spam")
    before = served_model(address, "spam")
    text = "cheap lunch at noon"
    shown.set(shown.one("textarea"), text)
    first = shown.posterior()
    shown.all(".chip")[1].click()
    shown.one("[data-teach-button]").click()
    shown.wait(lambda: shown.all("[data-receipt] [data-class]"), "the receipt")
    taught = TextNaiveBayes().fit(MAILS, ["spam", "ham", "spam", "ham"]).partial_fit([text], ["spam"])
    after = taught.predict_proba([text])[0]
    assert shown.posterior() == pytest.approx(after, abs=1e-9)
    assert after[1] > first[1]
    receipt = [float(each.get_attribute("data-p")) for each in shown.all("[data-receipt] [data-class='1'] td")]
    assert receipt == pytest.approx([first[1], after[1]], abs=1e-9)
    assert "5 rows learned" in shown.browser.find_element(By.CSS_SELECTOR, "[data-model-facts]").text
    shown.one("[data-taught-list] button").click()
    shown.wait(lambda: "Undone" in shown.one("[data-receipt]").text, "the receipt")
    assert (shown.posterior() == first).all()
    assert served_model(address, "spam").to_bytes() == before.to_bytes()
    assert not shown.one("[data-taught]").is_displayed()


def test_changes_of_other_clients_appear(page, address):
    shown = page("spam")
    shown.set(shown.one("textarea"), "cheap lunch at noon")
    before = shown.posterior()
    facts = shown.browser.find_element(By.CSS_SELECTOR, "[data-model-facts]")
    for verb in ("learn", "unlearn"):
        ask(f"{address}/models/spam/{verb}", {"rows": [{"text": "cheap lunch"}], "labels": ["spam"]})
        model = served_model(address, "spam")
        shown.wait(lambda m=model: f"{m.class_count_.sum():.0f} rows" in facts.text, "the facts")
        expected = model.predict_proba(["cheap lunch at noon"])[0]
        shown.wait(lambda p=expected: shown.posterior() == pytest.approx(p, abs=1e-9), "the answer")
    assert (shown.posterior() == before).all()


def test_teaching_needs_a_class(page):
    shown = page("flowers")
    shown.one("[data-teach-button]").click()
    assert "Choose the right class" in shown.one("[data-teach-error]").text


def test_teach_and_undo_a_file(page, address, folder):
    shown = page("flowers", "file")
    shown.send(folder / "flowers.csv")
    before = served_model(address, "flowers")
    shown.one("[data-teach-file-run]").click()
    shown.wait(lambda: "Taught 150 rows" in shown.one("[data-teach-file-note]").text, "the receipt")
    assert served_model(address, "flowers").class_count_.sum() == 300
    assert not shown.one("[data-teach-file-run]").is_displayed()
    shown.one("[data-teach-file-undo]").click()
    shown.wait(lambda: "Unlearned 150 rows" in shown.one("[data-teach-file-note]").text, "the receipt")
    shown.one("[data-teach-file-run]").click()
    shown.wait(lambda: "Taught" in shown.one("[data-teach-file-note]").text, "another receipt")
    shown.send(folder / "flowers.parquet")
    assert shown.one("[data-teach-file-run]").is_displayed()  # for the rows of the next file
    content = (folder / "flowers.csv").read_bytes()
    ask(f"{address}/models/flowers/unlearn", content, "text/csv")
    X = pd.read_csv(folder / "flowers.csv").drop(columns="species")
    assert (served_model(address, "flowers").predict_proba(X) == before.predict_proba(X)).all()


# ---------------------------------------------------------------------- drift, models, tokens


def test_drift_appears(browser, folder, tmp_path):
    with running_server(folder, "flowers.suffice", "--learn", "--state", tmp_path, "--port", 0) as (address, _):
        browser.get(f"{address}/#flowers/drift")
        shown = Page(browser).ready()
        shown.wait(lambda: shown.one("[data-state-title]").text == "No rows yet", "the state")
        browser.get(f"{address}/#flowers/predict")
        shown.one("[data-typical]").click()
        assert shown.posterior().sum() == pytest.approx(1)
        browser.get(f"{address}/#flowers/file")
        shown.send(folder / "flowers.csv")
        browser.get(f"{address}/#flowers/drift")
        shown.wait(lambda: shown.one("[data-state-title]").text == "No drift in 150 rows", "no drift")
        browser.get(f"{address}/#flowers/file")
        shown.send(folder / "moved.csv")
        browser.get(f"{address}/#flowers/drift")
        shown.wait(lambda: "Drift in petal length (cm)" in shown.one("[data-state-title]").text, "drift")
        assert "petal length (cm)" in shown.one("[data-findings]").text
        assert shown.one("[data-class-shares] .mark").is_displayed()
        assert shown.one("[data-density] .mark").is_displayed()
        browser.get(f"{address}/#flowers/file")
        shown.send(folder / "flowers.csv")
        shown.one("[data-teach-file-run]").click()
        shown.wait(lambda: "Taught" in shown.one("[data-teach-file-note]").text, "the receipt")
        browser.get(f"{address}/#flowers/drift")
        shown.wait(lambda: "Labelled rows\n150" in shown.one("[data-labels]").text, "scores of the learned rows")
        browser.get("about:blank")
    assert console_messages(browser) == []


def test_several_models(page):
    shown = page("mixed")
    choice = Select(shown.browser.find_element(By.CSS_SELECTOR, "[data-models]"))
    assert [each.text for each in choice.options] == ["blanks", "flowers", "hostile", "many", "mixed", "spam", "wide"]
    shown.enter("age", 61.0)
    choice.select_by_visible_text("spam")
    shown.wait(lambda: shown.all("textarea"), "the form of the other model")
    assert shown.browser.title == "spam – Suffice"
    shown.browser.back()
    shown.wait(lambda: not shown.all("textarea"), "the first model")
    age = shown.field("age").find_element(By.CSS_SELECTOR, "input[type=number]")
    assert float(age.get_attribute("value")) == 61


def test_every_model_opens(browser, tmp_path):
    rng = np.random.default_rng(0)
    texts = np.array(["", "a", "<b>"])
    labels = {"naive": lambda y: y.astype(float), "GaussianNB": lambda y: y > 0, "mixed": lambda y: texts[y]}
    for name in ESTIMATORS:
        model, X, y = example(name, rng)
        model.fit(X, labels.get(name, np.asarray)(y)).save(tmp_path / f"{name}.suffice")
    with running_server(tmp_path, *(f"{name}.suffice" for name in ESTIMATORS), "--learn", "--port", 0) as (address, _):
        browser.get(address)
        for name in ESTIMATORS:
            browser.execute_script("location.hash = arguments[0]", f"#{name}/predict")
            shown = Page(browser)
            shown.wait(lambda name=name: browser.title.startswith(f"{name} "), name)
            shown.ready()
            first = shown.posterior()
            assert first.sum() == pytest.approx(1)
            if shown.one("[data-explanation]").is_displayed():
                Select(shown.one("[data-label]")).select_by_index(1)
                Select(shown.one("[data-against]")).select_by_index(2)
                shown.ready()
                total, *parts = shown.parts().values()
                assert sum(parts) == pytest.approx(total, abs=1e-9)
            shown.all(".chip")[0].click()
            shown.one("[data-teach-button]").click()
            shown.wait(lambda s=shown: s.all("[data-receipt] [data-class]") or s.one("[data-teach-error]").text, name)
            assert shown.one("[data-teach-error]").text == "", name
            shown.one("[data-taught-list] button").click()
            shown.wait(lambda s=shown: "Undone" in s.one("[data-receipt]").text, name)
            assert shown.posterior() == pytest.approx(first, abs=1e-9)
        browser.get("about:blank")
    assert console_messages(browser) == []


def test_a_new_class_appears(browser, folder, tmp_path):
    arguments = ("spam.suffice", "--learn", "--new-classes", "--state", tmp_path, "--port", 0)
    with running_server(folder, *arguments) as (address, _):
        browser.get(address)
        shown = Page(browser).ready()
        shown.set(shown.one("textarea"), "cheap pills")
        assert len(shown.posterior()) == 2
        shown.all(".chip")[1].click()
        shown.one("[data-teach-button]").click()
        shown.wait(lambda: shown.all("[data-taught-list] button"), "the lesson")
        ask(f"{address}/learn", {"rows": [{"text": "the invoice is due"}], "labels": ["bill"]})
        shown.set(shown.one("textarea"), "cheap pills, the invoice")
        shown.wait(lambda: len(shown.posterior()) == 3, "the new class")
        expected = served_model(address, "spam").predict_proba(["cheap pills, the invoice"])[0]
        shown.wait(lambda: shown.posterior() == pytest.approx(expected, abs=1e-9), "the row of before")
        assert [each.text for each in shown.all(".chip")] == ["bill", "ham", "spam"]
        shown.one("[data-taught-list] button").click()
        shown.wait(lambda: "Undone: spam" in shown.one("[data-receipt]").text, "the lesson of before")
        assert served_model(address, "spam").class_count_.sum() == 5
        browser.get("about:blank")
    assert console_messages(browser) == []


def test_the_report_and_the_model_file(page, address, tmp_path):
    shown = page("spam", "about")
    browser = shown.browser
    assert "TextNaiveBayes" in shown.one("[data-facts]").text
    shown.download("[data-model-file]", tmp_path / "spam.suffice")
    assert (tmp_path / "spam.suffice").read_bytes() == served_model(address, "spam").to_bytes()
    (first,) = browser.window_handles
    shown.one("[data-report]").click()
    shown.wait(lambda: len(browser.window_handles) == 2, "the report")
    browser.switch_to.window(next(each for each in browser.window_handles if each != first))
    shown.wait(lambda: browser.find_elements(By.CSS_SELECTOR, "#overview"), "the report")
    assert browser.find_element(By.CSS_SELECTOR, "[data-what-if]").is_displayed()  # its script may run
    assert console_messages(browser) == []
    browser.close()
    browser.switch_to.window(first)


def test_the_page_asks_for_a_token(browser, folder, tmp_path):
    tokens = {"read": "reading-reading-reading", "learn": "learning-learning-learning"}
    with running_server(folder, "spam.suffice", "--learn", "--state", tmp_path, "--port", 0, tokens=tokens) as (
        address,
        _,
    ):
        browser.get(address)
        shown = Page(browser)
        shown.wait(browser.find_element(By.CSS_SELECTOR, "dialog").is_displayed, "the dialog")
        ActionChains(browser).send_keys(Keys.ESCAPE).perform()
        banner = browser.find_element(By.CSS_SELECTOR, "[data-banner]")
        shown.wait(lambda: "Load this page again" in banner.text, "what to do")
        browser.refresh()
        dialog = browser.find_element(By.CSS_SELECTOR, "dialog")
        for token, sentence in (("wrong", True), (tokens["read"], False)):
            shown.wait(dialog.is_displayed, "the dialog")
            box = dialog.find_element(By.CSS_SELECTOR, "input")
            box.send_keys(token, Keys.ENTER)
            if sentence:
                shown.wait(lambda: dialog.find_element(By.CSS_SELECTOR, "[data-error]").text, "a sentence")
        shown.ready()
        assert not dialog.is_displayed()
        shown.all(".chip")[0].click()
        shown.one("[data-teach-button]").click()
        assert "learn" in shown.wait(lambda: shown.one("[data-teach-error]").text, "the scope")
        browser.refresh()
        shown.ready()  # without asking again
        assert not any(token in url for url in network_requests(browser) for token in tokens.values())
        assert browser.execute_script("return localStorage.length + document.cookie.length") == 0
        browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
        browser.get(f"{address}/#spam/about")
        shown.download("[data-report]", tmp_path / "spam-report.html")
        browser.execute_script("sessionStorage.clear()")
    assert all("401" in each or "403" in each for each in console_messages(browser))


def test_a_server_that_goes_away(browser, folder, tmp_path):
    with running_server(folder, "spam.suffice", "--port", 0) as (address, process):
        browser.get(address)
        shown = Page(browser).ready()
        process.kill()
        process.wait()
        shown.set(shown.one("textarea"), "cheap pills")
        banner = browser.find_element(By.CSS_SELECTOR, "[data-banner]")
        shown.wait(lambda: "does not answer" in banner.text, "the sentence")
    port = address.rsplit(":", 1)[1]
    with running_server(folder, "spam.suffice", "--learn", "--state", tmp_path, "--port", port) as (again, _):
        assert again == address
        shown.wait(lambda: not banner.is_displayed(), "the server again")
        model = suffice.load(folder / "spam.suffice")
        expected = model.predict_proba(["cheap pills"])[0]
        shown.wait(lambda: shown.posterior() == pytest.approx(expected, abs=1e-9), "the answer")
        shown.wait(lambda: shown.one("[data-teach]").is_displayed(), "that the server learns now")
        assert shown.one("textarea").get_attribute("value") == "cheap pills"
        browser.get("about:blank")
    assert all("ERR_CONNECTION_REFUSED" in each for each in console_messages(browser))


# ---------------------------------------------------------------------- everybody


def test_keyboard(page, folder):
    model = suffice.load(folder / "flowers.suffice")
    shown = page("flowers")
    browser = shown.browser
    keys = lambda *pressed: ActionChains(browser).send_keys(*pressed).perform()  # noqa: E731
    active = lambda: browser.switch_to.active_element  # noqa: E731
    keys(Keys.TAB)
    assert active().text == "Skip to the content"
    keys(Keys.ENTER)
    assert active().get_attribute("id") == "main"

    def tab_to(wanted, what):
        for _ in range(80):
            keys(Keys.TAB)
            found = active()
            seen = found.value_of_css_property("outline-style") != "none"
            assert seen or found.tag_name == "body" or found.get_attribute("type") == "radio", found.tag_name
            if wanted(found):
                return found
        raise AssertionError(what)

    before = shown.posterior()
    slider = tab_to(lambda each: each.get_attribute("type") == "range", "a slider")
    for _ in range(10):
        slider.send_keys(Keys.ARROW_RIGHT)
    row = row_of(shown, model, model.feature_names_in_)
    assert shown.posterior() == pytest.approx(model.predict_proba(row)[0], abs=1e-9)
    assert (shown.posterior() != before).any()
    chip = tab_to(lambda each: each.get_attribute("type") == "radio", "the classes")
    chip.send_keys(Keys.SPACE)
    tab_to(lambda each: each.get_attribute("data-teach-button") is not None, "the button")
    keys(Keys.ENTER)
    shown.wait(lambda: shown.all("[data-receipt] [data-class]"), "the receipt")
    tab_to(lambda each: each.text == "Undo", "undo")
    keys(Keys.ENTER)
    shown.wait(lambda: "Undone" in shown.one("[data-receipt]").text, "the receipt")
    for view in VIEWS[1:]:
        browser.execute_script("document.activeElement.blur()")
        tab_to(lambda each, view=view: each.get_attribute("data-to") == view, view)
        keys(Keys.ENTER)
        assert shown.one("*")
        assert shown.browser.current_url.endswith(f"/{view}")


@pytest.mark.parametrize("model", ["mixed", "hostile", "wide", "spam", "many", "blanks"])
def test_width_of_a_phone(page, folder, model):
    shown = page(model)
    phone = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}
    shown.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    if model == "many":
        shown.wait(lambda: visible_lines(shown), "lines of a curve")
    for view in VIEWS:
        shown.browser.execute_script("location.hash = arguments[0]", f"#{model}/{view}")
        shown.wait(
            lambda view=view: shown.root().find_elements(By.CSS_SELECTOR, f"[data-view={view}]:not([hidden])"), view
        )
        if view == "file" and model == "hostile":
            hostile_table()[0].to_parquet(folder / "hostile.parquet")
            shown.send(folder / "hostile.parquet")
        assert shown.browser.execute_script("return document.documentElement.scrollWidth") <= 360, view
    assert shown.one("*")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours(page, folder, scheme):
    shown = page("mixed")
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    shown.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    for view in VIEWS:
        shown.browser.execute_script("location.hash = arguments[0]", f"#mixed/{view}")
        shown.one("*")
        if view == "file":
            shown.send(folder / "mixed.csv")
        found = shown.browser.execute_script(CONTRAST)
        assert len(found) > 5
        assert [each for each in found if each[0] < 4.5] == []
    background = shown.browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") == (scheme == "light")


def test_hostile_names_are_text(page, folder):
    X, _ = hostile_table()
    model = suffice.load(folder / "hostile.suffice")
    shown = page("hostile")
    names = [each.get_attribute("textContent") for each in shown.all(".field label bdi")]
    assert names == list(X)
    assert set(HOSTILE) < set(names)
    for column in X:
        shown.enter(column, X[column].iloc[0])
    assert shown.posterior() == pytest.approx(model.predict_proba(X.iloc[:1])[0], abs=1e-9)
    assert shown.root().find_elements(By.CSS_SELECTOR, "img, script, b, i") == []


def test_levels_that_differ_in_blanks(page, folder):
    X, _ = blank_table()
    model = suffice.load(folder / "blanks.suffice")
    shown = page("blanks")
    options = Select(shown.one(".field select")).options
    texts = [each.get_property("text").replace("\N{NO-BREAK SPACE}", "_") for each in options]
    assert {"“_a”", "a", "“a_”", "A", "“a__b”", "a b"} < set(texts)
    names = dict(zip(texts, range(len(texts)), strict=True))
    for level in X["level"].unique():
        plain = level if level in ("a", "A", "a b") else f"“{level.replace(' ', '_')}”"
        Select(shown.one(".field select")).select_by_index(names[plain])
        expected = model.predict_proba(pd.DataFrame({"level": [level]}))[0]
        assert shown.posterior() == pytest.approx(expected, abs=1e-9)


def test_ranges_have_round_ends(page, address):
    shown = page("mixed")
    with urllib.request.urlopen(f"{address}/models/mixed") as answer:
        columns = [each for each in json.load(answer)["columns"] if each["low"] is not None]
    for column in columns:
        slider = shown.field(column["name"]).find_element(By.CSS_SELECTOR, "input[type=range]")
        low, high = (float(slider.get_attribute(end)) for end in ("min", "max"))
        assert low <= column["low"] < column["high"] <= high
        assert high - low < 1.2 * (column["high"] - column["low"])
        steps = np.array([low, high]) / float(slider.get_attribute("step"))
        np.testing.assert_allclose(steps, steps.round(), atol=1e-9)  # so that all values of the slider are round


def test_controls_have_names_and_rings(page, folder):
    shown = page("mixed")
    browser = shown.browser
    choice = browser.find_element(By.CSS_SELECTOR, "[data-models]")
    ActionChains(browser).send_keys(Keys.TAB, Keys.TAB).perform()
    assert browser.switch_to.active_element == choice
    ring = float(choice.value_of_css_property("outline-width")[:-2])
    facts = browser.find_element(By.CSS_SELECTOR, "[data-model-facts]")
    assert ring > 0
    assert choice.rect["y"] + choice.rect["height"] + ring <= facts.rect["y"]
    for view in VIEWS:
        browser.execute_script("location.hash = arguments[0]", f"#mixed/{view}")
        shown.one("*")
        if view == "file":
            shown.send(folder / "mixed.csv")
        controls = browser.execute_script(CONTROLS)
        assert len(controls) >= 6  # of every view
        for each in controls[:40]:
            assert each.accessible_name.strip(), each.get_attribute("outerHTML")


def test_less_motion(page):
    shown = page("flowers")
    moves = "return getComputedStyle(arguments[0]).transitionDuration"
    bar = shown.one("[data-posterior] .bar")
    assert shown.browser.execute_script(moves, bar) != "0s"
    features = [{"name": "prefers-reduced-motion", "value": "reduce"}]
    shown.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    assert shown.browser.execute_script(moves, bar) == "0s"


def test_a_thousand_classes(page, folder):
    model = suffice.load(folder / "many.suffice")
    shown = page("many")
    lines = shown.wait(lambda: visible_lines(shown), "lines of a curve")
    assert len(lines) == len(set(lines)) == 10
    row = row_of(shown, model, list("xyz"))
    expected = np.sort(model.predict_proba(row)[0])[::-1]
    shown_p = [float(each.get_attribute("data-p")) for each in shown.all("[data-posterior] [data-class]")]
    assert shown_p == pytest.approx(expected[:10], abs=1e-9)
    assert "990 other classes" in shown.one("[data-posterior]").text


def test_many_columns_and_classes(page, folder):
    X, _ = wide_table()
    model = suffice.load(folder / "wide.suffice")
    shown = page("wide")
    shown.one("[data-find]").send_keys("sensor 12")
    assert [each.get_attribute("data-column") for each in shown.all(".field") if each.is_displayed()] == ["sensor 12"]
    shown.enter("sensor 12", 2.5)
    row = row_of(shown, model, list(X))
    assert shown.posterior() == pytest.approx(model.predict_proba(row)[0], abs=1e-9)
    shown.one("[data-find]").clear()
    shown.one("[data-find]").send_keys(" ")
    shown.one("[data-order]").click()
    explanation = model.explain(row)
    strongest = explanation.names[int(np.argmax(np.abs(explanation.parts[0][1:]))) + 1]
    assert shown.all(".field")[0].get_attribute("data-column") == strongest
    shown.all("[data-parts] button")[0].click()
    focused = shown.browser.switch_to.active_element
    assert focused.find_element(By.XPATH, "ancestor::*[@data-column]").get_attribute("data-column") == strongest
