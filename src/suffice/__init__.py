"""Suffice: generative classifiers that learn in one pass, merge, and unlearn rows exactly.

A first example:

>>> from sklearn.datasets import load_iris
>>> from suffice import GaussianDiscriminant
>>> X, y = load_iris(return_X_y=True)
>>> model = GaussianDiscriminant().fit(X, y)
>>> model.score(X, y)
0.98
>>> model.predict_proba(X[77:78]).round(2)
array([[0.  , 0.64, 0.36]])

Fit a model::

    any rows, without settings       GenerativeEnsemble, or fit(rows, labels)
    a table of mixed columns         NaiveBayes
    numbers that are correlated      GaussianDiscriminant
    columns that depend in pairs     AveragedDependence
    texts                            TextNaiveBayes.tuned(); WordCounts for a sparse matrix
    mails                            suffice.text.mail.load_mails
    files of any size                fit("data/*.parquet", target="label")
    a stream of batches              model.partial_fit(X, y)
    parameters or counts, no rows    NaiveBayes.from_parameters, from_counts, from_moments
    scikit-learn's class names       suffice.naive_bayes, suffice.discriminant_analysis

Use it::

    classes and probabilities        model.predict(X), model.predict_proba(X)
    why a row gets its class         model.explain(X)
    log p(x), new rows               model.score_samples(X), model.sample(1000)
    save and load                    model.save(path), load(path), model.to_bytes(), loads(content)

Look at it::

    parameters                       model.parameters()
    a plot                           model.plot(X, y); suffice.plotting has all plots
    a report                         model.report(X, y).save("report.html")

Check it::

    tests of its assumptions         diagnose(model, X, y)
    held-out scores                  suffice.model_selection.cross_validate, leave_one_out
    against logistic regression      suffice.comparison.compare(X, y)
    drift of new rows                model.monitor()

Change it::

    merge models of different rows   model.merge(other), merge(models)
    remove rows                      model.remove(X, y)
    a different class prior          model.with_prior(prior)

Extend it::

    families of p(x | y)             suffice.families: Family, register
    statistics that add              suffice.statistics
    tests of a new family            suffice.testing.check_family

Errors and warnings are in ``suffice.exceptions``; ``SufficeError`` and ``SufficeWarning`` are their base classes. In a
shell, ``suffice --help`` lists the commands; ``suffice serve`` answers requests over HTTP. The documentation is in
``docs/`` of the repository; ``make docs`` builds it as a site.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from suffice.api import fit, load, loads, merge
    from suffice.averaged_dependence.averaged_dependence import AveragedDependence
    from suffice.diagnostics.diagnosing import diagnose
    from suffice.discriminant_analysis.gaussian_discriminant import GaussianDiscriminant
    from suffice.ensemble.ensemble import GenerativeEnsemble
    from suffice.exceptions import (
        ClassError,
        EmptyColumnWarning,
        ImpossibleRowsWarning,
        InputError,
        MergeError,
        ModelFileError,
        ModelFileMissingError,
        NotLinearError,
        SingularCovarianceError,
        SingularCovarianceWarning,
        SufficeError,
        SufficeWarning,
    )
    from suffice.naive_bayes.naive_bayes import NaiveBayes
    from suffice.naive_bayes.text_naive_bayes import TextNaiveBayes
    from suffice.text.word_counts import WordCounts

__version__ = "0.1.0"

__all__ = [
    "AveragedDependence",
    "ClassError",
    "EmptyColumnWarning",
    "GaussianDiscriminant",
    "GenerativeEnsemble",
    "ImpossibleRowsWarning",
    "InputError",
    "MergeError",
    "ModelFileError",
    "ModelFileMissingError",
    "NaiveBayes",
    "NotLinearError",
    "SingularCovarianceError",
    "SingularCovarianceWarning",
    "SufficeError",
    "SufficeWarning",
    "TextNaiveBayes",
    "WordCounts",
    "__version__",
    "diagnose",
    "fit",
    "load",
    "loads",
    "merge",
]

# Names are imported when they are asked for: ``suffice --help`` does not wait for NumPy and scikit-learn, nor a user of
# one class for the others.
_WHERE = {
    "AveragedDependence": "averaged_dependence.averaged_dependence",
    "GaussianDiscriminant": "discriminant_analysis.gaussian_discriminant",
    "GenerativeEnsemble": "ensemble.ensemble",
    "NaiveBayes": "naive_bayes.naive_bayes",
    "TextNaiveBayes": "naive_bayes.text_naive_bayes",
    "WordCounts": "text.word_counts",
    "diagnose": "diagnostics.diagnosing",
    "fit": "api",
    "load": "api",
    "loads": "api",
    "merge": "api",
}
_PARTS = (
    "averaged_dependence",
    "cli",
    "comparison",
    "diagnostics",
    "discriminant_analysis",
    "ensemble",
    "exceptions",
    "families",
    "model_selection",
    "naive_bayes",
    "plotting",
    "report",
    "sources",
    "statistics",
    "tables",
    "testing",
    "text",
)


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return importlib.import_module(f"suffice.{name}")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"suffice.{_WHERE.get(name, 'exceptions')}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*__all__, *_PARTS})
