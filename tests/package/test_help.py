"""What `help` shows: a summary, an example, related names and all parameters of each public name and method."""

import importlib
import inspect
import itertools
import pydoc

import pytest
from numpydoc.docscrape import ClassDoc, FunctionDoc

import suffice
from package.test_exports import PUBLIC
from suffice.estimators import GenerativeClassifier
from suffice.testing import LAWS

VALUES = ("suffice.report", "suffice.sources", "suffice.statistics", "suffice.tables")  # the library makes them
ORDER = ["Parameters", "Attributes", "Methods", "Returns", "Yields", "Raises", "Warns", "Other Parameters"]
ORDER = [*ORDER, "See Also", "Notes", "References", "Examples"]

# Public names without an example, and the reason.
EXEMPT = {
    "suffice.cli.main": "the command has its own help",
    "suffice.exceptions.columns_at": "words messages of the library",
    "suffice.exceptions.counted": "words messages of the library",
    "suffice.exceptions.did_you_mean": "words messages of the library",
    "suffice.exceptions.listed": "words messages of the library",
    "suffice.exceptions.short": "words messages of the library",
    "suffice.exceptions.similar_name": "words messages of the library",
    "suffice.exceptions.warn_user": "words messages of the library",
    "suffice.sources.files.Batch": "a source makes it",
    "suffice.sources.files.CellFormat": "a source makes it",
    "suffice.sources.files.RowLocation": "a source makes it",
    "suffice.sources.files.RowLocations": "a source makes it",
    "suffice.sources.files.is_labelled_source": "for the library alone",
    "suffice.sources.files.is_source": "for the library alone",
}
NEVER_RETURNS = {"suffice.GenerativeEnsemble.linear_form"}


def named(path):
    """The object of a dotted path."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def is_described(path):
    """Whether a name is a class or a function that needs help; comments describe variables."""
    return path not in EXEMPT and (inspect.isclass(named(path)) or inspect.isfunction(named(path)))


NAMES = [path for module in PUBLIC for name in PUBLIC[module] if is_described(path := f"{module}.{name}")]


def needs_help_of_methods(path):
    """Whether the methods of a public name are part of the interface for users."""
    found = named(path)
    results = ("suffice.comparison.", "suffice.diagnostics.", "suffice.monitoring.")
    results = (*results, "suffice.text.WordCounts", "suffice.model.Conditional")
    return inspect.isclass(found) and (issubclass(found, GenerativeClassifier) or path.startswith(results))


def methods():
    """Each method that this library defines, once: the path of a class that has it, and its name."""
    found = {}
    for path in filter(needs_help_of_methods, NAMES):
        for name, member in inspect.getmembers_static(named(path)):
            function = inspect.unwrap(getattr(member, "__func__", member))
            if not name.startswith("_") and inspect.isfunction(function) and function.__module__.startswith("suffice"):
                found.setdefault(function, (path, name))
    return list(found.values())


METHODS = methods()


def parsed(path):
    found = named(path)
    return ClassDoc(found) if inspect.isclass(found) else FunctionDoc(found)


def parsed_method(path, name):
    method = getattr(named(path), name)
    return FunctionDoc(method, doc=inspect.getdoc(method))


def check_example(doc):
    assert " ".join(doc["Summary"]).strip()
    assert any(">>>" in line for line in doc["Examples"])


def check_order(text):
    lines = text.splitlines()
    headings = [
        (line, under)
        for line, under in itertools.pairwise(lines)
        if under and set(under) == {"-"} and line[:1].isupper()
    ]
    assert all(len(line) == len(under) for line, under in headings)
    order = [ORDER.index(line) for line, _ in headings]
    assert order == sorted(set(order))


def check_parameters(doc, parameters):
    documented = [
        name.strip().lstrip("*\\")
        for section in ("Parameters", "Attributes")
        for each in doc[section]
        for name in each.name.split(",")
    ]
    assert [name for name in parameters if name not in documented] == []


def check_results(doc, function):
    annotation = inspect.signature(function).return_annotation
    assert doc["Returns"] or doc["Yields"] or annotation in (None, "None")


def related_names(doc):
    return [(name, text) for names, text in doc["See Also"] for name, _ in names]


def resolved(name, module, owner=None):
    """The object that a name in See Also stands for: a full path, a method of a class, or a name of a module."""
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
    return getattr(owner or importlib.import_module(module), name, None)


@pytest.mark.parametrize("path", NAMES)
def test_summary_and_example(path):
    check_example(parsed(path))


@pytest.mark.parametrize(("path", "name"), METHODS)
def test_summary_and_example_of_a_method(path, name):
    check_example(parsed_method(path, name))


@pytest.mark.parametrize("path", NAMES)
def test_sections_are_in_order(path):
    check_order(inspect.getdoc(named(path)))


@pytest.mark.parametrize(("path", "name"), METHODS)
def test_sections_of_a_method_are_in_order(path, name):
    check_order(inspect.getdoc(getattr(named(path), name)))


@pytest.mark.parametrize("path", NAMES)
def test_related_names(path):
    found, related = named(path), related_names(parsed(path))
    assert related
    for name, _ in related:
        target = resolved(name, found.__module__)
        assert target is not None, name
        assert target is not found, name
    assert all(text for _, text in related)


@pytest.mark.parametrize(("path", "name"), METHODS)
def test_related_names_of_a_method(path, name):
    owner, related = named(path), related_names(parsed_method(path, name))
    assert related
    for other, text in related:
        assert other != name
        assert resolved(other, owner.__module__, owner) is not None, other
        assert text, other


@pytest.mark.parametrize("path", NAMES)
def test_every_parameter_is_documented(path):
    found = named(path)
    if inspect.isclass(found) and (inspect.isabstract(found) or issubclass(found, BaseException)):
        return
    if found in LAWS or (inspect.isclass(found) and path.startswith(VALUES)):
        return  # the module of the laws describes their parameters
    check_parameters(parsed(path), [name for name in inspect.signature(found).parameters if not name.startswith("_")])


@pytest.mark.parametrize(("path", "name"), METHODS)
def test_every_parameter_of_a_method_is_documented(path, name):
    parameters = inspect.signature(getattr(named(path), name)).parameters
    check_parameters(parsed_method(path, name), [each for each in parameters if each != "self"])


@pytest.mark.parametrize("path", NAMES)
def test_results_are_documented(path):
    if inspect.isfunction(named(path)):
        check_results(parsed(path), named(path))


@pytest.mark.parametrize(("path", "name"), METHODS)
def test_results_of_a_method_are_documented(path, name):
    if f"{path}.{name}" not in NEVER_RETURNS:
        check_results(parsed_method(path, name), getattr(named(path), name))


def test_exemptions_are_public_names():
    assert [path for path in EXEMPT if path.rpartition(".")[2] not in PUBLIC[path.rpartition(".")[0]]] == []


def test_the_map_of_the_library():
    text = pydoc.render_doc(suffice, renderer=pydoc.plaintext)
    start = text.split("PACKAGE CONTENTS")[0]
    names = [name for name in suffice.__all__ if not name.endswith(("Error", "Warning")) and name != "__version__"]
    assert [name for name in names if name not in start] == []
    assert ">>> " in start
