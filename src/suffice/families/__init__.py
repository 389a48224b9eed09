"""Families: the distributions p(x | y) of columns and of blocks of columns.

`family_names` lists them, and `family_named` makes one by name. Wherever a name is accepted, an object with its own
settings is accepted, too, such as ``Gaussian(variance="shared")``. New files in this package are found automatically.

>>> family_names()  # doctest: +NORMALIZE_WHITESPACE
['averaged_dependence', 'bernoulli', 'binned', 'categorical', 'exponential', 'gamma', 'gaussian', 'geometric',
 'histogram', 'joint_table', 'log_normal', 'multinomial', 'multivariate_gaussian', 'poisson', 'text']
"""

from suffice.families.averaged_dependence import AveragedDependence
from suffice.families.bernoulli import Bernoulli
from suffice.families.binned import Binned
from suffice.families.categorical import Categorical
from suffice.families.contract import Family, family_named, family_names, register
from suffice.families.exponential import Exponential
from suffice.families.gamma import Gamma
from suffice.families.gaussian import Gaussian
from suffice.families.geometric import Geometric
from suffice.families.histogram import Histogram
from suffice.families.independent import IndependentColumns
from suffice.families.joint_table import JointTable
from suffice.families.linear import Linear
from suffice.families.log_normal import LogNormal
from suffice.families.multinomial import Multinomial
from suffice.families.multivariate_gaussian import MultivariateGaussian
from suffice.families.poisson import Poisson
from suffice.families.priors import Beta, Dirichlet, GammaRate, NormalInverseGamma, NormalInverseWishart
from suffice.families.text import Text

__all__ = [
    "AveragedDependence",
    "Bernoulli",
    "Beta",
    "Binned",
    "Categorical",
    "Dirichlet",
    "Exponential",
    "Family",
    "Gamma",
    "GammaRate",
    "Gaussian",
    "Geometric",
    "Histogram",
    "IndependentColumns",
    "JointTable",
    "Linear",
    "LogNormal",
    "Multinomial",
    "MultivariateGaussian",
    "NormalInverseGamma",
    "NormalInverseWishart",
    "Poisson",
    "Text",
    "family_named",
    "family_names",
    "register",
]
