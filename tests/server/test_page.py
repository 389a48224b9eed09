"""The files of the page: complete, without inline scripts and styles, and kept by browsers until they change."""

import re
from html.parser import HTMLParser

import pytest

from asgi import ask
from suffice.server.app import build
from suffice.server.hosting import Hosts
from suffice.server.page import SHARED
from suffice.server.settings import Settings

MODULES = ("main", "server", "predict", "form", "curve", "teach", "file", "file_table", "drift", "about")
IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w.]+)";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?:async )?(?:function\*?|class|const) (\w+)", re.MULTILINE)
HTML_FROM_TEXT = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "cssText")


@pytest.fixture(scope="module")
def app():
    return build(Hosts([]), Settings())


def text_of(app, path):
    """The text of a file that is served."""
    reply = ask(app, "GET", path)
    assert reply.status == 200, path
    return reply.body.decode()


class Elements(HTMLParser):
    """The elements of a page, with their attributes."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


def modules_of(app):
    """The texts of all modules, from the one that the page starts with."""
    found, waiting = {}, ["main.js"]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = text_of(app, f"/assets/{name}")
            waiting += [other for _, other in IMPORT.findall(found[name])]
    return found


def test_the_page_has_only_files_of_the_server(app):
    reply = ask(app, "GET", "/")
    assert reply.header("content-type") == "text/html; charset=utf-8"
    assert "script-src 'self'; style-src 'self'" in reply.header("content-security-policy")
    for tag, attributes in Elements(reply.body.decode()).found:
        assert tag != "style"
        assert not [name for name in attributes if name == "style" or name.startswith("on")], attributes
        address = attributes.get("src") or attributes.get("href") or ""
        assert not re.search("^/|:", address), address  # the page works below a prefix of a proxy, too
        if tag == "script" or address.startswith("assets/"):
            assert text_of(app, f"/{address}")


def test_modules_import_what_others_export(app):
    modules = modules_of(app)
    assert {f"{name}.js" for name in MODULES} < set(modules)
    for name, text in modules.items():
        for names, other in IMPORT.findall(text):
            wanted = {each.strip() for each in names.split(",")}
            assert wanted <= set(EXPORT.findall(modules[other])), (name, other)
            used = IMPORT.sub("", text)
            assert [each for each in wanted if not re.search(rf"\b{each}\b", used)] == [], name
    assert set(SHARED) - {"report.css"} <= set(modules)


def test_no_text_becomes_markup(app):
    for name, text in modules_of(app).items():
        assert [each for each in HTML_FROM_TEXT if each in text] == [], name


def test_elements_that_modules_look_for_exist(app):
    """A part of the page that is renamed in one place only."""
    page = text_of(app, "/")
    wanted = {each for text in modules_of(app).values() for each in re.findall(r'\bat\("([\w-]+)"\)', text)}
    assert len(wanted) > 60
    assert [each for each in sorted(wanted) if not re.search(rf"\bdata-{each}[\s=>]", page)] == []


def test_a_browser_keeps_files_until_they_change(app):
    for path in ("/", "/assets/main.js", "/assets/report.css", "/assets/icon.svg"):
        first = ask(app, "GET", path)
        assert first.header("cache-control") == "no-cache"
        again = ask(app, "GET", path, [("If-None-Match", f'"other", {first.header("etag")}')])
        assert (again.status, again.body) == (304, b"")
        assert ask(app, "GET", path, [("If-None-Match", '"other"')]).status == 200


@pytest.mark.parametrize("name", ["index.html", "page.py", "none.js", "scoring.js", "%2e%2e%2fpage.py", "main.js%00"])
def test_other_files_are_not_served(app, name):
    reply = ask(app, "GET", f"/assets/{name}")
    assert reply.problem["status"] in (400, 404)
