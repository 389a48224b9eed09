"""`cross_val_predict` and `cross_validate` with scikit-learn's arguments and results, in one pass over the rows."""

from __future__ import annotations

import itertools
import time
from collections.abc import Collection, Iterator, Mapping
from numbers import Integral
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import BaseCrossValidator, LeaveOneOut, check_cv
from sklearn.model_selection import cross_val_predict as their_cross_val_predict
from sklearn.model_selection import cross_validate as their_cross_validate
from sklearn.utils import _safe_indexing, indexable

from suffice.estimators import GenerativeClassifier
from suffice.learning.fitted import Fitted
from suffice.learning.fitting import Prepared, prepare
from suffice.learning.prediction import answer
from suffice.learning.splits import (
    fold_training_models,
    folds_of,
    most_folds_at_once,
    split_training_models,
    stratified_folds,
)
from suffice.learning.training_rows import LabelledRows
from suffice.model import Model
from suffice.model_selection.class_columns import METHODS, on_all_classes, warn_of_missing_classes
from suffice.model_selection.leave_one_out import is_additive, leave_one_out
from suffice.numerics.types import Array, Codes, Index
from suffice.sources.labels import check_not_missing, encode
from suffice.tables.sparse_checks import check_cells

__all__ = ["cross_val_predict", "cross_validate"]

BLOCK_ROWS = 1 << 16  # rows of all folds that are predicted together: the part of one fold stays in the cache
PIECE = 1 << 14


def cross_val_predict(
    estimator: BaseEstimator,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: Mapping[str, Any] | None = None,
    pre_dispatch: Any = "2*n_jobs",
    method: str = "predict",
) -> Array:
    """Predict each row by a model that was fitted without the fold of the row.

    Parameters
    ----------
    estimator : estimator
        The model. An estimator of this library is fitted to all folds in one pass; any other is passed to scikit-learn.
    X, y, groups, cv, params, method
        As in ``sklearn.model_selection.cross_val_predict``. ``cv`` may be any splitter that tests each row once, and
        ``params`` may hold ``sample_weight``.
    n_jobs, verbose, pre_dispatch
        As in scikit-learn; only for estimators of other libraries.

    Returns
    -------
    array of shape (n,) or (n, K)
        The predictions. If a training set has no rows of a class, the class has probability zero there, with the
        warning of scikit-learn.

    See Also
    --------
    suffice.model_selection.cross_validate : Returns scores instead of predictions.
    suffice.model_selection.leave_one_out : Makes each row a fold.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from suffice import NaiveBayes
    >>> from suffice.model_selection import cross_val_predict
    >>> X, y = load_wine(return_X_y=True)
    >>> float((cross_val_predict(NaiveBayes(), X, y) == y).mean().round(3))
    0.961
    """
    if method not in METHODS or not _in_one_pass(estimator, y, params):
        options = {"groups": groups, "cv": cv, "n_jobs": n_jobs, "verbose": verbose, "params": params}
        return np.asarray(their_cross_val_predict(estimator, X, y, pre_dispatch=pre_dispatch, method=method, **options))
    weight = (params or {}).get("sample_weight")
    if isinstance(cv, LeaveOneOut):
        return leave_one_out(estimator, X, y, sample_weight=weight, method=method)
    X, y, groups = _indexable(X, y, groups)
    prepared = prepare(estimator.specification(), LabelledRows(X, y, weight))
    template, table, members = prepared.fitted, prepared.table, prepared.members
    every = encode(np.asarray(y))[0]  # also classes whose rows have no weight
    folds, models = _folds_and_models(prepared, X, y, groups, cv)
    size, numbered = np.bincount(folds), enumerate(models)
    out: Array | None = None
    while group := dict(itertools.islice(numbered, most_folds_at_once(template.blocks, members))):
        fitted: dict[int, Fitted] = {}
        for fold, model in group.items():
            n_training = len(folds) - int(size[fold])
            template.specification.check_fit(n_training, model.classes, template.layout.n_columns)
            if method != "predict":
                warn_of_missing_classes(len(model.classes), len(every))
            fitted[fold] = template.with_model(model)
        for fold, rows in _blocks_of(folds, group, len(size)):
            answers = answer(fitted[fold], table.take(rows), method, rows)
            answers = on_all_classes(answers, method, fitted[fold].classes, every)
            if out is None:
                dtype = members.classes.labels.dtype if method == "predict" else answers.dtype
                out = np.empty((len(table), *answers.shape[1:]), dtype=dtype)
            out[rows] = answers
    return np.asarray(out)


