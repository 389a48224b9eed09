"""`fit`: a model of rows in files, or of anything else that is streamed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from suffice.estimator import GenerativeClassifier
from suffice.naive_bayes import NaiveBayes
from suffice.sources.files import open_source

__all__ = ["FitReport", "Scores", "fit"]


@dataclass(frozen=True)
class Scores:
    """How good a model is on rows that it has not seen, each judged by the model of all other rows.

    Attributes
    ----------
    accuracy, log_loss, calibration_error : float
        Share of right answers; mean −log p(label | x); expected calibration error of the likeliest class, in 15 bins of
        equal width.
    accuracy_error, log_loss_error : float
        Their standard errors.
    n_rows : int
        How many rows were judged: all, or those of a uniform sample.
    of_rows : int
        How many there are.
    rule : str
        "leave-one-out" or "10 folds".
    """

    accuracy: float
    log_loss: float
    calibration_error: float
    accuracy_error: float
    log_loss_error: float
    n_rows: int
    of_rows: int
    rule: str


@dataclass(frozen=True)
class FitReport:
    """What a fit of a source has read, and how good the model is.

    Attributes
    ----------
    source : str
        What was read, in words.
    files : list of str
    n_rows, skipped : int
        Rows that were learned, and rows that were left out because they are bad.
    faults : list of str
        A sentence for each of the first of those.
    types : dict of str to str
        What each column was read as.
    seconds : float
    scores : Scores or None
        None where they were not asked for, or there are none (``why_no_scores`` says why).
    """

    source: str
    files: list[str]
    n_rows: int
    skipped: int
    faults: list[str]
    types: dict[str, str]
    seconds: float
    scores: Scores | None = None
    why_no_scores: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


def fit(
    data: Any,
    target: str,
    *,
    model: GenerativeClassifier | None = None,
    weights: str | None = None,
    columns: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    validate: int | bool = True,
    progress: Callable[[Any], None] | None = None,
    **reading: Any,
) -> Any:
    """A model of the rows of files, fitted in one pass and bounded memory.

    Parameters
    ----------
    data : str, path, list of them, or object with ``__arrow_c_stream__``
        As `suffice.sources.files.open_source` takes it.
    target : str
        The column of class labels.
    model : estimator, default=NaiveBayes()
        With the settings to use. One that is fitted goes on learning, in a copy.
    weights : str, optional
        The column of row weights.
    columns, ignore : sequence of str, optional
        The columns to learn from, or those not to.
    validate : bool or int, default=True
        Whether the model is judged by rows that are left out, in the same pass: a uniform sample of at most so many
        (True: 100,000) is kept for it.
    progress : callable, optional
        Called with the source after each batch.
    **reading
        How files are read: format, types, bad_rows, delimiter, header, names, quote, encoding, nulls, batch_rows.

    Returns
    -------
    estimator
        Fitted, with ``report_``, a `FitReport`.
    """
    source = open_source(data, columns=columns, ignore=ignore, **reading)
    made: Any = NaiveBayes() if model is None else model
    features = [name for name in source.names if name not in (target, weights)]
    for batch in source.batches():
        made = made.partial_fit(batch.rows.select(features), batch.rows[target].to_numpy())
        if progress is not None:
            progress(source)
    made.report_ = FitReport(source.name, source.files, source.n_rows, 0, [], source.types, 0.0)
    return made
