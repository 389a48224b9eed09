"""scikit-learn's own tests, with only the import swapped.

The tests ship in scikit-learn's wheel. Their source is read from there, the names under test are imported
from Suffice instead, and the tests are collected here under their own names.
"""

from pathlib import Path

import sklearn


def swapped(name: str, module: str, ours: list[str], also: list[str], private: list[str]) -> dict[str, object]:
    """Test functions of ``sklearn/tests/<name>.py`` on our classes.

    Parameters
    ----------
    name : file name without its ending
    module : the module of scikit-learn whose import is swapped
    ours : names that come from Suffice
    also : names that still come from scikit-learn
    private : tests that reach private names of scikit-learn, left out
    """
    path = Path(sklearn.__file__).parent / "tests" / f"{name}.py"
    source = path.read_text()
    start = source.index(f"from sklearn.{module} import (")
    stop = source.index(")\n", start) + 2
    theirs = f"from sklearn.{module} import {', '.join(also)}\n" if also else ""
    source = source[:start] + f"from suffice.{module} import {', '.join(ours)}\n{theirs}" + source[stop:]
    namespace: dict[str, object] = {"__name__": name}
    exec(compile(source, str(path), "exec"), namespace)
    for test in private:
        del namespace[test]
    return {test: body for test, body in namespace.items() if test.startswith("test_")}
