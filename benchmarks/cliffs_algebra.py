"""Large covariances, leave-one-out with a prior, and the start of the command: work that grows fast."""

import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Self

import sklearn.discriminant_analysis
from sklearn.datasets import load_breast_cancer, load_iris

import data
from jobs import LDA, QDA, SKLEARN, Job, Scale, Side
from suffice import GaussianDiscriminant, NaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.model_selection import leave_one_out

COVARIANCES = "Large covariances, leave-one-out, and the start of the command"


class LeaveOneOut:
    """Held-out posteriors of all rows of a model."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, y: Any) -> Self:
        leave_one_out(self.model, X, y)
        return self


class Process:
    """A process of its own that runs Python with these arguments."""

    def __init__(self, *arguments: str) -> None:
        self.arguments = arguments

    def fit(self, X: Any, y: Any) -> Self:
        subprocess.run([sys.executable, *self.arguments], check=True, capture_output=True)
        return self


def covariance_jobs(scale: Scale) -> list[Job]:
    shapes = [(20_000, 1_000, 5), (5_000, 3_000, 5)] if scale.rows >= 10**6 else [(4_000, 300, 5)]
    many = (scale.many_rows, 200, 100) if scale.rows >= 10**6 else (5_000, 64, 20)

    def sides(shape: tuple[int, int, int], ours: Callable[[], Any], theirs: Callable[[], Any], _: Scale) -> list[Side]:
        return [Side(model(), *data.numbers(*shape)) for model in (ours, theirs)]

    def leaving(_: Scale) -> list[Side]:
        rows = load_breast_cancer(return_X_y=True)
        conjugate = GaussianDiscriminant("own", estimation="bayes")
        return [Side(LeaveOneOut(model), *rows) for model in (conjugate, GaussianDiscriminant("own", estimation="mle"))]

    def starting(_: Scale) -> list[Side]:
        X, y = load_iris(return_X_y=True)
        path = Path(tempfile.mkdtemp()) / "iris.suffice"
        NaiveBayes().fit(X, y).save(path)
        command = Process("-m", "suffice", "inspect", str(path))
        return [Side(each, X, y) for each in (command, Process("-c", "import sklearn.base"))]

    discriminant = sklearn.discriminant_analysis
    shrunk = partial(GaussianDiscriminant, shrinkage="ledoit_wolf")
    theirs = partial(discriminant.LinearDiscriminantAnalysis, "lsqr", shrinkage="auto")
    quadratic = partial(sides, many, QuadraticDiscriminantAnalysis, discriminant.QuadraticDiscriminantAnalysis)
    fit = ("fit",)
    return [
        Job(
            COVARIANCES,
            f'… shrinkage="ledoit_wolf", {_words(shapes[0])}',
            partial(sides, shapes[0], shrunk, theirs),
            SKLEARN,
            {"fit": 1.0},
            verbs=fit,
        ),
        *(
            Job(
                COVARIANCES,
                f"LinearDiscriminantAnalysis, {_words(shape)}",
                partial(sides, shape, LinearDiscriminantAnalysis, GaussianDiscriminant),
                "GaussianDiscriminant",
                {"fit": 1 / 1.3},
                LDA,
                fit,
            )
            for shape in shapes
        ),
        Job(
            COVARIANCES,
            f"QuadraticDiscriminantAnalysis, {_words(many)}",
            quadratic,
            SKLEARN,
            {"predict": 5},
            QDA,
            same=True,
        ),
        Job(COVARIANCES, "leave-one-out with a prior, 569 × 30", leaving, "without a prior", {"fit": 0.16}, verbs=fit),
        Job(COVARIANCES, "suffice inspect, a process", starting, "import sklearn.base", {"fit": 1.0}, verbs=fit),
    ]


def _words(shape: tuple[int, int, int]) -> str:
    return f"{shape[0]:,} × {shape[1]:,}, {shape[2]} classes"
