"""What `help` shows: a summary, an example, related names and all parameters of each public name."""

import importlib
import inspect
import itertools
import pydoc

import pytest
from numpydoc.docscrape import ClassDoc, FunctionDoc

import suffice
from package.test_exports import PUBLIC

MODULES = [
    "suffice",
    "suffice.averaged_dependence",
    "suffice.comparison",
    "suffice.diagnostics",
    "suffice.discriminant_analysis",
    "suffice.ensemble",
    "suffice.exceptions",
    "suffice.families",
    "suffice.model_selection",
    "suffice.naive_bayes",
    "suffice.plotting",
    "suffice.report",
    "suffice.sources",
    "suffice.statistics",
    "suffice.tables",
    "suffice.text",
    "suffice.text.mail",
]
VALUES = ("suffice.report", "suffice.sources", "suffice.statistics", "suffice.tables")  # the library makes them
ORDER = ["Parameters", "Attributes", "Methods", "Returns", "Yields", "Raises", "Warns", "Other Parameters"]
ORDER = [*ORDER, "See Also", "Notes", "References", "Examples"]


def named(path):
    """The object of a dotted path."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def has_help(path):
    """Whether a name is a class or a function; the functions of the exceptions word messages of the library."""
    found = named(path)
    return inspect.isclass(found) or (inspect.isfunction(found) and not path.startswith("suffice.exceptions"))


NAMES = [path for module in MODULES for name in PUBLIC[module] if has_help(path := f"{module}.{name}")]


def parsed(path):
    found = named(path)
    return ClassDoc(found) if inspect.isclass(found) else FunctionDoc(found)


def headings(path):
    lines = inspect.getdoc(named(path)).splitlines()
    return [
        (line, under)
        for line, under in itertools.pairwise(lines)
        if under and set(under) == {"-"} and line[:1].isupper()
    ]


@pytest.mark.parametrize("path", NAMES)
def test_summary_and_example(path):
    doc = parsed(path)
    assert " ".join(doc["Summary"]).strip()
    assert any(">>>" in line for line in doc["Examples"])


@pytest.mark.parametrize("path", NAMES)
def test_sections_are_in_order(path):
    found = headings(path)
    assert all(len(line) == len(under) for line, under in found)
    places = [ORDER.index(line) for line, _ in found]
    assert places == sorted(set(places))


@pytest.mark.parametrize("path", NAMES)
def test_related_names(path):
    found = named(path)
    related = [(name, words) for names, words in parsed(path)["See Also"] for name, _ in names]
    assert related
    for name, _ in related:
        target = resolved(name, found)
        assert target is not None, name
        assert target is not found, name
    assert all(words for _, words in related)


def resolved(name, found):
    """The object that a name in See Also stands for: a full path, or a name of the same module or its package."""
    if name.startswith("suffice."):
        parts = name.split(".")
        for cut in range(len(parts), 0, -1):
            try:
                target = importlib.import_module(".".join(parts[:cut]))
            except ModuleNotFoundError:
                continue
            for part in parts[cut:]:
                target = getattr(target, part, None)
            return target
    return getattr(importlib.import_module(found.__module__), name, None)


@pytest.mark.parametrize("path", NAMES)
def test_every_parameter_is_documented(path):
    found = named(path)
    if inspect.isclass(found) and (inspect.isabstract(found) or issubclass(found, BaseException)):
        return
    if inspect.isclass(found) and path.startswith(VALUES):
        return
    parameters = [name for name in inspect.signature(found).parameters if not name.startswith("_")]
    doc = parsed(path)
    documented = [
        name.strip().lstrip("*\\")
        for section in ("Parameters", "Attributes")
        for each in doc[section]
        for name in each.name.split(",")
    ]
    assert [name for name in parameters if name not in documented] == []


@pytest.mark.parametrize("path", NAMES)
def test_results_are_documented(path):
    found = named(path)
    if not inspect.isfunction(found):
        return
    doc = parsed(path)
    annotation = inspect.signature(found).return_annotation
    assert doc["Returns"] or doc["Yields"] or annotation in (None, "None")


def test_the_map_of_the_library():
    text = pydoc.render_doc(suffice, renderer=pydoc.plaintext)
    start = text.split("PACKAGE CONTENTS")[0]
    names = [name for name in suffice.__all__ if not name.endswith(("Error", "Warning")) and name != "__version__"]
    assert [name for name in names if name not in start] == []
    assert ">>> " in start
