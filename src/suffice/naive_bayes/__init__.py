"""Naive Bayes classifiers, which treat the columns as independent given the class.

`NaiveBayes` (for tables) and `TextNaiveBayes` (for documents) are the library's own classes. `BernoulliNB`,
`CategoricalNB`, `ComplementNB`, `GaussianNB` and `MultinomialNB` replace those of ``sklearn.naive_bayes``: parameters
and numbers are the same, so only the import changes. The few exceptions are in decision 0003 (``docs/decisions``).
`PoissonNB` has the same interface; scikit-learn has no such class.
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
