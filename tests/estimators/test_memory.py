"""Resident memory of many rows: 22 MB beyond the model for a fit, and beyond the output for an answer.

In a process of its own for each form of the rows, since what another test left in the allocator would hide some.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PATHS = [Path(__file__).parents[1] / folder for folder in ("support", "learning")]
SPARE = 22  # MB; the smallest array of rows has 23
SCRIPT = """
import os, pickle, sys
import numpy as np
from scipy import sparse
sys.path[:0] = sys.argv[1].split(os.pathsep)
from test_passes import FORMS, MODELS, SPARSE, drawn, verbs
from watching import resident

form, names, n = sys.argv[2], sys.argv[3].split(","), 150_000
for name in names:
    few = drawn(name, 2000)
    for _, run in verbs(*few):
        run()  # what is loaded at first use is not what rows need
    model, X, y = drawn(name, n)
    X = sparse.csr_matrix(X) if form == "sparse" else FORMS[form](X)
    for verb, run in verbs(model, X, y):
        result, taken = resident(run)
        if taken is None:
            sys.exit()  # no such measure on this system
        allowed = len(pickle.dumps(model)) if verb == "fit" else result.nbytes
        print(name, verb, (taken - allowed) / 2**20)
"""
FORMS = {
    "rows": ["GaussianNB", "NaiveBayes", "LDA", "QDA"],
    "columns": ["GaussianNB", "LDA", "BernoulliNB", "MultinomialNB", "CategoricalNB"],
    "float32": ["GaussianNB", "LDA", "BernoulliNB", "MultinomialNB"],
    "sparse": ["BernoulliNB", "MultinomialNB", "ComplementNB", "PoissonNB"],
}
COUNTS = ["BernoulliNB", "MultinomialNB", "ComplementNB", "PoissonNB", "CategoricalNB"]
RUNS = [*FORMS.items(), ("rows", COUNTS)]


@pytest.mark.parametrize(("form", "names"), RUNS, ids=[*FORMS, "rows of counts"])
def test_rows_need_little_beyond_themselves(form, names):
    command = [sys.executable, "-c", SCRIPT, os.pathsep.join(map(str, PATHS)), form, ",".join(names)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    taken = {tuple(line.split()[:2]): float(line.split()[2]) for line in run.stdout.splitlines()}
    assert len(taken) in (0, 3 * len(names))
    assert {key: round(size) for key, size in taken.items() if size > SPARE} == {}
