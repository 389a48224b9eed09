"""Compare generative models with logistic regression, their discriminative counterpart, on the same table.

If p(x | y) is Gaussian with one covariance for all classes, p(y | x) is a logistic function of x. The same holds for
Poisson counts and for many other p(x | y). Logistic regression assumes only that p(y | x) is logistic. A generative
model with correct assumptions therefore needs fewer rows, while logistic regression is right under weaker assumptions.
`compare` shows which of the two counts more for a given table.
"""

from suffice.comparison.comparing import compare
from suffice.comparison.curves import LearningCurves
from suffice.comparison.result import Comparison

__all__ = ["Comparison", "LearningCurves", "compare"]
