"""Independent Gaussian columns: the family, its leave-one-out formulas, and scikit-learn's added variance."""

from suffice.families.gaussian.family import Gaussian, GaussianParameters

__all__ = ["Gaussian", "GaussianParameters"]
