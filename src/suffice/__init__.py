"""Generative classification from sufficient statistics that add."""

from suffice.discriminant_analysis import GaussianDiscriminant
from suffice.naive_bayes import NaiveBayes

__version__ = "0.1.0"
__all__ = ["GaussianDiscriminant", "NaiveBayes"]
