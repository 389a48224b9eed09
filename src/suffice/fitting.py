"""`fit`: a model of rows in files, or of anything else that is streamed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np
from sklearn.base import clone

from suffice.discriminant_analysis import GaussianDiscriminant
from suffice.estimators.base import GenerativeClassifier
from suffice.exceptions import InputError, listed
from suffice.learning.kept_rows import MOST_ROWS
from suffice.learning.report import FitReport
from suffice.learning.scores import Scores
from suffice.naive_bayes import NaiveBayes, TextNaiveBayes
from suffice.sources.files import Source, open_source

__all__ = ["MODELS", "FitReport", "Scores", "fit"]

MODELS: dict[str, type[Any]] = {
    "naive-bayes": NaiveBayes,
    "discriminant": GaussianDiscriminant,
    "text": TextNaiveBayes,
}
"""The library's own classifiers by the names that they have outside Python."""


def fit(
    data: Any,
    target: str,
    *,
    model: GenerativeClassifier | type[GenerativeClassifier] | str | None = None,
    weights: str | None = None,
    columns: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    validate: int | bool = True,
    progress: Callable[[Source], None] | None = None,
    **reading: Any,
) -> Any:
    """A model of the rows of files, fitted in one pass and bounded memory.

    Parameters
    ----------
    data : str, path, list of them, or object with ``__arrow_c_stream__``
        As `suffice.sources.files.open_source` takes it.
    target : str
        The column of class labels.
    model : estimator, class or name, default=NaiveBayes()
        With the settings to use; it is not changed. One that is fitted goes on learning, in a copy. Names are
        "naive-bayes", "discriminant" and "text".
    weights : str, optional
        The column of row weights.
    columns, ignore : sequence of str, optional
        The columns to learn from, or those not to.
    validate : bool or int, default=True
        Whether the model is judged by rows that are left out, in the same pass: a uniform sample of at most so many
        (True: 100,000) is kept for it. A model that goes on learning is judged by the rows of this source.
    progress : callable, optional
        Called with the source after each batch.
    **reading
        How files are read: format, types, bad_rows, delimiter, header, names, quote, encoding, nulls, batch_rows.

    Returns
    -------
    estimator
        Fitted, with ``report_``, a `FitReport`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> rows = pa.table({"size": [1.0, 2.0, 1.5, 8.0, 9.0, 7.0], "kind": ["a", "a", "a", "b", "b", "b"]})
    >>> found = fit(rows, "kind")
    >>> found.predict(pa.table({"size": [3.0]}))
    array(['a'], dtype='<U1')
    >>> found.report_.n_rows, found.report_.scores.accuracy, found.report_.scores.rule
    (6, 1.0, 'leave-one-out')
    """
    if isinstance(data, Source):
        if columns is not None or ignore or reading:
            given = [*(["columns"] if columns is not None else []), *(["ignore"] if ignore else []), *reading]
            raise InputError(f"{listed(given)}: the source is open already, and read as it was opened.")
        source = data
    else:
        own = [name for name in (target, weights) if isinstance(name, str)]
        if columns is not None:
            columns = [*columns, *(name for name in own if name not in columns)]
        lost = [name for name in own if name in ignore]
        if lost:
            raise InputError(f"{listed(lost)} cannot be ignored: it is the target, or the weights.")
        source = open_source(data, columns=columns, ignore=ignore, **reading)
    made = _estimator(model)
    judged = _rows_to_judge(validate)
    if made.__sklearn_is_fitted__():
        return copy(made)._partial_fit_source(source, target, None, weights, judged=judged, progress=progress)
    return made._fit_source(source, target, weights, judged=judged, progress=progress)


def _estimator(model: Any) -> GenerativeClassifier:
    """The estimator that is meant; one that is not fitted yet as one's own."""
    if model is None:
        return NaiveBayes()
    if isinstance(model, str):
        if model not in MODELS:
            raise InputError(f"There is no model {model!r}. The models are {listed(list(MODELS))}.")
        model = MODELS[model]
    if isinstance(model, type):
        model = model()
    if not isinstance(model, GenerativeClassifier):
        raise InputError(f"model must be an estimator of this library, its class, or a name; got {model!r}.")
    found: GenerativeClassifier = model if model.__sklearn_is_fitted__() else clone(model)
    return found


def _rows_to_judge(validate: Any) -> int:
    if isinstance(validate, bool | np.bool_):
        return MOST_ROWS if validate else 0
    if not isinstance(validate, int | np.integer) or validate < 0:
        raise InputError(f"validate is True, False, or how many rows to judge the model by; got {validate!r}.")
    return int(validate)
