"""Statistics: immutable summaries of rows that can be merged, subtracted and scaled.

==================  =======================================================  =====================
statistic           holds, for each class                                    used by
==================  =======================================================  =====================
`Sums`              weight, column sums                                      the class prior
`CellSums`          weight, sums of functions of each cell                   Bernoulli, Poisson, …
`Counts`            weight of each level of each column                      categorical columns
`BinCounts`         weight of each narrow bin of the numbers of each column  histograms
`JointCounts`       weight of each combination of levels that was seen       the joint table
`PairCounts`        weight of each pair of bins of two columns               averaged dependence
`WordSums`          weight, counts of words, and of documents with them      text
`CountVectors`      weight, column sums, log multinomial coefficients        multinomial counts
`Moments`           weight, mean, centred sum of squares of each column      independent Gaussians
`RowMoments`        `Moments`, and those of the rows at weight one           `GaussianNB`
`Scatter`           weight, mean, scatter matrix                             own covariances
`PooledScatter`     weight, mean; one scatter matrix for all classes         a shared covariance
`FourthMoments`     `Scatter`, and the products of squares                   Ledoit–Wolf shrinkage
`PatternScatter`    one of the three, and `Scatter` by pattern of cells      missing cells
==================  =======================================================  =====================
"""

from suffice.statistics.bin_counts import BinCounts
from suffice.statistics.cell_sums import CellSums
from suffice.statistics.classes import ClassAxis, Membership
from suffice.statistics.count_vectors import CountVectors
from suffice.statistics.counts import Counts
from suffice.statistics.fourth_moments import FourthMoments
from suffice.statistics.joint_counts import JointCounts
from suffice.statistics.moments import Moments
from suffice.statistics.pair_counts import PairCounts
from suffice.statistics.pattern_scatter import PatternScatter
from suffice.statistics.row_moments import RowMoments
from suffice.statistics.scatter import PooledScatter, Scatter
from suffice.statistics.statistic import ByClass, ByColumn, ByPair, Pairs, Statistic
from suffice.statistics.sums import Sums
from suffice.statistics.word_sums import WordSums

__all__ = [
    "BinCounts",
    "ByClass",
    "ByColumn",
    "ByPair",
    "CellSums",
    "ClassAxis",
    "CountVectors",
    "Counts",
    "FourthMoments",
    "JointCounts",
    "Membership",
    "Moments",
    "PairCounts",
    "Pairs",
    "PatternScatter",
    "PooledScatter",
    "RowMoments",
    "Scatter",
    "Statistic",
    "Sums",
    "WordSums",
]