def _indexable(X: Any, y: Any, groups: Any) -> list[Any]:
    """Return the arguments in a form with rows that can be selected; raise if they differ in length."""
    check_cells(X)  # scikit-learn converts a sparse matrix to CSR
    found: list[Any] = indexable(X, y if y is None else check_not_missing(y), groups)
    return found


def _blocks_of(folds: Codes, group: Collection[int], n_folds: int) -> Iterator[tuple[int, Index]]:
    """The rows of some test sets with the number of the test set, in blocks so that memory is read in order.

    Consecutive rows of one fold come first, because they need not be copied.
    """
    # Small integers are sorted in linear time.
    fold = folds.astype(np.int16) if n_folds < 2**15 else folds
    inside = np.arange(len(folds)) if len(group) == n_folds else np.flatnonzero(np.isin(folds, list(group)))
    if len(group) == n_folds:
        pieces = fold[: len(fold) // PIECE * PIECE].reshape(-1, PIECE)
        plain = np.flatnonzero(pieces.min(axis=1, initial=n_folds) == pieces.max(axis=1, initial=-1))
        for i in plain:
            yield int(pieces[i, 0]), inside[i * PIECE : (i + 1) * PIECE]
        mixed = np.ones(len(fold), dtype=bool)
        mixed[: pieces.size].reshape(-1, PIECE)[plain] = False
        inside = np.flatnonzero(mixed)
    for start in range(0, len(inside), BLOCK_ROWS):
        rows = inside[start : start + BLOCK_ROWS]
        part = fold[rows]
        order = np.argsort(part, kind="stable")
        first = np.flatnonzero(np.diff(part[order], prepend=-1))
        for each in np.split(order, first[1:]):
            yield int(part[each[0]]), rows[each]


def _folds_and_models(prepared: Prepared, X: Any, y: Any, groups: Any, cv: Any) -> tuple[Codes, Iterator[Model]]:
    """The test set of each row, and the model of the training rows of each test set."""
    fitted, table, members = prepared.fitted, prepared.table, prepared.members
    if cv is None or isinstance(cv, Integral):
        n_splits = 5 if cv is None else int(cv)
        assert members.codes is not None
        stratified = stratified_folds(members.codes, n_splits)
        if stratified is not None:
            return stratified, fold_training_models(fitted, table, members, stratified, n_splits)
    splitter, n = check_cv(cv, y, classifier=True), len(table)
    once = splitter.split(X, y, groups)
    splits = list(once) if not _is_repeatable(splitter) else []
    partition = folds_of(splits or once, n)
    if partition is not None:
        return partition[0], fold_training_models(fitted, table, members, *partition)
    splits = splits or list(splitter.split(X, y, groups))
    tested = np.concatenate([test for _, test in splits])
    if len(tested) != n or not (np.bincount(tested, minlength=n) == 1).all():
        raise ValueError("cross_val_predict only works for partitions")
    folds = np.empty(n, dtype=np.int64)
    for fold, (_, test) in enumerate(splits):
        folds[test] = fold
    return folds, split_training_models(fitted, table, members, splits)


def _is_repeatable(splitter: Any) -> bool:
    """Whether a splitter gives the same splits again."""
    return isinstance(splitter, BaseCrossValidator) and not (
        getattr(splitter, "shuffle", False) and not isinstance(splitter.random_state, Integral)
    )


def cross_validate(
    estimator: BaseEstimator,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    scoring: Any = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: Mapping[str, Any] | None = None,
    pre_dispatch: Any = "2*n_jobs",
    return_train_score: bool = False,
    return_estimator: bool = False,
    return_indices: bool = False,
    error_score: Any = np.nan,
) -> dict[str, Any]:
    """Score a model on each test set after fitting it to the training set.

    Parameters
    ----------
    estimator : estimator
        The model. An estimator of this library is fitted to all folds in one pass; any other is passed to scikit-learn.
    X, y, groups, scoring, cv, params, return_train_score, return_estimator, return_indices, error_score
        As in ``sklearn.model_selection.cross_validate``.
    n_jobs, verbose, pre_dispatch
        As in scikit-learn; only for estimators of other libraries.

    Returns
    -------
    dict
        ``test_score`` (or ``test_<name>`` for several scores), ``fit_time``, ``score_time``, and other results on
        request. The time of the common pass is divided among the fits.

    See Also
    --------
    suffice.model_selection.cross_val_predict : Returns predictions instead of scores.
    suffice.model_selection.leave_one_out : Makes each row a fold.
    suffice.comparison.compare : Scores several models.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from suffice import GaussianDiscriminant
    >>> from suffice.model_selection import cross_validate
    >>> X, y = load_wine(return_X_y=True)
    >>> cross_validate(GaussianDiscriminant(), X, y, scoring="neg_log_loss", cv=3)["test_score"].round(2)
    array([-0.13, -0.07, -0.04])
    """
    options: dict[str, Any] = {
        "return_train_score": return_train_score,
        "return_estimator": return_estimator,
        "return_indices": return_indices,
        "error_score": error_score,
    }
    if cv is not None and not isinstance(cv, Integral) and not hasattr(cv, "split"):
        cv = list(cv)  # an iterator gives its splits only once
    if _in_one_pass(estimator, y, params):
        try:
            return _validated(estimator, X, y, groups, scoring, cv, params, options)
        except _FitFailedError:
            pass  # scikit-learn reports which fits failed, and scores the others
    options |= {"n_jobs": n_jobs, "verbose": verbose, "params": params, "pre_dispatch": pre_dispatch}
    found: dict[str, Any] = their_cross_validate(estimator, X, y, groups=groups, scoring=scoring, cv=cv, **options)
    return found


class _FitFailedError(Exception):
    """A training set could not be fitted, or a test set not scored."""


def _validated(
    estimator: BaseEstimator, X: Any, y: Any, groups: Any, scoring: Any, cv: Any, params: Any, options: dict[str, Any]
) -> dict[str, Any]:
    X, y, groups = _indexable(X, y, groups)
    splits = list(check_cv(cv, y, classifier=True).split(X, y, groups))
    scorer = scoring if callable(scoring) else check_scoring(estimator, scoring=scoring)
    began = time.perf_counter()
    try:
        prepared = prepare(estimator.specification(), LabelledRows(X, y, (params or {}).get("sample_weight")))
        template, n_columns = prepared.fitted, prepared.fitted.layout.n_columns
        models = list(split_training_models(template, prepared.table, prepared.members, splits))
        shared = (time.perf_counter() - began) / len(splits)
        rows: list[dict[str, Any]] = []
        for (train, test), model in zip(splits, models, strict=True):
            began = time.perf_counter()
            template.specification.check_fit(len(train), model.classes, n_columns)
            fitted = clone(estimator).with_fitted(template.with_model(model))
            fitted.fitted_.solution  # noqa: B018  (computed within the time of the fit)
            fit_time, began = shared + time.perf_counter() - began, time.perf_counter()
            scores = _named(scorer(fitted, _safe_indexing(X, test), _safe_indexing(y, test)), "test")
            each = {"fit_time": fit_time, "score_time": time.perf_counter() - began}
            if options["return_estimator"]:
                each["estimator"] = fitted
            each |= scores
            if options["return_train_score"]:
                each |= _named(scorer(fitted, _safe_indexing(X, train), _safe_indexing(y, train)), "train")
            rows.append(each)
    except Exception as error:
        if options["error_score"] == "raise":
            raise
        raise _FitFailedError from error
    out: dict[str, Any] = {}
    for name in rows[0]:
        values = [each[name] for each in rows]
        out[name] = values if name == "estimator" else np.array(values)
    if options["return_indices"]:
        out["indices"] = {"train": [train for train, _ in splits], "test": [test for _, test in splits]}
    return out


def _named(scores: Any, side: str) -> dict[str, Any]:
    if isinstance(scores, dict):
        return {f"{side}_{name}": score for name, score in scores.items()}
    return {f"{side}_score": scores}


def _in_one_pass(estimator: BaseEstimator, y: Any, params: Mapping[str, Any] | None) -> bool:
    """Whether the fits of the estimator depend on statistics alone, and nothing else is requested."""
    return (
        y is not None
        and isinstance(estimator, GenerativeClassifier)
        and is_additive(estimator)
        and set(params or {}) <= {"sample_weight"}
        and not get_config()["enable_metadata_routing"]
    )
