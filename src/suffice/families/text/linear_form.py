"""Log-odds as a linear function of the words of a document."""

from __future__ import annotations

import numpy as np

from suffice.exceptions import Argument, NotLinearError
from suffice.families.linear import Linear
from suffice.families.text.parameters import TextParameters, TextSettings

__all__ = ["linear_words"]


def linear_words(family: TextSettings, parameters: TextParameters) -> Linear:
    """The scores as ``offset_k + Σ_j x_j coef_kj`` over the words that the model uses.

    x_j is how often the document has word j; for Bernoulli words, and with ``binary``, whether it has it. Raises
    `NotLinearError` if the scores are not linear.
    """
    p = parameters
    if family.length:
        raise NotLinearError(
            "With length above 0 the log-odds are not linear in the words of a document.", argument="length"
        )
    if p.draws is not None and family.estimation == "bayes":
        raise NotLinearError(
            "The log-odds of Dirichlet-multinomial words (",
            Argument("estimation", "bayes"),
            ") are not linear in the words.",
            argument="estimation",
        )
    if p.zero is not None and np.isneginf(p.zero).any():
        raise NotLinearError("A word is in all documents of a class, so the log-odds without it are infinite.")
    offset = np.zeros(len(p.slope)) if p.zero is None else p.zero.sum(axis=1)
    return Linear(p.relative_slope, offset, np.zeros(p.slope.shape[1]))
