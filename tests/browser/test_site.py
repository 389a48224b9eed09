"""The documentation site, opened from disk: nothing is missing or fetched, search works, phones and dark mode."""

import urllib.parse
from html.parser import HTMLParser
from pathlib import Path

import pytest

from pages import console_messages, network_requests

SITE = Path(__file__).parents[2] / "build" / "docs"
PHONE = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": False}
DESKTOP = {"width": 1200, "height": 900, "deviceScaleFactor": 1, "mobile": False}
CONTRAST = """
const parts = (color) => color.match(/[\\d.]+/g).slice(0, 3).map((each) => each / 255);
const light = (color) => parts(color)
  .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
  .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const ground = light(getComputedStyle(document.body).backgroundColor);
const ink = light(getComputedStyle(document.querySelector("article p")).color);
return [(Math.max(ground, ink) + 0.05) / (Math.min(ground, ink) + 0.05), ground];
"""
RESULTS = """
const done = arguments[arguments.length - 1];
const wait = () => {
  const found = document.querySelectorAll("#search-results ul.search li a");
  const text = document.querySelector("#search-results p")?.textContent ?? ""; // results appear one by one before it
  if (/Search finished|did not match/.test(text)) done([...found].map((each) => each.textContent));
  else setTimeout(wait, 50);
};
wait();
"""


CUT = """
const scrolls = (each) => each && (/auto|scroll/.test(getComputedStyle(each).overflowX) || scrolls(each.parentElement));
const shown = document.querySelectorAll("article *, .prev-next-area *");
return [...shown].filter((each) => {
  const box = each.getBoundingClientRect();
  return !each.closest("math, svg") && box.width > 1 && box.right > innerWidth + 1 && !scrolls(each.parentElement);
}).map((each) => each.textContent.trim().slice(0, 60));
"""


class References(HTMLParser):
    """What a page loads (scripts, styles, images) and what it links to."""

    def __init__(self, text):
        super().__init__()
        self.loaded, self.linked, self.ids = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids.add(found.get("id"))
        if tag == "a":
            self.linked.append(found.get("href"))
        elif tag == "link":
            self.loaded.append(found.get("href"))
        elif tag in {"script", "img", "source", "iframe"}:
            self.loaded.append(found.get("src"))


@pytest.fixture(scope="module")
def site():
    """References of each page by its path."""
    assert (SITE / "index.html").exists(), "The site is not built: run make docs."
    pages = [path for path in sorted(SITE.rglob("*.html")) if "_static" not in path.parts]  # templates of the theme
    return {path: References(path.read_text(encoding="utf-8")) for path in pages}


def written(site):
    """Pages that somebody wrote, and some of the generated ones."""
    names = [path.relative_to(SITE).as_posix() for path in site]
    generated = [name for name in names if "/generated/" in name]
    return [name for name in names if name not in generated] + generated[::12]


def open_page(browser, name, size, scheme="light"):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    browser.get(f"{SITE.as_uri()}/{name}")


def test_every_asset_and_link_exists(site):
    missing = []
    for path, found in site.items():
        for address in {*found.loaded, *found.linked} - {None, ""}:
            parsed = urllib.parse.urlparse(address)
            if parsed.scheme or parsed.netloc:
                if address in found.loaded:
                    missing.append(f"{path.name} loads {address}")
                continue
            target = (path.parent / urllib.parse.unquote(parsed.path)).resolve() if parsed.path else path
            if not target.exists():
                missing.append(f"{path.name}: {address}")
            elif parsed.fragment and target in site and urllib.parse.unquote(parsed.fragment) not in site[target].ids:
                missing.append(f"{path.name}: no place {address}")
    assert not missing


def test_pages_open_from_disk_without_errors_or_requests(browser, site):
    for name in written(site):
        open_page(browser, name, DESKTOP)
        assert (name, console_messages(browser), network_requests(browser)) == (name, [], [])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_a_phone(browser, site, scheme):
    for name in written(site):
        open_page(browser, name, PHONE, scheme)
        wide = browser.execute_script("return document.documentElement.scrollWidth - innerWidth")
        assert (name, wide <= 0) == (name, True)
        assert (name, browser.execute_script(CUT)) == (name, [])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["start.html", "models/gaussian_discriminant_analysis.html", "command.html"])
