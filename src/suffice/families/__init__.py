"""The families: one file for each p(x_block | y).

`family_names` lists them, `family_named` makes one by name, and a configured object of a family's class may
stand wherever a name may. A new file in this package is found without being named anywhere else.

>>> family_names()
['gaussian', 'multivariate_gaussian']
"""

from suffice.families.contract import Family, family_named, family_names, register
from suffice.families.gaussian import Gaussian
from suffice.families.linear import Linear
from suffice.families.multivariate_gaussian import MultivariateGaussian

__all__ = ["Family", "Gaussian", "Linear", "MultivariateGaussian", "family_named", "family_names", "register"]
