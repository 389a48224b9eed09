"""What the command imports: scikit-learn and pandas take longer to import than a model to read."""

import json
import subprocess
import sys

import pytest

from suffice import GaussianDiscriminant, NaiveBayes, TextNaiveBayes

CHECK = """
import json, sys
from suffice.cli import main
heavy = {"sklearn", "pandas", "scipy.stats", "scipy.optimize", "suffice.estimators.base", "suffice.comparison"}
heavy |= {"suffice.text.mail"}
for words in json.loads(sys.argv[1]):
    sys.argv = ["suffice", *words]
    try:
        main()
    except SystemExit as leaving:
        assert not leaving.code, leaving.code
    assert not heavy & set(sys.modules), (words, heavy & set(sys.modules))
"""
TEXTS = ["you win free money", "free lottery win", "meeting at noon", "lunch at noon today"]
ROWS = "a,b\n1.0,2.0\n5.0,6.5\n"


@pytest.fixture(params=["NaiveBayes", "GaussianDiscriminant", "own covariances", "TextNaiveBayes"])
def saved(request, tmp_path):
    """A model file, and rows to predict for."""
    import pyarrow as pa

    data, model = tmp_path / "rows.csv", tmp_path / "m.suffice"
    if request.param == "TextNaiveBayes":
        TextNaiveBayes().fit(TEXTS, ["spam", "spam", "ham", "ham"]).save(model)
        data.write_text("text\n" + "\n".join(TEXTS) + "\n")
        return model, data
    X = pa.table({"a": [1.0, 2.0, 1.5, 5.0, 6.0, 4.5], "b": [2.0, 1.0, 1.0, 6.0, 5.0, 7.5]})
    kinds = {"NaiveBayes": NaiveBayes(), "GaussianDiscriminant": GaussianDiscriminant()}
    kinds.get(request.param, GaussianDiscriminant("own")).fit(X, list("uuuvvv")).save(model)
    data.write_text(ROWS)
    return model, data


def assert_imports_nothing_heavy(runs, *more):
    """Run several commands in one new process, which must not import certain modules."""
    check = CHECK.replace('"suffice.text.mail"', ", ".join(f'"{each}"' for each in ("suffice.text.mail", *more)))
    done = subprocess.run([sys.executable, "-c", check, json.dumps(runs)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_model_is_read_without_scikit_learn(saved, request):
    model, data = map(str, saved)
    special = ("scipy.special", "scipy.linalg", "email") if "[NaiveBayes]" in request.node.name else ()
    assert_imports_nothing_heavy([["inspect", model], ["predict", model, data]], *special)


def test_help_imports_no_numbers():
    assert_imports_nothing_heavy([["--help"], ["--version"], ["fit", "--help"]], "numpy", "suffice.model")


def test_the_command_keeps_pandas_usable():
    check = """
import sys
from suffice.cli.pandas_free import keep_pandas_out
keep_pandas_out()
import pyarrow as pa
assert pa.array(["a", None]).to_numpy(zero_copy_only=False).tolist() == ["a", None]
assert "pandas" not in sys.modules
import pandas as pd
assert pa.table({"a": [1.5, 2.0]}).to_pandas()["a"].tolist() == [1.5, 2.0]
assert pa.array(pd.Series(["a", None])).to_pylist() == ["a", None]
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", check], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
