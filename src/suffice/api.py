"""`fit`, `load` and `merge`: the functions of the package."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, nullcontext
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

import numpy as np
from sklearn.base import clone

from suffice import averaged_dependence, discriminant_analysis, ensemble, naive_bayes
from suffice.engines.training_rows import Pushdown, check_pushdown, labelled_table, rows_of_table, training_rows
from suffice.estimators import ESTIMATORS, GenerativeClassifier
from suffice.exceptions import InputError, MergeError, did_you_mean, listed, without_password
from suffice.learning import fitting, updating
from suffice.learning.fitted import Fitted
from suffice.learning.kept_rows import MOST_ROWS
from suffice.learning.labels import MAIL_LABEL
from suffice.learning.report import FitReport, Scores
from suffice.learning.training_rows import LabelledSource, TrainingRows, check_paths
from suffice.model_file import model_of_bytes, read_model
from suffice.sources.documents import are_texts
from suffice.sources.engine_tables import EngineTable, PartitionedTable, check_names, engine_table
from suffice.sources.files import Source, open_source

if TYPE_CHECKING:
    from suffice.averaged_dependence import AveragedDependence
    from suffice.discriminant_analysis import GaussianDiscriminant
    from suffice.ensemble import GenerativeEnsemble
    from suffice.naive_bayes import NaiveBayes, TextNaiveBayes

__all__ = ["MODELS", "FitReport", "Scores", "fit", "load", "loads", "merge", "model_named"]

for _package in (naive_bayes, discriminant_analysis, averaged_dependence, ensemble):
    ESTIMATORS.update((name, getattr(_package, name)) for name in _package.__all__)

E = TypeVar("E", bound=GenerativeClassifier)

MODELS = {
    "ensemble": "GenerativeEnsemble",
    "naive-bayes": "NaiveBayes",
    "discriminant": "GaussianDiscriminant",
    "averaged-dependence": "AveragedDependence",
    "text": "TextNaiveBayes",
}
"""Short names of the library's own classifiers, for the shell."""
SYNONYMS = {"X": "data", "y": "target", "sample_weight": "weights"}  # of estimators
QUERY_OPTIONS = ("types", "bad_rows", "nulls", "nulls_only", "batch_rows")


# ---------------------------------------------------------------------- fit


