"""The generative models of a table side by side with logistic regression, their discriminative twin.

If p(x | y) is Gaussian with one covariance for all classes, then p(y | x) is a logistic function of x; and so it is if
the columns are Poisson counts, and for many other p(x | y). Logistic regression assumes no more than that function. So
a generative model that is right needs fewer rows, and logistic regression needs to be right about less. Which of the
two holds for a table is what `compare` shows.
"""

from suffice.comparison.comparing import compare
from suffice.comparison.curves import LearningCurves
from suffice.comparison.result import Comparison

__all__ = ["Comparison", "LearningCurves", "compare"]
