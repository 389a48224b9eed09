"""Naive Bayes: columns that are independent given the class.

`NaiveBayes` and `TextNaiveBayes`, for documents, are the library's own. The other names are those of
``sklearn.naive_bayes``, with the same parameters and numbers: changing one import is enough. `PoissonNB` has no
counterpart in scikit-learn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.lazy_names import lazy_names

if TYPE_CHECKING:
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

# Classes are imported when they are asked for: specifications, from which a saved model predicts, need no scikit-learn.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "BernoulliNB": "bernoulli_nb",
        "CategoricalNB": "categorical_nb",
        "ComplementNB": "multinomial_nb",
        "GaussianNB": "gaussian_nb",
        "MultinomialNB": "multinomial_nb",
        "NaiveBayes": "naive_bayes",
        "PoissonNB": "poisson_nb",
        "TextNaiveBayes": "text_naive_bayes",
    },
)
