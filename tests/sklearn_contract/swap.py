"""scikit-learn's own tests, with only the import swapped.

The tests ship in scikit-learn's wheel. Their source is read from there, the names under test are imported
from Suffice instead, and the tests are collected here under their own names.
"""

import sys
from pathlib import Path
from types import ModuleType

import sklearn


def swapped(
    name: str,
    module: str,
    ours: list[str],
    also: list[str],
    private: list[str],
    *,
    folder: str = "tests",
    home: str | None = None,
) -> dict[str, object]:
    """Test functions of ``sklearn/<folder>/<name>.py`` on our classes.

    Parameters
    ----------
    name : file name without its ending
    module : the module of scikit-learn whose import is swapped
    ours : names that come from Suffice
    also : names that still come from scikit-learn
    private : tests that reach private names of scikit-learn, left out
    folder : where the tests are
    home : the module of Suffice, if it has another name
    """
    path = Path(sklearn.__file__).parent / folder / f"{name}.py"
    source = path.read_text()
    start = source.index(f"from sklearn.{module} import (")
    stop = source.index(")\n", start) + 2
    theirs = f"from sklearn.{module} import {', '.join(also)}\n" if also else ""
    source = source[:start] + f"from suffice.{home or module} import {', '.join(ours)}\n{theirs}" + source[stop:]
    module_of_tests = ModuleType(f"swapped_{name}")
    sys.modules[module_of_tests.__name__] = module_of_tests  # where pickle finds their functions
    namespace = vars(module_of_tests)
    exec(compile(source, str(path), "exec"), namespace)
    for test in private:
        del namespace[test]
    return {test: body for test, body in namespace.items() if test.startswith("test_")}