def test_text_is_readable(browser, name, scheme):
    open_page(browser, name, DESKTOP, scheme)
    contrast, ground = browser.execute_script(CONTRAST)
    assert contrast > 4.5
    assert (ground < 0.2) == (scheme == "dark")


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("Laplace", "Text: naive Bayes for documents > Laplace smoothing"),
        ("calibration", "Calibration"),
        ("spam filter", "A spam filter"),
        ("θ", "Gaussian discriminant analysis > θ and θ0 in several dimensions"),
        ("theta", "Gaussian discriminant analysis > θ and θ0 in several dimensions"),
        ("PoissonNB", "PoissonNB"),
        ("NaiveBayes", "NaiveBayes"),
        ("fit", "Start"),
        ("partial_fit", "Streams"),
        ("online learning", "Streams"),
        ("false positives", "A spam filter"),
        ("class imbalance", "Rare classes: use priors and costs instead of balancing"),
        ("overfitting", "Estimation: mle, map, bayes"),
        ("gda", "Gaussian discriminant analysis"),
    ],
)
def test_search_works_from_disk(browser, words, first):
    open_page(browser, f"search.html?q={urllib.parse.quote(words)}", DESKTOP)
    found = browser.execute_async_script(RESULTS)
    assert found[0] == first, found
    assert console_messages(browser) == network_requests(browser) == []


@pytest.mark.parametrize("letter", ["Σ", "φ", "ϕ", "μ"])
def test_search_finds_the_letters_of_formulas(browser, letter):
    open_page(browser, f"search.html?q={urllib.parse.quote(letter)}", DESKTOP)
    found = browser.execute_async_script(RESULTS)
    assert any(each.startswith("Gaussian discriminant analysis") for each in found[:10]), found


def test_results_lead_to_sections(browser):
    open_page(browser, "search.html?q=covariance", DESKTOP)
    found = browser.execute_async_script(RESULTS)
    assert "Gaussian discriminant analysis > Own covariances" in found[:4]
    assert next(index for index, each in enumerate(found) if each.startswith("0002")) > 4  # decisions come late
    browser.find_element("partial link text", "> Own covariances").click()
    assert browser.execute_script("return document.querySelector(':target h2').textContent").startswith("Own cov")


def test_search_says_that_nothing_was_found(browser):
    open_page(browser, "search.html?q=xyzzyqwerty", DESKTOP)
    assert browser.execute_async_script(RESULTS) == []


def test_every_part_is_in_the_header(browser):
    open_page(browser, "models/naive_bayes.html", DESKTOP)
    links = browser.find_elements("css selector", ".bd-header .navbar-nav > .nav-item > .nav-link")
    parts = ["Start", "User guide", "The models, taught", "The command", "Cheat sheet", "Reference"]
    assert [each.text for each in links if each.text][:6] == parts


def test_exported_names_are_links(site):
    page = next(path for path in site if path.name == "suffice.merge.html")
    assert any("suffice.exceptions.MergeError.html" in each for each in site[page].linked if each)


def test_classes_lead_to_the_pages_that_explain_them(site):
    page = next(path for path in site if path.name == "suffice.GaussianDiscriminant.html")
    assert any("models/gaussian_discriminant_analysis.html" in each for each in site[page].linked if each)


def test_a_list_of_sections_closes_on_a_phone(browser):
    open_page(browser, "models/naive_bayes.html", PHONE)
    browser.find_element("css selector", ".secondary-toggle").click()
    dialog = browser.find_element("css selector", "dialog[open]")
    dialog.find_element("css selector", "a[href='#log-space']").click()
    assert browser.find_elements("css selector", "dialog[open]") == []
    assert browser.execute_script("return document.querySelector(':target h2').textContent").startswith("Log space")


def test_pictures_open_in_full_size(browser):
    open_page(browser, "plotting.html", PHONE)
    browser.find_element("css selector", "article a.picture").click()
    assert browser.current_url.endswith(".png")


def test_formulas_are_drawn(browser, site):
    pages = [path for path in site if "<math" in path.read_text(encoding="utf-8")]
    assert len(pages) >= 9
    for path in pages:
        text = path.read_text(encoding="utf-8")
        assert (path.name, "<merror" in text, "$$" in text) == (path.name, False, False)
        open_page(browser, path.relative_to(SITE).as_posix(), DESKTOP)
        sizes = browser.execute_script(
            "return [...document.querySelectorAll('math')].map((each) => each.getBoundingClientRect().width)"
        )
        assert min(sizes) > 2


def test_pictures_are_drawn(browser, site):
    for name in ("index.html", "start.html", "plotting.html", "models/gaussian_discriminant_analysis.html"):
        open_page(browser, name, DESKTOP)
        widths = browser.execute_script(
            "return [...document.querySelectorAll('article img')].map((each) => each.naturalWidth)"
        )
        assert widths
        assert min(widths) > 100
