"""The families: one file for each p(x_block | y).

=========================  ===========================================  ======================
name                       models                                       class
=========================  ===========================================  ======================
``gaussian``               independent real columns                     `Gaussian`
``multivariate_gaussian``  real columns that hang together              `MultivariateGaussian`
=========================  ===========================================  ======================
"""

from suffice.families.contract import Family, family_named, family_names, register
from suffice.families.gaussian import Gaussian
from suffice.families.linear import Linear
from suffice.families.multivariate_gaussian import MultivariateGaussian

__all__ = ["Family", "Gaussian", "Linear", "MultivariateGaussian", "family_named", "family_names", "register"]
