"""`Profile`: what a model says of training rows that it has not learned, as sums; the statistics do not have it.

`suffice.fit` scores rows that are held out anyway, and keeps with the model how their log p(x), their posteriors and
the numbers of their columns are distributed. `suffice.monitoring` compares later rows with it. Like a calibration, it
stays as it is when the model learns or forgets rows. What it says of columns then still holds, but what it says of
scores is about another model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.exceptions import ModelFileError
from suffice.numerics.types import Float
from suffice.statistics import ClassAxis

__all__ = ["MOST_CLASSES", "Profile", "posterior_rows"]

OTHER_WEIGHT = 0.01  # share of the weight that a model may learn or forget before it counts as another one
MOST_CLASSES = 100  # whose posteriors have a covariance; of more classes, each has a variance


@dataclass(frozen=True, eq=False)
class Profile:
    """Sums over rows that were held out of the model that scored them.

    Attributes
    ----------
    classes : ClassAxis
        Classes of the posteriors.
    prior : array of shape (K,)
        Class prior of the posteriors.
    n_rows : int
        Number of rows.
    weight, squares : float
        Sum of their weights, and of the squares of these.
    names, scales : tuple
        Column and scale of each number of a row; see `suffice.learning.watched_columns`.
    cuts : tuple of arrays
        Upper ends of the bins of each number, but the last.
    bins : array of shape (C,)
        Weight of each bin, number after number; the last bin of each number is that of missing cells.
    moments : array of shape (5, D)
        Weight, mean and centred sums of the powers 2, 3 and 4 of each number.
    posterior : array of shape (K + 1, K)
        Sum of the posteriors, and of their outer products; of more than 100 classes (2, K), the sum of the squares.
    impossible : float
        Weight of the rows that have probability zero in every class.
    labels : array of shape (K,)
        Weight of the labels.
    calibration : array of shape (3, 15)
        By the probability of the most probable class: weight, Σ p, and weight of correct predictions.
    scores : array of shape (7,)
        See `suffice.monitoring.Window`.
    learned : array of shape (K,), or None
        Weight of the rows of each class that the model had learned; None in files of earlier versions.
    """

    classes: ClassAxis
    prior: Float
    n_rows: int
    weight: float
    squares: float
    names: tuple[object, ...]
    scales: tuple[str, ...]
    cuts: tuple[Float, ...]
    bins: Float
    moments: Float
    posterior: Float
    impossible: float
    labels: Float
    calibration: Float
    scores: Float
    learned: Float | None = None

    def describes(self, weights: Float) -> bool:
        """Whether its scores are those of a model that has learned rows of these weights, or nearly these."""
        if self.learned is None:
            return True
        if self.learned.shape != weights.shape:
            return False
        return float(np.abs(weights - self.learned).sum()) <= OTHER_WEIGHT * float(self.learned.sum())

    def check(self) -> None:
        """Raise `ModelFileError` unless the sums have the shapes and values that sums of rows can have."""
        d, k = len(self.names), len(self.classes)
        texts = isinstance(self.scales, tuple) and all(isinstance(each, str) for each in self.scales)
        arrays = isinstance(self.cuts, tuple) and all(
            isinstance(each, np.ndarray) and each.dtype == np.float64 and each.ndim == 1 for each in self.cuts
        )
        if not (texts and arrays and len(self.scales) == d == len(self.cuts)):
            raise ModelFileError("the numbers of its profile are not valid")
        if any(np.isnan(each).any() or not (np.diff(each) > 0).all() for each in self.cuts):
            raise ModelFileError("the bins of its profile are not ascending")
        shapes = {
            "prior": (k,),
            "bins": (sum(len(each) + 2 for each in self.cuts),),
            "moments": (5, d),
            "posterior": (posterior_rows(k), k),
            "labels": (k,),
            "calibration": (3, 15),
            "scores": (7,),
        }
        for name, shape in shapes.items():
            value = getattr(self, name)
            if not (isinstance(value, np.ndarray) and value.dtype == np.float64 and value.shape == shape):
                raise ModelFileError(f"the {name} of its profile are not an array of shape {shape}")
            signed = name in ("moments", "scores")
            if not np.isfinite(value).all() or (not signed and (value < 0).any()):
                raise ModelFileError(f"the {name} of its profile hold a number that no rows have")
        learned = self.learned
        if learned is not None and not (
            isinstance(learned, np.ndarray) and learned.dtype == np.float64 and learned.shape == (k,)
            and np.isfinite(learned).all() and (learned >= 0).all()
        ):  # fmt: skip
            raise ModelFileError("the learned weights of its profile are not valid")
        for name in ("weight", "squares", "impossible"):
            number = getattr(self, name)
            if not (isinstance(number, float) and 0 <= number < np.inf):
                raise ModelFileError(f"the {name} of its profile is not a number of at least 0")
        if type(self.n_rows) is not int or self.n_rows < 0:
            raise ModelFileError("the number of rows of its profile is not valid")


def posterior_rows(n_classes: int) -> int:
    """Rows of the sums of posteriors and of their products: K + 1, or 2 for many classes."""
    return n_classes + 1 if n_classes <= MOST_CLASSES else 2