@overload
def fit(data: Any = ..., target: str = ..., *, model: E | type[E], **options: Any) -> E: ...
@overload
def fit(
    data: Any = ..., target: str = ..., *, model: Literal["ensemble"] | None = None, **options: Any
) -> GenerativeEnsemble: ...
@overload
def fit(data: Any = ..., target: str = ..., *, model: Literal["naive-bayes"], **options: Any) -> NaiveBayes: ...
@overload
def fit(
    data: Any = ..., target: str = ..., *, model: Literal["discriminant"], **options: Any
) -> GaussianDiscriminant: ...
@overload
def fit(
    data: Any = ..., target: str = ..., *, model: Literal["averaged-dependence"], **options: Any
) -> AveragedDependence: ...
@overload
def fit(data: Any = ..., target: str = ..., *, model: Literal["text"], **options: Any) -> TextNaiveBayes: ...
@overload
def fit(
    data: Any = ...,
    target: Any = ...,
    *,
    model: GenerativeClassifier | type[GenerativeClassifier] | str | None = None,
    **options: Any,
) -> GenerativeClassifier: ...
def fit(
    data: Any = None,
    target: Any = None,
    *,
    query: str | None = None,
    connection: Any = None,
    model: GenerativeClassifier | type[GenerativeClassifier] | str | None = None,
    weights: Any = None,
    columns: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    validate: int | bool = True,
    progress: Callable[[Source], None] | None = None,
    pushdown: Pushdown = "auto",
    **reading: Any,
) -> GenerativeClassifier:
    """Fit a model to files, a database or a cluster, in one pass and bounded memory, or to rows in memory.

    Parameters
    ----------
    data : str, path, list of them, table of an engine, or object with ``__arrow_c_stream__``
        The rows: files, a stream or a frame, as `suffice.sources.files.open_source` accepts them, or a table of DuckDB,
        Polars, Ibis, Spark, Dask or Ray. If ``target`` holds the labels: an array, a frame or a list of texts.
    target : str or array-like of shape (n,), optional
        The name of the column with the class labels, or the labels of rows in memory. Default: ``"label"`` for mails;
        for a fitted ``model``, the target of the source it learned from last.
    query : str, optional
        A SELECT, whose rows are read instead of ``data``.
    connection : str or connection, optional
        The database of the query: a URI or an open connection, as `suffice.sources.open_query` accepts them.
    model : estimator, class or name, default="ensemble", and "text" for mails and texts
        An estimator with its parameters, a class, or a name. The estimator is not changed: if it is fitted, a copy of
        it continues to learn. The names are "ensemble", "naive-bayes", "discriminant", "averaged-dependence" and
        "text". "text" is `TextNaiveBayes.tuned()`, which chooses its settings by the documents; the other names are
        classes with their default parameters.
    weights : str or array-like of shape (n,), optional
        The name of the column with the row weights, or the weights of rows in memory. Every row weighs 1 by default.
    columns, ignore : sequence of str, optional
        The columns to learn from, or the columns to ignore. By default all columns but the target and the weights are
        used.
    validate : bool or int, default=True
        Whether to score the model on held-out rows, in the same pass. A number is the size of the uniform sample of
        rows to score; True means 100,000. An ensemble scores at most 8,192 of them. A model that continues to learn is
        scored on the rows of this source.
    progress : callable, optional
        Function that is called with the source after each batch.
    pushdown : bool or "auto", default="auto"
        For a table of a query engine: whether the engine computes aggregates, from which the model is built. By
        default it does if its rows are elsewhere and the model allows it; an engine in this process streams its rows,
        which is faster. ``report_.how`` says which way was taken.
    **reading
        Options for reading files, explained in `suffice.sources.files.open_source`: format, types, bad_rows, delimiter,
        header, names, quote, comment, encoding, nulls, nulls_only, decimal, thousands, date_format, batch_rows.

    Returns
    -------
    estimator
        The fitted model. Its ``report_``, a `FitReport`, has the number of rows and the held-out scores.

    See Also
    --------
    suffice.GenerativeEnsemble : The default model.
    suffice.sources.open_source : Opens the files, and explains the options for reading them.
    suffice.sources.open_query : Opens a query on a database.
    suffice.load : Loads a saved model.
    suffice.merge : Combines models that were fitted to different rows.

    Examples
    --------
    >>> import pyarrow as pa
    >>> rows = pa.table({"size": [1.0, 2.0, 1.5, 8.0, 9.0, 7.0], "kind": ["a", "a", "a", "b", "b", "b"]})
    >>> model = fit(rows, "kind")
    >>> model.predict(pa.table({"size": [3.0]}))
    array(['a'], dtype='<U1')
    >>> model.report_.n_rows, model.report_.scores.accuracy, model.report_.scores.rule
    (6, 1.0, 'leave-one-out')
    >>> texts = ["win a free prize", "free cash now", "lunch at noon", "see you at lunch"]
    >>> fit(texts, ["spam", "spam", "ham", "ham"]).predict(["a free lunch prize"])
    array(['spam'], dtype='<U4')
    """
    _check_rows_given(data, query, connection, target)
    _check_arguments(reading)
    check_pushdown(pushdown)
    if pushdown is True and engine_table(data) is None:
        raise InputError(
            "pushdown=True needs a table of an engine that computes the aggregates: DuckDB, Polars, Ibis or Spark.",
            argument="pushdown",
        )
    estimator = None if model is None else _estimator(model)
    if isinstance(target, Iterable) and not isinstance(target, str):
        if isinstance(data, Mapping | str):
            raise InputError(
                "Labels are given as an array, so the rows must be an array, a data frame or a list of texts; got "
                f"{without_password(repr(data)):.80}.",
                argument="data",
            )
        only_of_sources = {"columns": columns is not None, "ignore": bool(ignore), "progress": progress is not None}
        _check_rows_in_memory([*reading, *(name for name, given in only_of_sources.items() if given)])
        if estimator is None:
            texts = engine_table(data) is None and are_texts(data)
            estimator = _estimator("text" if texts else "ensemble")
        return _learned(estimator, training_rows(data, target, weights), validate)
    if target is None and estimator is not None and estimator.__sklearn_is_fitted__():
        target = estimator.fitted_.target
    if target is None and isinstance(data, np.ndarray):
        raise InputError("Give the labels of the rows as the second argument: suffice.fit(X, y).", argument="target")
    check_paths(data, target)
    table = engine_table(data)
    if table is not None and (isinstance(table, PartitionedTable) or pushdown is True or not reading):
        rows = _rows_of_table(table, target, weights, columns, ignore, reading, pushdown, progress)
        return _learned(_estimator("ensemble") if estimator is None else estimator, rows, validate)
    source = _opened(data, target, weights, columns, ignore, reading, query, connection)
    with nullcontext() if source is data else closing(source):
        if estimator is None:
            estimator = _estimator("text" if source.documents else "ensemble")
        if target is None and source.documents and MAIL_LABEL in source.names:
            target = MAIL_LABEL
        if target is None:
            raise InputError("Name the column of class labels.", argument="target")
        return _learned(estimator, LabelledSource(source, target, weights, progress=progress), validate)


