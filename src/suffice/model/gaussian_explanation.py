"""Explanations of a multivariate Gaussian: a part of the log-odds for each column.

With a shared covariance the log-odds are linear, and the part of a column is its coefficient times the distance of the
row from the midpoint between the two classes:

    log p(x | a)/p(x | b) = Σ_j [Σ⁻¹(μ_a − μ_b)]_j · (x − (μ_a + μ_b)/2)_j

With own covariances they are a difference of two quadratic forms, each a sum over columns, and of the logarithms of two
volumes, which belong to no column and are the part "(spread)":

    log p(x | k) = −½ Σ_j (x − μ_k)_j [Σ_k⁻¹(x − μ_k)]_j − ½ log |2πΣ_k|

A row with missing cells has the parts of the marginal distribution of the cells that are present, and 0 elsewhere.
"""

from __future__ import annotations

import numpy as np

from suffice.bayes import check_possible_rows
from suffice.families.linear import rows_by_pattern
from suffice.families.multivariate_gaussian.parameters import MultivariateGaussianParameters
from suffice.model.estimate import Estimate
from suffice.model.explanation_result import PRIOR, Explanation, compared_classes
from suffice.numerics.types import Float, Index
from suffice.tables import Table

__all__ = ["SPREAD", "explain_gaussian", "gaussian_parts"]

SPREAD = "(spread)"


def explain_gaussian(
    estimate: Estimate,
    table: Table,
    label: int | None = None,
    against: int | None = None,
    joint: Float | None = None,
) -> Explanation:
    """Parts of the log-odds of a model with one multivariate Gaussian block; see `suffice.model.explanation`."""
    block, parameters = estimate.blocks[0], estimate.parameters[0]
    joint = estimate.relative_joint(table) if joint is None else joint
    check_possible_rows(joint)
    first, second = compared_classes(joint, label, against)
    x = np.asarray(block.take(table), dtype=np.float64)
    shared = len(parameters.whitening) == 1
    parts = gaussian_parts(parameters, x, first, second)
    prior = estimate.log_prior[first] - estimate.log_prior[second]
    labels = estimate.classes.labels
    names = [PRIOR, *block.names] if shared else [PRIOR, *block.names, SPREAD]
    return Explanation(names, np.column_stack([prior, parts]), labels[first], labels[second])


def gaussian_parts(p: MultivariateGaussianParameters, x: Float, a: Index, b: Index) -> Float:
    """Part of each column of each row (n, d), and with own covariances that of the volumes (n, d + 1)."""
    shared, d = len(p.whitening) == 1, x.shape[1]
    evaluate = _linear_parts if shared else _quadratic_parts
    if not np.isnan(x).any():
        return evaluate(p, x - p.origin, a, b)
    out = np.zeros((len(x), d if shared else d + 1))
    for rows, known in rows_by_pattern(x):
        if not len(known):
            continue
        marginal = p if len(known) == d else p.marginal(known)
        at = known if shared else np.append(known, d)
        out[np.ix_(rows, at)] = evaluate(marginal, x[np.ix_(rows, known)] - marginal.origin, a[rows], b[rows])
    return out


def _linear_parts(p: MultivariateGaussianParameters, x: Float, a: Index, b: Index) -> Float:
    coef, away = p.linear.coef, p.away
    return np.asarray((coef[a] - coef[b]) * (x - (away[a] + away[b]) / 2))


def _quadratic_parts(p: MultivariateGaussianParameters, x: Float, a: Index, b: Index) -> Float:
    out = np.zeros((len(x), x.shape[1] + 1))
    for classes, sign in ((a, 1.0), (b, -1.0)):
        for k in np.unique(classes):
            rows = classes == k
            away, whitening = x[rows] - p.away[k], p.whitening[k].matrix
            out[rows, :-1] -= sign * 0.5 * away * (away @ whitening @ whitening.T)
            out[rows, -1] += sign * p.log_norm[k]
    return out
