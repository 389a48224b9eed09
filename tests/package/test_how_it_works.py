"""docs/how_it_works.md names what exists, and its walks match what is called."""

import importlib
import re
import sys
from pathlib import Path

import pandas as pd
import pytest

import suffice

PAGE = (Path(__file__).parents[2] / "docs" / "how_it_works.md").read_text()
NAMES = sorted(set(re.findall(r"`(suffice(?:\.\w+)+)", PAGE)))
FRAME = pd.DataFrame({"size": [1.0, 2.0, 7.0, 9.0], "red": [True, True, False, True], "kind": ["a", "a", "b", None]})
LABELS = ["small", "small", "large", "large"]


def found(name):
    """The object of a dotted name."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:end]))
        except ImportError:
            continue
        for part in parts[end:]:
            value = vars(value)[part] if isinstance(value, type) and part in vars(value) else getattr(value, part)
        return value
    raise AssertionError(name)


def walk(heading):
    """The calls of a walk, in order."""
    section = PAGE[PAGE.index(f"## Walkthrough: {heading}") :].split("\n## ")[0]
    return re.findall(r"^\| `(suffice[\w.]+)", section, flags=re.M)


def code_of(name):
    value = found(name)
    for attribute in ("__func__", "func", "fget"):
        value = getattr(value, attribute, value)
    return value.__code__


def calls_of(action):
    """The code of each call in the package, in order."""
    root, calls = str(Path(suffice.__file__).parent), []

    def note(frame, event, argument):
        if event == "call" and frame.f_code.co_filename.startswith(root):
            calls.append(frame.f_code)

    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("name", NAMES)
def test_what_the_page_names_exists(name):
    assert found(name) is not None


def test_the_page_names_every_room():
    rooms = {path.parent.name for path in Path(suffice.__file__).parent.glob("*/__init__.py")}
    assert [room for room in rooms if f"`{room}/`" not in PAGE] == []


@pytest.mark.parametrize("heading", ["fit", "predict"])
def test_walks_match_the_code(heading):
    model = suffice.NaiveBayes().fit(FRAME, LABELS)
    action = {"fit": lambda: suffice.NaiveBayes().fit(FRAME, LABELS), "predict": lambda: model.predict_proba(FRAME)}
    calls, steps = calls_of(action[heading]), walk(heading)
    assert len(steps) > 5
    at = 0
    for step in steps:
        code = code_of(step)
        assert code in calls[at:], f"{step} is not called after the steps before it"
        at = calls.index(code, at)
