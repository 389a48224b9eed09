"""How much the columns of a fitted model tell about the class."""

from __future__ import annotations

import numpy as np

from suffice.exceptions import InputError
from suffice.learning.fitted import Fitted
from suffice.model import generator
from suffice.model.mutual_information import ColumnInformation, column_information

__all__ = ["N_SAMPLES", "mutual_information"]

N_SAMPLES = 4000


def mutual_information(fitted: Fitted, n_samples: int = N_SAMPLES, random_state: object = 0) -> list[ColumnInformation]:
    """Mutual information of each column, or block of dependent columns, and the class; the largest first.

    It is estimated from rows that are drawn from the model, so it needs p(x | y) and two classes.
    """
    if n_samples < 1:
        raise InputError(f"n_samples must be at least 1; got {n_samples}.", argument="n_samples")
    if not fitted.has_density:
        raise InputError("Mutual information needs p(x | y), but the scores of this model are not densities.")
    estimate, rng = fitted.estimate, generator(random_state)
    if len(estimate.classes) < 2:
        raise InputError("Mutual information needs at least two classes, but the model has only one.")
    codes = rng.choice(len(estimate.prior), size=n_samples, p=estimate.prior / estimate.prior.sum()).astype(np.int64)
    table = fitted.reader.sampled_table(estimate.sample(codes, rng), fitted.layout)
    return column_information(estimate, table, codes)
