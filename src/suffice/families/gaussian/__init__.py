"""Independent Gaussian columns: the family, leave-one-out, and scikit-learn's added variance."""

from suffice.families.gaussian.family import Gaussian, GaussianParameters

__all__ = ["Gaussian", "GaussianParameters"]
