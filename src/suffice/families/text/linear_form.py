"""Log-odds that are linear in the words of a document, where they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.exceptions import NotLinearError
from suffice.families.linear import Linear
from suffice.families.text.parameters import TextParameters

__all__ = ["linear_words"]


def linear_words(family: Any, parameters: TextParameters) -> Linear:
    """The scores as ``offset_k + Σ_j x_j coef_kj`` over the words that are used.

    x_j is how often the document has word j; of Bernoulli words, and with ``binary``, whether it does.

    Parameters
    ----------
    family : Text
    """
    p = parameters
    if family.length:
        raise NotLinearError("The log-odds of documents whose length is weighted are not linear in their words.")
    if p.draws is not None and family.estimation == "bayes":
        raise NotLinearError("The log-odds of words that come in bursts (estimation='bayes') are not linear in them.")
    if p.zero is not None and np.isneginf(p.zero).any():
        raise NotLinearError("A word is in all documents of a class, and the log-odds are infinite without it.")
    offset = np.zeros(len(p.slope)) if p.zero is None else p.zero.sum(axis=1)
    return Linear(p.relative_slope, offset, np.zeros(p.slope.shape[1]))
