"""Naive Bayes: columns that are independent given the class.

`NaiveBayes` and `TextNaiveBayes`, for documents, are the library's own. The other names are those of
``sklearn.naive_bayes``, with the same parameters and numbers: changing one import is enough. `PoissonNB` has no
counterpart in scikit-learn.
"""

from suffice.estimators import ESTIMATORS
from suffice.naive_bayes.bernoulli_nb import BernoulliNB
from suffice.naive_bayes.categorical_nb import CategoricalNB
from suffice.naive_bayes.gaussian_nb import GaussianNB
from suffice.naive_bayes.multinomial_nb import ComplementNB, MultinomialNB
from suffice.naive_bayes.naive_bayes import NaiveBayes
from suffice.naive_bayes.poisson_nb import PoissonNB
from suffice.naive_bayes.text_naive_bayes import TextNaiveBayes

__all__ = [
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "GaussianNB",
    "MultinomialNB",
    "NaiveBayes",
    "PoissonNB",
    "TextNaiveBayes",
]

ESTIMATORS.update((name, globals()[name]) for name in __all__)
