"""`FitReport`: what a fit has read from a source, and the held-out scores of the model."""

from __future__ import annotations

from dataclasses import dataclass, field

from suffice.exceptions import SufficeError, SufficeWarning
from suffice.tables.column_blocks import ColumnBlocks
from suffice.tables.family_scores import FamilyScores

__all__ = ["FitReport", "Scores"]


@dataclass(frozen=True)
class Scores:
    """Scores of a model on held-out rows: each row is scored by the model of other rows.

    Parameters that are "auto", and a calibration, were chosen on the same held-out rows. This makes the scores slightly
    too good if there are only a few dozen rows.

    Attributes
    ----------
    accuracy, log_loss, calibration_error : float
        Share of correct labels; mean of −log p(label | x), with probabilities of at least 2.2e-16; and expected
        calibration error of the most probable class, in 15 bins of equal width. Rows count by their weights. The only
        row of a class cannot be predicted correctly.
    accuracy_error, log_loss_error : float
        Standard errors of accuracy and log-loss.
    n_rows : int
        Number of scored rows: all rows, or a uniform sample. Rows of weight zero are not scored.
    of_rows : int
        Number of rows in the model.
    rule : str
        How rows were held out: "leave-one-out", "10 folds", or "held-out rows" if the model has many other rows.
    majority : float
        Share of the most frequent class: the accuracy of a model that always predicts it.
    baseline_log_loss : float
        Entropy of the class shares: the log-loss of a model that always predicts these shares.
    balanced_accuracy : float
        Mean over the classes of the share of correct labels.
    auc : float
        Area under the ROC curve; with more than two classes, the mean of each class against the rest. If there are more
        than four million probabilities, those of evenly spaced rows are used.

    See Also
    --------
    suffice.fit : Computes the scores; the argument ``validate`` sets the number of rows.
    suffice.model_selection.cross_validate : Computes scores of any estimator.

    Examples
    --------
    >>> import suffice
    >>> from sklearn.datasets import load_iris
    >>> scores = suffice.fit(*load_iris(return_X_y=True), model="naive-bayes").report_.scores
    >>> round(scores.accuracy, 3), round(scores.log_loss, 3), round(scores.baseline_log_loss, 3), scores.rule
    (0.953, 0.132, 1.099, 'leave-one-out')
    """

    accuracy: float
    log_loss: float
    calibration_error: float
    accuracy_error: float
    log_loss_error: float
    n_rows: int
    of_rows: int
    rule: str
    majority: float
    baseline_log_loss: float
    balanced_accuracy: float
    auc: float


@dataclass(frozen=True)
class FitReport:
    """Report of a fit: what was read from the source, and the held-out scores of the model.

    Attributes
    ----------
    source : str
        Description of the source.
    files : list of str
        Paths of the files.
    n_rows, skipped : int
        Number of rows learned, and of bad rows skipped.
    faults : list of str
        One sentence for each of the first problems with skipped rows.
    types : dict of str to str
        The type that each column was read as.
    seconds : float
        Duration of the fit.
    scores : Scores or None
        Held-out scores; None if they were not requested, or could not be computed.
    why_no_scores : str
        The reason if there are no scores.
    problems : tuple of SufficeError
        The errors behind ``faults``, with their facts.
    notes : tuple of SufficeWarning
        Notes on how columns were read, and on likely mistakes in the data: constant columns, identifiers, codes for
        missing values such as −999, duplicate columns, a column that alone predicts the target, and rare classes. They
        are not issued as warnings. ``str`` returns the sentence, and ``column`` is the first column.
    family_scores : FamilyScores or None
        The log-loss of the families that were tried for columns whose family is "best".
    blocks : ColumnBlocks or None
        The blocks of dependent columns that were found with ``blocks="auto"``.
    how : str
        For a table of a query engine or a cluster, how it was learned: its rows were streamed into this process, the
        engine computed aggregates, or models of its partitions were merged. Empty otherwise.

    See Also
    --------
    suffice.fit : Fits a model, which has the report as ``report_``.
    suffice.api.Scores : The held-out scores.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import suffice
    >>> rows = pa.table({"size": [1.0, 2.0, 1.5, 8.0, 9.0, -999.0], "kind": ["a", "a", "a", "b", "b", "b"]})
    >>> report = suffice.fit(rows, "kind", model="naive-bayes").report_
    >>> report.n_rows, report.skipped, report.types
    (6, 0, {'size': 'number', 'kind': 'text'})
    >>> round(report.scores.accuracy, 2), report.scores.rule
    (0.67, 'leave-one-out')
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
    problems: tuple[SufficeError, ...] = field(default=(), repr=False, compare=False)
    notes: tuple[SufficeWarning, ...] = field(default=(), compare=False)
    family_scores: FamilyScores | None = field(default=None, compare=False)
    blocks: ColumnBlocks | None = field(default=None, compare=False)
    how: str = ""