def _learned(estimator: GenerativeClassifier, rows: TrainingRows, validate: Any) -> GenerativeClassifier:
    """The estimator after these rows, as another object."""
    from suffice.monitoring.profiling import held_out_profile  # which loading a model does not need

    n_scored, specification = _rows_to_score(validate), estimator.specification(validate=True)
    if not estimator.__sklearn_is_fitted__():
        fresh: GenerativeClassifier = clone(estimator)
        return fresh.with_fitted(fitting.fit(specification, rows, n_scored=n_scored, profiled=held_out_profile))
    updated = fitting.update(estimator.fitted_, specification, rows, n_scored=n_scored, profiled=held_out_profile)
    return estimator.with_fitted(updated)


def _check_arguments(reading: Mapping[str, object]) -> None:
    """Raise `TypeError` for an argument that neither `fit` nor `open_source` has."""
    known = inspect.signature(open_source).parameters
    for name in reading:
        if name not in known:
            every = [each for each in (*inspect.signature(fit).parameters, *known) if each != "reading"]
            hint = f" Did you mean {SYNONYMS[name]!r}?" if name in SYNONYMS else did_you_mean(name, every)
            raise TypeError(f"fit() got an unexpected argument {name!r}.{hint}")


def _check_rows_given(data: Any, query: object, connection: object, target: object) -> None:
    """Raise `InputError` unless there are rows, or a query and its connection."""
    if query is None and connection is None:
        if data is None:
            raise InputError("Give the rows, or a query and its connection.", argument="data")
        return
    if data is not None:
        raise InputError("Give either rows or a query, not both.", argument="query")
    if query is None or connection is None:
        lacks = "query" if query is None else "connection"
        raise InputError(
            f"A query needs a connection, and a connection a query; the {lacks} is missing.", argument=lacks
        )
    if target is not None and not isinstance(target, str):
        raise InputError("The target of a query is the name of one of its columns.", argument="target")


def _check_rows_in_memory(options: list[str]) -> None:
    """Raise `InputError` for options that apply to files and streams."""
    if options:
        raise InputError(
            f"{listed(options)} cannot be given with an array of labels: rows in memory are used as they are. Name the "
            "column of labels to read a file or a stream.",
            argument=options[0],
        )


def _rows_of_table(
    table: EngineTable,
    target: str | None,
    weights: Any,
    columns: Sequence[str] | None,
    ignore: Sequence[str],
    reading: dict[str, Any],
    pushdown: Pushdown,
    progress: Callable[[Source], None] | None,
) -> TrainingRows:
    if reading:
        raise InputError(
            f"{listed(list(reading))} cannot be given for {table.described}, whose columns have types. Convert the "
            f"columns with {table.engine}.",
            argument=next(iter(reading)),
        )
    if target is None:
        raise InputError("Name the column of class labels.", argument="target")
    chosen = [name for name in (table.names if columns is None else columns) if name not in ignore]
    check_names([*chosen, *ignore], table.names, table.described)
    table, target, weights = labelled_table(table, target, weights)
    own = [name for name in (target, weights) if name is not None]
    check_names(own, table.names, table.described)
    return rows_of_table(
        table.select(list(dict.fromkeys([*chosen, *own]))), target, weights, pushdown=pushdown, progress=progress
    )


