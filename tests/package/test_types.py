"""A type checker finds misspelled names and settings, and knows what methods return."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

# Each line ends with the code of the error that mypy reports there, or with the type of the expression.
CODE = """
import numpy as np

import suffice
from suffice.naive_bayes import GaussianNB
from suffice.discriminant_analysis import LinearDiscriminantAnalysis

X, y = np.zeros((4, 2)), ["a", "a", "b", "b"]
reveal_type(suffice.NaiveBayes().fit(X, y))  # NaiveBayes
reveal_type(suffice.NaiveBayes().partial_fit(X, y).merge(suffice.NaiveBayes()).remove(X, y).decay(0.5))  # NaiveBayes
reveal_type(suffice.NaiveBayes().with_prior("uniform").set_params(smoothing=2.0))  # NaiveBayes
reveal_type(suffice.TextNaiveBayes().prune(2))  # TextNaiveBayes
reveal_type(suffice.GaussianDiscriminant().fit(X, y).decision_function(X))  # ndarray
reveal_type(GaussianNB().fit(X, y))  # GaussianNB
reveal_type(LinearDiscriminantAnalysis().fit(X, y).merge(LinearDiscriminantAnalysis()))  # LinearDiscriminantAnalysis
reveal_type(suffice.load("model.suffice"))  # GenerativeClassifier
reveal_type(suffice.fit("data.csv", "y"))  # GenerativeEnsemble
reveal_type(suffice.fit("data.csv", "y", model="naive-bayes"))  # NaiveBayes
reveal_type(suffice.fit("data.csv", "y", model="text", bad_rows="skip"))  # TextNaiveBayes
reveal_type(suffice.fit("data.csv", "y", model=suffice.GaussianDiscriminant))  # GaussianDiscriminant
reveal_type(suffice.fit("data.csv", "y", model=GaussianNB()))  # GaussianNB
reveal_type(suffice.merge([GaussianNB()]))  # GaussianNB
reveal_type(suffice.NaiveBayes().fit(X, y).score(X, y))  # float
suffice.NaiveBayes().fit(X, y).predict_prob(X)  # attr-defined
suffice.load("model.suffice").predict_prob(X)  # attr-defined
suffice.TextNaiveBayes().vocabulary  # attr-defined
LinearDiscriminantAnalysis().transfrom(X)  # attr-defined
suffice.NaiveBayes(estimation="MAP")  # arg-type
suffice.NaiveBayes(unseen="drop")  # arg-type
suffice.NaiveBayes(prior="flat")  # arg-type
suffice.NaiveBayes(impossible="skip")  # arg-type
suffice.NaiveBayes(calibrate="platt")  # arg-type
suffice.TextNaiveBayes("binomial")  # arg-type
suffice.TextNaiveBayes(stop_words=7)  # arg-type
suffice.GaussianDiscriminant("tied")  # arg-type
suffice.GaussianDiscriminant(shrinkage="lasso")  # arg-type
LinearDiscriminantAnalysis(solver="qr")  # arg-type
"""


def test_a_type_checker_sees_names_settings_and_results(tmp_path):
    """One run checks all lines, with the cache that ``make check`` fills."""
    path = tmp_path / "user.py"
    path.write_text(CODE)
    run = [sys.executable, "-m", "mypy", "--no-error-summary", "--show-error-codes", str(path)]
    said = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    found = {}
    for line in said.splitlines():
        parts = re.match(r".*user\.py:(\d+): (?:error: .*\[(.*)\]|note: Revealed type is \"(.*)\")", line)
        if parts:
            found[int(parts[1])] = parts[2] or re.sub(r"\[.*", "", parts[3]).rsplit(".", 1)[-1].rstrip("?*")
    lines = enumerate(CODE.splitlines(), 1)
    assert found == {i: line.split("  # ")[1] for i, line in lines if "  # " in line}
