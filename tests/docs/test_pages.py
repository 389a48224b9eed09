"""Pages, pictures and the reference agree with each other and with the library."""

import importlib.util
import re
from pathlib import Path

import pytest

from suffice import exceptions

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
TEACHING = sorted(path for path in (DOCS / "models").glob("*.md") if path.name != "index.md")
FORMULA_LINE = re.compile(r"\|.*\| *`(test_\w+)` *\|")
LINK = re.compile(r"(?<!!)\[[^]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")


def loaded(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


pictures = loaded("pictures", DOCS / "images" / "make.py")
exports = loaded("exports", ROOT / "tests" / "package" / "test_exports.py")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files(path):
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = [each for each in LINK.findall(re.sub(r"`[^`]*`", "", text)) if "://" not in each]
    assert [each for each in targets if not (path.parent / each).exists()] == []


def test_every_picture_is_made_by_a_script_and_shown():
    made = {name for names in pictures.pictures_by_page().values() for name in names} | set(pictures.MADE_ELSEWHERE)
    assert made == {path.stem for path in (DOCS / "images").glob("*.png")}


@pytest.mark.parametrize("path", TEACHING, ids=lambda path: path.stem)
def test_every_formula_has_a_test(path):
    """The tests themselves compare attributes with the formulas."""
    section = path.read_text(encoding="utf-8").partition("## Formulas")[2]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    assert lines, "The page has no table of formulas."
    assert [line for line in lines if not FORMULA_LINE.fullmatch(line)] == []
    tests = "".join(
        (ROOT / each).read_text(encoding="utf-8") for each in re.findall(r"`(tests/docs/test_\w+\.py)`", section)
    )
    assert [line for line in lines if f"def {FORMULA_LINE.fullmatch(line)[1]}(" not in tests] == []


def test_the_reference_lists_everything_public():
    listed = set()
    for page in (DOCS / "reference").glob("*.md"):
        for module, names in re.findall(
            r"currentmodule:: (\S+)\n.*?:toctree: generated\n\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL
        ):
            listed |= {id(getattr(importlib.import_module(module), name)) for name in names.split()}
    missing = [
        f"{module}.{name}"
        for module, names in exports.PUBLIC.items()
        if module != "suffice.cli"
        for name in names
        if name != "__version__" and id(getattr(importlib.import_module(module), name)) not in listed
    ]
    assert missing == []


def test_exceptions_can_be_imported_from_the_package():
    """As the page of exceptions says."""
    import suffice

    classes = {
        name
        for name in exceptions.__all__
        if isinstance(getattr(exceptions, name), type) and issubclass(getattr(exceptions, name), BaseException)
    }
    assert classes - set(suffice.__all__) == {"ConvergenceWarning"}


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150