def _opened(
    data: Any,
    target: str | None,
    weights: str | None,
    columns: Sequence[str] | None,
    ignore: Sequence[str],
    reading: dict[str, Any],
    query: str | None = None,
    connection: Any = None,
) -> Source:
    if isinstance(data, Source):
        given = [*(["columns"] if columns is not None else []), *(["ignore"] if ignore else []), *reading]
        if given:
            raise InputError(f"The source is open already; give {listed(given)} when you open it.", argument=given[0])
        return data
    own = [name for name in (target, weights) if isinstance(name, str)]
    if columns is not None:
        columns = [*columns, *(name for name in own if name not in columns)]
    lost = [name for name in own if name in ignore]
    if lost:
        raise InputError(f"Column {listed(lost)} cannot be ignored: it is the target or the weights.", column=lost[0])
    if query is None:
        return open_source(data, columns=columns, ignore=ignore, **reading)
    of_files = [name for name in reading if name not in QUERY_OPTIONS]
    if of_files:
        raise InputError(f"{listed(of_files)} cannot be given with a query.", argument=of_files[0])
    from suffice.sources.databases import open_query

    return open_query(query, connection, columns=columns, ignore=ignore, **reading)


def _estimator(model: Any) -> GenerativeClassifier:
    """The estimator that a user means by an object, a class or a name."""
    if isinstance(model, str):
        return model_named(model)
    if isinstance(model, type):
        model = model()
    if not isinstance(model, GenerativeClassifier):
        raise InputError(
            f"model must be an estimator of this library, its class, or a name; got {model!r}.", argument="model"
        )
    return model


def model_named(name: str, **parameters: Any) -> GenerativeClassifier:
    """Make the estimator with a short name, such as "naive-bayes", with some parameters.

    Parameters
    ----------
    name : {"ensemble", "naive-bayes", "discriminant", "averaged-dependence", "text"}
        The short name, a key of `MODELS`.
    **parameters
        Parameters of the constructor.

    Returns
    -------
    estimator
        An estimator that is not fitted yet. "text" is `TextNaiveBayes.tuned()`.

    See Also
    --------
    suffice.fit : Fits a model that is given by name.

    Examples
    --------
    >>> model_named("discriminant", covariance="own")
    GaussianDiscriminant(covariance='own')
    >>> model_named("text", event="bernoulli").get_params()["calibrate"]
    True
    """
    if name not in MODELS:
        hint = did_you_mean(name, MODELS)
        raise InputError(
            f"There is no model {name!r:.80}.{hint} The models are {listed(list(MODELS))}.", argument="model"
        )
    if name == "text":
        return naive_bayes.TextNaiveBayes.tuned(**parameters)
    estimator: GenerativeClassifier = ESTIMATORS[MODELS[name]](**parameters)
    return estimator


def _rows_to_score(validate: Any) -> int:
    if isinstance(validate, bool | np.bool_):
        return MOST_ROWS if validate else 0
    if not isinstance(validate, int | np.integer) or validate < 0:
        raise InputError(
            f"validate is True, False, or the number of rows to score the model on; got {validate!r}.",
            argument="validate",
        )
    return int(validate)


# ---------------------------------------------------------------------- load


def load(path: str | os.PathLike[str]) -> GenerativeClassifier:
    """Load a model from a file that its ``save`` has written.

    The loaded model gives the same predictions and can continue to learn, because the file holds the statistics of all
    rows seen. Loading runs no code from the file, and a file in which even one byte has changed raises an error.

    Parameters
    ----------
    path : str or path-like
        The model file. It must be a regular file, not a pipe or a device.

    Returns
    -------
    estimator
        The model, of the class that was saved, with its parameters.

    Raises
    ------
    ModelFileError
        If the file is not a model that Suffice has saved, is damaged, or was written by a newer Suffice.
    ModelFileMissingError
        If the file does not exist; it is also a ``FileNotFoundError``.

    See Also
    --------
    suffice.fit : Fits a model, or continues a loaded one.
    suffice.ModelFileError : The error for a file that is not a model.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import suffice
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "sizes.suffice"
    >>> suffice.NaiveBayes().fit([[1.0], [2.0], [8.0], [9.0]], ["small", "small", "large", "large"]).save(path)
    >>> model = suffice.load(path)
    >>> model.predict([[7.0]])
    array(['large'], dtype='<U5')
    >>> model.partial_fit([[100.0], [110.0]], ["huge", "huge"]).classes_.tolist()
    ['huge', 'large', 'small']
    >>> folder.cleanup()
    """
    return _of_class(read_model(path))


