"""Values that summarise rows and add: zero, merge, subtract, scale.

==================  =======================================================  =====================
statistic           holds, for each class                                    used by
==================  =======================================================  =====================
`Sums`              weight, column sums                                      the class prior
`Moments`           weight, mean, centred sum of squares of each column      independent Gaussians
`Scatter`           weight, mean, scatter matrix                             own covariances
`PooledScatter`     weight, mean; one scatter matrix for all classes         a shared covariance
`FourthMoments`     `Scatter`, and the products of squares                   Ledoit–Wolf shrinkage
==================  =======================================================  =====================
"""

from suffice.statistics.classes import ClassAxis, Membership
from suffice.statistics.fourth_moments import FourthMoments
from suffice.statistics.moments import Moments
from suffice.statistics.scatter import PooledScatter, Scatter
from suffice.statistics.statistic import ByClass, Statistic
from suffice.statistics.sums import Sums

__all__ = [
    "ByClass",
    "ClassAxis",
    "FourthMoments",
    "Membership",
    "Moments",
    "PooledScatter",
    "Scatter",
    "Statistic",
    "Sums",
]
