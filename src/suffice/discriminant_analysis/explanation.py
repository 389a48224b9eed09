"""Why a Gaussian discriminant answers as it does: the parts of its log-odds, column by column.

With a shared covariance the log-odds are linear, and each column adds its coefficient times how far the row is from the
middle between the two classes:

    log p(x | a)/p(x | b) = Σ_j [Σ⁻¹(μ_a − μ_b)]_j · (x − (μ_a + μ_b)/2)_j

With own covariances they are a difference of two quadratic forms, each of which is a sum over the columns, and of the
logarithms of two volumes, which no column says:

    log p(x | k) = −½ Σ_j (x − μ_k)_j [Σ_k⁻¹(x − μ_k)]_j − ½ log |2πΣ_k|
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.bayes import decide
from suffice.families import MultivariateGaussian
from suffice.families.multivariate_gaussian.parameters import MultivariateGaussianParameters
from suffice.model import Estimate
from suffice.model.explanation import PRIOR, Explanation, compared, explain
from suffice.tables import Table

__all__ = ["SPREAD", "explain_discriminant"]

Float = NDArray[np.float64]
SPREAD = "(spread)"


def explain_discriminant(
    estimate: Estimate, table: Table, joint: Float, label: int | None, against: int | None
) -> Explanation:
    """The parts of the log-odds of one class against another, row by row.

    Parameters
    ----------
    joint : array of shape (n, K)
        log p(x, y) of the rows, up to a term that classes share.
    label, against : int or None
        Of two classes the second's against the first; of more the likeliest's against the next.

    Returns
    -------
    Explanation
        With a part for each column. A multivariate t, whose log-density is no sum over columns, is one part.
    """
    block, parameters = estimate.blocks[0], estimate.parameters[0]
    if not isinstance(block.family, MultivariateGaussian) or parameters.freedom is not None:
        return explain(estimate, table, label, against)
    decide(joint)  # raises for a row that no class can explain, as a prediction does
    first, second = compared(joint, label, against)
    x = np.asarray(block.take(table), dtype=np.float64) - parameters.origin
    shared = len(parameters.whitening) == 1
    parts = (_linear_parts if shared else _quadratic_parts)(parameters, x, first, second)
    prior = estimate.log_prior[first] - estimate.log_prior[second]
    labels = estimate.classes.labels
    names: list[Any] = [PRIOR, *block.names] if shared else [PRIOR, *block.names, SPREAD]
    return Explanation(names, np.column_stack([prior, parts]), labels[first], labels[second])


def _linear_parts(p: MultivariateGaussianParameters, x: Float, a: NDArray[np.intp], b: NDArray[np.intp]) -> Float:
    coef, away = p.linear.coef, p.away
    out: Float = (coef[a] - coef[b]) * (x - (away[a] + away[b]) / 2)
    return out


def _quadratic_parts(p: MultivariateGaussianParameters, x: Float, a: NDArray[np.intp], b: NDArray[np.intp]) -> Float:
    out = np.zeros((len(x), x.shape[1] + 1))
    for classes, sign in ((a, 1.0), (b, -1.0)):
        for k in np.unique(classes):
            rows = classes == k
            far, whiten = x[rows] - p.away[k], p.whitening[k].matrix
            out[rows, :-1] -= sign * 0.5 * far * (far @ whiten @ whiten.T)
            out[rows, -1] += sign * p.log_norm[k]
    return out