def loads(content: bytes | bytearray | memoryview) -> GenerativeClassifier:
    """Load a model from the bytes that its ``to_bytes`` has returned, or from the content of a model file.

    Parameters
    ----------
    content : bytes, bytearray or memoryview
        The bytes. Loading runs no code from them.

    Returns
    -------
    estimator
        The model, of the class that was saved, with its parameters.

    Raises
    ------
    ModelFileError
        If the bytes are not a model that Suffice has saved, are damaged, or were written by a newer Suffice.

    See Also
    --------
    suffice.load : Loads a model from a file.
    suffice.merge : Merges models, for example those of several machines.

    Examples
    --------
    >>> import suffice
    >>> model = suffice.NaiveBayes().fit([[1.0], [2.0], [8.0], [9.0]], ["small", "small", "large", "large"])
    >>> suffice.loads(model.to_bytes()).predict([[7.0]])
    array(['large'], dtype='<U5')
    """
    if not isinstance(content, bytes | bytearray | memoryview):
        raise InputError(
            f"loads takes the bytes of a model; got {type(content).__name__}. Read a file with suffice.load(path).",
            argument="content",
        )
    return _of_class(model_of_bytes(content))


def _of_class(fitted: Fitted) -> GenerativeClassifier:
    """The estimator that a file names, with what it has learned."""
    return ESTIMATORS[fitted.specification.estimator].from_fitted(fitted)


# ---------------------------------------------------------------------- merge


def merge(models: Iterable[E]) -> E:
    """Merge models of different rows into the model of all these rows.

    Parameters
    ----------
    models : iterable of estimators
        Estimators of one class, fitted to the same columns; named columns may be in any order, and classes and levels
        may differ. A model that is not fitted adds nothing. The models are not changed.

    Returns
    -------
    estimator
        A new estimator with the parameters of the first model. Models are merged in pairs, the pairs in pairs, and so
        on, so rounding errors grow only with the logarithm of their number. A generator is read once: while a thousand
        models are merged, ten partial results are in memory.

    Raises
    ------
    MergeError
        If the models cannot be merged, for example because they have different columns.

    See Also
    --------
    suffice.fit : Fits one model to many files.
    suffice.MergeError : The error if models cannot be merged.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import suffice
    >>> X, y = load_iris(return_X_y=True)
    >>> whole = suffice.merge(suffice.NaiveBayes().fit(X[i::10], y[i::10]) for i in range(10))
    >>> bool(abs(whole.means_ - suffice.NaiveBayes().fit(X, y).means_).max() < 1e-14)
    True
    """
    if isinstance(models, GenerativeClassifier) or not isinstance(models, Iterable):
        raise MergeError(f"merge takes several estimators in a list or another iterable; got {models!r:.80}.")
    merged, first = updating.MergedModels(), None
    for position, model in enumerate(models):
        if not isinstance(model, GenerativeClassifier):
            raise MergeError(f"merge takes estimators of this library; at position {position} is {model!r:.80}.")
        if first is None:
            first = model
        elif type(model) is not type(first):
            raise MergeError(
                f"merge takes estimators of one class: position 0 is a {type(first).__name__}, position {position} is "
                f"a {type(model).__name__}."
            )
        if model.__sklearn_is_fitted__():
            merged.add(model.fitted_)
    if first is None:
        raise MergeError("There is no model to merge: the iterable is empty.")
    total = merged.total()
    if first.__sklearn_is_fitted__():
        assert total is not None
        return first.with_fitted(total.with_specification(first.specification()))
    unfitted: E = clone(first)
    return unfitted if total is None else unfitted.with_fitted(updating.merge(None, first.specification(), total))
